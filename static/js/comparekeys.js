// Walking through a comparison: from row to row, from difference to difference.
import { keep } from "./comparehere.js";
import { keyboard, typing } from "./keyboard.js";
import * as dialogs from "./dialogs.js";
import * as theme from "./theme.js";

const click = (selector) => document.querySelector(selector)?.click();
const rows = () => [...document.querySelectorAll("#pairs [data-row]")];
const differences = () => [...document.querySelectorAll("#pairs [data-difference] > summary")];
let walked = null;

const KEYS = [
  { keys: ["n"], does: "next difference", run: () => walk(1) },
  { keys: ["p"], does: "previous difference", run: () => walk(-1) },
  { keys: ["f"], does: "first difference", run: () => reach(differences()[0]) },
  { keys: ["j", "ArrowDown"], does: "next row", run: () => step(1) },
  { keys: ["k", "ArrowUp"], does: "previous row", run: () => step(-1) },
  { keys: ["Enter"], does: "show what differs there, or hide it" },
  { keys: ["ArrowRight"], does: "show it", run: () => open(true) },
  { keys: ["ArrowLeft"], does: "hide it", run: () => open(false) },
  { keys: ["o"], does: "open the row's event in its session", run: () => row()?.querySelector("a.seq")?.click() },
  { keys: ["u"], does: "unfold what is the same, or fold it", run: () => click("#fold") },
  { keys: ["x"], does: "exchange the sides", run: () => click("#swap") },
  { keys: ["t"], does: "light or dark", run: () => theme.toggle() },
  { keys: ["?"], does: "this sheet", run: () => dialogs.open("keys") },
];

function handles({ target, key }) {
  if (typing(target)) return false;
  return !key.startsWith("Arrow") || target === document.body || Boolean(target.matches?.("[data-row]"));
}

const keys = keyboard(KEYS, handles);

export function start() {
  keys.start();
  document.addEventListener("click", (event) => {
    const way = event.target.closest("[data-walk]")?.dataset.walk;
    if (way) walk(Number(way));
    if (event.target.closest("#to-first")) {
      event.preventDefault();
      reach(differences()[0]);
    }
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.matches?.("#pairs [data-row]")) {
      walked = event.target;
      keep(walked.dataset.row);
    }
    say();
  });
  // Where a folded stretch had the focus, its first row has it next.
  document.addEventListener("htmx:before:swap", (event) => {
    const stretch = event.target.closest?.("details.stretch");
    if (!stretch?.contains(document.activeElement)) return;
    const place = rows().indexOf(stretch.querySelector("[data-row]"));
    document.addEventListener("htmx:after:swap", () => rows()[place]?.focus(), { once: true });
  });
}

export function connect(root) {
  keys.connect(root);
  say();
}

function row() {
  return document.activeElement?.closest("#pairs [data-row]") ?? (walked?.isConnected ? walked : null);
}

function step(count) {
  const all = rows();
  const here = all.indexOf(row());
  reach(all[here < 0 ? (count > 0 ? 0 : all.length - 1) : Math.min(Math.max(here + count, 0), all.length - 1)]);
}

// From where the focus is, also from between two differences; beyond the last one the next rows are asked for.
function walk(way) {
  const all = differences();
  const here = row();
  const places = rows();
  const at = places.indexOf(here);
  const next = way > 0
    ? all.find((each) => places.indexOf(each) > at)
    : all.findLast((each) => places.indexOf(each) < (at < 0 ? places.length : at));
  if (next) reach(next);
  else click(way > 0 ? "[data-rows-after]" : "[data-rows-before]");
}

function reach(summary) {
  if (!summary) return;
  summary.focus({ preventScroll: true });
  summary.scrollIntoView({ block: summary.parentElement.open ? "start" : "center" });
}

function open(wanted) {
  const details = row()?.parentElement;
  if (details) details.open = wanted;
}

function say() {
  const said = document.querySelector("[data-walked]");
  if (!said) return;
  const all = differences();
  const here = all.indexOf(row());
  const text = here < 0 ? `${all.length} here` : `${here + 1} of ${all.length}`;
  if (said.textContent !== text) said.textContent = text;
}
