// The commands of a page, from one table of sections: runs a command when its key is pressed, fills the dialog of shortcuts,
// and lists the commands for the palette.
//
// A command is `{ keys, does, run }`; `keys` may be empty. `press` selects an element to click instead of `run`. `each`
// describes what each of several keys does, if they differ. `when` says whether the command applies now; a command with
// `press` applies if its element can be used. `offers` selects buttons, each a command by the text on it. Commands marked `after` wait for a selection that is still loading. `on` selects
// what a page must contain to have the command at all; otherwise, neither its key nor its line in the help exists.
import { connectOnce } from "./behaviors.js";

const NAMES = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", " ": "Space" };
const MAC = /^Mac/.test(navigator.platform);
let page = { sections: {}, afterwards: (act) => act() };

// Returns the behavior for a page's sections. `handles` says whether the page takes a key event; `afterwards` may delay
// commands marked `after`.
export function keyboard(table, handles, afterwards = (act) => act()) {
  const sections = Object.fromEntries(Object.entries(table).map(([name, entries]) => [name, entries.filter(isHere)]));
  page = { sections, afterwards };
  const entries = Object.values(sections).flat();
  let before = "";

  function start() {
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.altKey) return;
      const key = pressed(event);
      if (!key || document.querySelector("dialog[open], :popover-open")) return;
      if (!key.startsWith("Ctrl+") && !handles(event)) return;
      const bound = (keys) => entries.find((entry) => (entry.run ?? entry.press) && entry.keys.includes(keys));
      const command = bound(`${before} ${key}`) ?? bound(key);
      before = command ? "" : key;
      if (!command) return;
      event.preventDefault();
      perform(command, event.key);
    });
  }

  function connect(root) {
    connectOnce(root, "dialog#keys", (dialog) => {
      const search = dialog.querySelector("[data-keys-search]");
      dialog.addEventListener("fill", () => {
        const lists = Object.entries(sections).map(([name, entries]) => section(name, entries));
        dialog.querySelector("[data-keys]").replaceChildren(...lists);
        search.value = "";
        narrow(dialog, "");
      });
      search.addEventListener("input", () => narrow(dialog, search.value.trim().toLowerCase()));
    });
  }

  return { start, connect };
}

function isHere({ on }) {
  return !on || Boolean(document.querySelector(on));
}

// Whether the target takes letters as text. A field of a dialog that has just closed keeps the focus until the next frame.
export function typing(target) {
  const field = target.closest?.("input:not([type=range]), textarea, select, [contenteditable], [role=separator]");
  return Boolean(field) && !field.closest("dialog:not([open])");
}

// The commands that the page offers now, in the order of the table: `{ name, keys, run, section }`.
export function commands() {
  const listed = (entry) => applies(entry) || entry.needs;
  return Object.entries(page.sections).flatMap(([section, entries]) => entries.filter(listed).flatMap(separate).map(({ does, keys, synonyms, note, entry }) => ({
    section,
    name: does[0].toUpperCase() + does.slice(1),
    synonyms,
    note,
    keys: keys.map(label),
    run: () => perform(entry, keys[0]),
    ...(applies(entry) ? {} : { isDisabled: true, note: entry.needs }),
  })));
}

function separate(entry) {
  const { does, keys, synonyms, each, offers } = entry;
  if (offers) return usable(offers).map((button) => ({ does: button.textContent.trim(), keys, synonyms, note: heading(button), entry: { run: () => use(button) } }));
  return each?.map((name, place) => ({ does: name, keys: [keys[place]], synonyms: synonyms?.[place], entry })) ?? [{ does, keys, synonyms, entry }];
}

function perform(entry, key) {
  const act = () => (entry.run ? entry.run(key) : usable(entry.press)[0]?.click());
  if (entry.after) page.afterwards(act);
  else act();
}

function applies(entry) {
  if (entry.when) return Boolean(entry.when());
  const selector = entry.press ?? entry.offers;
  return Boolean(selector ? usable(selector).length : entry.run);
}

function usable(selector) {
  return [...document.querySelectorAll(selector)].filter((element) => !element.matches(":disabled, [aria-disabled=true]") && !element.closest("[hidden]"));
}

// What tells the buttons of several paused events apart.
function heading(button) {
  return button.closest(".held")?.querySelector("header b").textContent;
}

// Presses a button, or opens a fold and goes to its first field.
function use(button) {
  const fold = button.closest("summary")?.parentElement;
  if (!fold?.open) button.click();
  fold?.querySelector(":is(input, textarea, select, button):not([type=hidden])")?.focus();
}

// The name of a key with its modifiers; "" for a combination that belongs to the browser.
function pressed(event) {
  if (MAC ? event.metaKey : event.ctrlKey) return event.shiftKey ? "" : `Ctrl+${event.key.toUpperCase()}`;
  if (event.ctrlKey || event.metaKey) return "";
  return event.shiftKey && /^F\d+$/.test(event.key) ? `Shift+${event.key}` : event.key;
}

function label(key) {
  if (MAC && key.startsWith("Ctrl+")) return key.replace("Ctrl+", "⌘");
  return NAMES[key] ?? key;
}

function section(name, entries) {
  const part = document.createElement("section");
  part.appendChild(document.createElement("h3")).textContent = name;
  const list = part.appendChild(document.createElement("dl"));
  for (const entry of entries.filter(({ keys }) => keys.length)) {
    const line = list.appendChild(document.createElement("div"));
    const keys = line.appendChild(document.createElement("dt"));
    const names = entry.keys.length > 2 ? [entry.keys[0], "–", entry.keys.at(-1)] : entry.keys;
    for (const key of names) keys.appendChild(document.createElement(key === "–" ? "span" : "kbd")).textContent = label(key);
    line.appendChild(document.createElement("dd")).textContent = entry.does;
  }
  return part;
}

function narrow(dialog, words) {
  for (const part of dialog.querySelectorAll("[data-keys] section")) {
    const lines = [...part.querySelectorAll("dl div")];
    for (const line of lines) line.hidden = !line.textContent.toLowerCase().includes(words);
    part.hidden = lines.every((line) => line.hidden);
  }
  dialog.querySelector("[data-keys-none]").hidden = Boolean(dialog.querySelector("[data-keys] section:not([hidden])"));
}

// Whether a key belongs to an input method (Japanese, Chinese, Korean). Safari ends a composition before its last Enter,
// which then arrives as key code 229 alone.
export function composing(event) {
  return event.isComposing || event.keyCode === 229;
}
