// The button of a row that folds and unfolds what begins with it, which says what is folded.
import { totals, words } from "./totals.js";

// What the first row of a fold says of it.
export function say(row, hidden, begins = false) {
  const button = row.querySelector("[data-fold-row]");
  if (!hidden.length && !begins) {
    row.removeAttribute("aria-expanded");
    button?.remove();
    return;
  }
  row.setAttribute("aria-expanded", String(!hidden.length));
  const element = button ?? document.createElement("button");
  const parts = hidden.length ? words(totals(hidden)) : [];
  if (element.textContent !== parts.map(([, text]) => text).join(" · ")) element.replaceChildren(...parts.map(span));
  Object.assign(element, { type: "button", className: "fold-row", title: hidden.length ? "Show these events (→)" : "Fold these events (←)" });
  element.setAttribute("aria-label", hidden.length ? name(parts) : "Fold these events");
  element.dataset.foldRow = "";
  element.tabIndex = -1;
  if (!button) row.querySelector(".flags").prepend(element);
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
  return [`Show ${count} more event${count === "1" ? "" : "s"}`, ...figures.map(([, text]) => text)].join(", ");
}
