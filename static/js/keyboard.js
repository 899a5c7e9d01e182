// The keys of a page, from one table: what is pressed is found in it, and the sheet of keys is made from it.
import { afterwards } from "./choosing.js";
import { each } from "./connected.js";

const NAMES = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", " ": "Space" };

// Behaviours for a table of `{ keys, does, run, after }`; `handles` says whether a key pressed somewhere is the page's.
export function keyboard(table, handles) {
  let before = "";

  function start() {
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector("dialog[open], :popover-open") || !handles(event)) return;
      const key = event.shiftKey && /^F\d+$/.test(event.key) ? `Shift+${event.key}` : event.key;
      const chord = `${before} ${key}`;
      const action = table.find((entry) => entry.run && (entry.keys.includes(chord) || entry.keys.includes(key)));
      before = action ? "" : key;
      if (!action) return;
      event.preventDefault();
      if (action.after) afterwards(() => action.run(event.key));
      else action.run(event.key);
    });
  }

  function connect(root) {
    each(root, "dialog#keys", (dialog) => dialog.addEventListener("fill", () => {
      const list = document.createElement("dl");
      for (const entry of table) {
        const line = list.appendChild(document.createElement("div"));
        const keys = line.appendChild(document.createElement("dt"));
        for (const key of entry.keys) keys.appendChild(document.createElement("kbd")).textContent = NAMES[key] ?? key;
        line.appendChild(document.createElement("dd")).textContent = entry.does;
      }
      dialog.querySelector("[data-keys]").replaceChildren(list);
    }));
  }

  return { start, connect };
}

// Whether letters go into what has the focus.
export function typing(target) {
  return Boolean(target.closest?.("input:not([type=range]), textarea, select, [contenteditable], [role=separator]"));
}
