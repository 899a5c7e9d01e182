// The command palette: a field above a list of commands of the page, and of sessions, events, keys and apps, which the server
// finds. What was used last comes first; without a text, sessions come before the other commands.
import { connectOnce } from "../shell/behaviors.js";
import { commands, composing } from "../shell/keyboard.js";
import { ranked } from "./ranking.js";
import * as recent from "./recent.js";

const MOST = 12; // the most matching commands to show
const AGAIN = 500; // milliseconds, while events are being indexed
let offered = [];
let isMoved = false; // whether the choice was moved since the text changed
let goal = ""; // the address of the option that was moved to, if it has one: it stays chosen when the server answers

export function connect(root) {
  connectOnce(root, "dialog#palette", (dialog) => {
    const field = dialog.querySelector("[role=combobox]");
    dialog.addEventListener("fill", () => {
      offered = commands();
      field.value = "";
      dialog.querySelector("#palette-session").value = document.querySelector("main[data-session]")?.dataset.session ?? "";
      dialog.querySelector("#palette-found").replaceChildren();
      show(dialog);
      window.htmx.trigger(field, "ask");
    });
    field.addEventListener("input", () => show(dialog));
    dialog.addEventListener("htmx:after:swap", () => {
      settle(dialog, isMoved ? (selectedOption(dialog) ?? options(dialog).find((each) => goal && each.getAttribute("href") === goal)) : null);
      dialog.querySelector("[data-palette-none]").hidden = options(dialog).length > 0;
      if (dialog.querySelector("[data-palette-again]")) setTimeout(() => dialog.open && window.htmx.trigger(field, "ask"), AGAIN);
    });
    dialog.addEventListener("keydown", (event) => press(dialog, event));
    dialog.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) choose(dialog, option, event);
    });
    // Only moving the pointer moves the choice, not the list moving below it.
    dialog.addEventListener("pointermove", ({ target }) => {
      const option = target.closest("[role=option]");
      if (option) move(dialog, option);
    });
  });
}

function show(dialog) {
  const text = dialog.querySelector("[role=combobox]").value.trim();
  const [before, after] = text ? [matching(text), []] : everything();
  fill(dialog.querySelector("[data-palette-commands]"), before);
  fill(dialog.querySelector("[data-palette-others]"), after);
  narrow(dialog, text.toLowerCase());
  dialog.querySelector("[data-palette-none]").hidden = true;
  goal = "";
  isMoved = false;
  settle(dialog);
}

function fill(place, groups) {
  place.replaceChildren(...groups.filter(([, entries]) => entries.length).map(group));
}

// Until the server answers, those of its previous results that still match stay.
function narrow(dialog, text) {
  for (const line of dialog.querySelectorAll("#palette-found [role=option]")) line.hidden = !line.textContent.toLowerCase().includes(text);
  for (const part of dialog.querySelectorAll("#palette-found [role=group]")) part.hidden = !part.querySelector("[role=option]:not([hidden])");
}

function matching(text) {
  return [["Go to", jumps(text)], ["Commands", ranked(offered, text).slice(0, MOST)]];
}

function everything() {
  const enabled = offered.filter(({ isDisabled }) => !isDisabled);
  const used = recent.entries(enabled);
  const names = new Set(used.map(({ name }) => name));
  const others = enabled.filter(({ name }) => !names.has(name));
  const sections = [...new Set(others.map(({ section }) => section))];
  return [[["Recent", used]], sections.map((title) => [title, others.filter(({ section }) => section === title)])];
}

