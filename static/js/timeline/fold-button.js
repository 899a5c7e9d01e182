// The button that folds and unfolds what begins with a row, and sums up what is folded.
import { totals, words } from "./totals.js";

// Updates the button of a row. `hidden` has the items folded into the row; `begins` says whether it begins something to fold.
export function say(row, hidden, begins = false) {
  const button = row.querySelector("[data-fold-row]");
  if (!hidden.length && !begins) {
    row.removeAttribute("aria-expanded");
    button?.remove();
    return;
  }
  row.setAttribute("aria-expanded", String(!hidden.length));
  const element = button ?? document.createElement("button");
  const parts = hidden.length ? [...words(totals(hidden)), ...changes(hidden)] : [];
  if (element.textContent !== parts.map(([, text]) => text).join(" · ")) element.replaceChildren(...parts.map(span));
  Object.assign(element, { type: "button", className: "fold-row", title: hidden.length ? "Show these events (→)" : "Fold these events (←)" });
  element.setAttribute("aria-label", hidden.length ? name(parts) : "Fold these events");
  element.dataset.foldRow = "";
  element.tabIndex = -1;
  if (!button) row.querySelector(".flags").prepend(element);
}

// The state keys that a cluster changed: `Δ bill, tip`. Empty for an agent's rows, which would name too many.
function changes(hidden) {
  const keys = hidden.every((item) => item.matches(".aside")) ? hidden.map((item) => item.dataset.changes).filter(Boolean) : [];
  return keys.length ? [["changes", `Δ ${[...new Set(keys)].join(", ")}`]] : [];
}

function span([part, text], place) {
  const element = document.createElement("span");
  element.className = part;
  element.textContent = place ? ` · ${text}` : text;
  return element;
}

// `Show 12 more events, 3.4 s, 1 failed`
function name([[, events], ...figures]) {
  const count = events.slice(1);
  return [`Show ${count} more event${count === "1" ? "" : "s"}`, ...figures.map(([, text]) => text.replace("Δ", "changes"))].join(", ");
}
