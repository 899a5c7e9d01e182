// The keys of the table at work, and the sheet that shows them.
import { each } from "./connected.js";
import { KEYS } from "./keytable.js";

const NAMES = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };
let before = "";

export function start() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !handles(event)) return;
    const key = event.shiftKey && /^F\d+$/.test(event.key) ? `Shift+${event.key}` : event.key;
    const chord = `${before} ${key}`;
    const action = KEYS.find((entry) => entry.run && (entry.keys.includes(chord) || entry.keys.includes(key)));
    before = key;
    if (!action) return;
    event.preventDefault();
    before = "";
    action.run(event.key);
  });
}

// Letters belong to the field that is being typed in, arrows to the pane that is being read, and Escape to the
// title while it is being changed.
function handles(event) {
  const { target, key } = event;
  if (document.querySelector("dialog[open], :popover-open")) return false;
  if (key === "Escape") return !target.closest?.("[data-title]");
  if (target.closest?.("input:not([type=range]), textarea, select, [contenteditable], [role=separator]")) return false;
  return !key.startsWith("Arrow") || target === document.body || Boolean(target.closest?.("#rows"));
}

export function connect(root) {
  each(root, "dialog#keys", (dialog) => dialog.addEventListener("fill", () => {
    const list = document.createElement("dl");
    for (const entry of KEYS) {
      const line = list.appendChild(document.createElement("div"));
      const keys = line.appendChild(document.createElement("dt"));
      for (const key of entry.keys) keys.appendChild(document.createElement("kbd")).textContent = NAMES[key] ?? key;
      line.appendChild(document.createElement("dd")).textContent = entry.does;
    }
    dialog.querySelector("[data-keys]").replaceChildren(list);
  }));
}