// `#12` or `12` is an event of the session that the page shows.
function jumps(text) {
  const number = Number(/^#?(\d{1,9})$/.exec(text)?.[1]);
  const main = document.querySelector("main[data-session]");
  if (!number || !main || number > Number(document.getElementById("scrub").max)) return [];
  const row = document.querySelector(`#e-${number} .seq a`);
  const page = new URL(`/sessions/${main.dataset.session}?event=${number}`, location.href);
  return [{ name: `Event #${number}`, keys: [], run: () => (row ? row.click() : location.assign(page)) }];
}

function group([title, entries]) {
  const part = document.createElement("div");
  part.setAttribute("role", "group");
  part.setAttribute("aria-label", title);
  const head = part.appendChild(document.createElement("div"));
  head.className = "palette-head";
  head.setAttribute("aria-hidden", "true");
  head.textContent = title;
  part.append(...entries.map((entry) => option(title, entry)));
  return part;
}

function option(title, entry) {
  const line = document.createElement(entry.href ? "a" : "div");
  line.setAttribute("role", "option");
  if (entry.href) {
    line.href = entry.href;
    line.tabIndex = -1;
  }
  if (entry.isDisabled) line.setAttribute("aria-disabled", "true");
  line.command = entry;
  const name = line.appendChild(document.createElement("span"));
  name.className = "label";
  name.textContent = entry.name;
  if (entry.note) line.appendChild(document.createElement("small")).textContent = entry.note;
  const keys = line.appendChild(document.createElement("span"));
  keys.className = "keys-of";
  for (const key of entry.keys ?? []) keys.appendChild(document.createElement("kbd")).textContent = key;
  return line;
}

function options(dialog) {
  return [...dialog.querySelectorAll("[role=option]:not([hidden])")];
}

function selectedOption(dialog) {
  return dialog.querySelector("[role=option][aria-selected=true]:not([hidden])");
}

// After the list has changed: gives every option an id, and chooses one.
function settle(dialog, wanted) {
  const all = options(dialog);
  all.forEach((each, place) => { each.id = `palette-${place + 1}`; });
  mark(dialog, wanted ?? all[0]);
}

function mark(dialog, option) {
  for (const each of dialog.querySelectorAll("[role=option]")) each.setAttribute("aria-selected", String(each === option));
  const field = dialog.querySelector("[role=combobox]");
  if (option) field.setAttribute("aria-activedescendant", option.id);
  else field.removeAttribute("aria-activedescendant");
}

function move(dialog, option) {
  isMoved = true;
  goal = option.getAttribute("href") ?? "";
  mark(dialog, option);
}

function press(dialog, event) {
  if (composing(event)) return;
  const all = options(dialog);
  const here = all.findIndex((each) => each.getAttribute("aria-selected") === "true");
  const last = all.length - 1;
  const goals = { ArrowDown: here === last ? 0 : here + 1, ArrowUp: here <= 0 ? last : here - 1, PageDown: Math.min(here + 8, last), PageUp: Math.max(here - 8, 0) };
  const isToggle = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (isToggle) dialog.close();
  else if (event.key === "Enter" && all[here]) all[here].dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey: event.ctrlKey, metaKey: event.metaKey }));
  else if (event.key in goals && all.length) {
    move(dialog, all[goals[event.key]]);
    all[goals[event.key]].scrollIntoView({ block: "nearest" });
  } else return;
  event.preventDefault();
}

// The dialog closes first, so that a command finds the focus where it was.
function choose(dialog, line, event) {
  const entry = line.command ?? { name: line.querySelector(".label").textContent, note: line.querySelector("small")?.textContent, href: line.getAttribute("href") };
  if (entry.isDisabled) return;
  if (entry.href || offered.includes(entry)) recent.note(entry);
  if (entry.href && (event.ctrlKey || event.metaKey)) return; // the browser opens another tab
  dialog.close();
  const row = line.href && rowOf(new URL(line.href));
  if (row) event.preventDefault();
  if (row) row.click();
  else if (!line.href) entry.run();
}

// The row of an event on this page, which can be selected without loading another page.
function rowOf(url) {
  if (url.pathname !== location.pathname || [...url.searchParams.keys()].join() !== "event") return null;
  return document.querySelector(`#e-${Number(url.searchParams.get("event"))} .seq a`);
}
