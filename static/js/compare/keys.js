// Moves through a comparison, from row to row and from difference to difference. The focused row is in the address, and in the
// links that show the same rows in another way, so that each of them returns to it.
import { EVERYWHERE } from "../palette/commands.js";
import { keyboard, typing } from "../shell/keyboard.js";

const click = (selector) => document.querySelector(selector)?.click();
const rows = () => [...document.querySelectorAll("#pairs [data-row]")];
const differences = () => [...document.querySelectorAll("#pairs [data-difference] > summary")];
let focused = null;

const SECTIONS = {
  Differences: [
    { keys: ["n"], does: "next difference", run: () => walk(1) },
    { keys: ["p"], does: "previous difference", run: () => walk(-1) },
    { keys: ["f"], does: "first difference", run: () => reach(differences()[0]) },
    { keys: ["Enter"], does: "show or hide the differences" },
    { keys: ["ArrowRight"], does: "show the differences", run: () => open(true) },
    { keys: ["ArrowLeft"], does: "hide the differences", run: () => open(false) },
  ],
  Rows: [
    { keys: ["j", "ArrowDown"], does: "next row", run: () => step(1) },
    { keys: ["k", "ArrowUp"], does: "previous row", run: () => step(-1) },
    { keys: ["o"], does: "open the event in its session", run: () => row()?.parentElement.querySelector(".in-sessions a")?.click() },
  ],
  Page: [
    { keys: ["u"], does: "show or hide matching events", press: "#fold" },
    { keys: ["x"], does: "swap sides", press: "#swap" },
    ...EVERYWHERE,
  ],
};

function handles({ target, key }) {
  if (typing(target)) return false;
  return !key.startsWith("Arrow") || target === document.body || Boolean(target.matches?.("[data-row]"));
}

const keys = keyboard(SECTIONS, handles);

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
      focused = event.target;
      keepInAddress(focused.dataset.row);
    }
    say();
  });
  // If a folded stretch had the focus, its first row gets it when it unfolds.
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
  return document.activeElement?.closest("#pairs [data-row]") ?? (focused?.isConnected ? focused : null);
}

function step(count) {
  const all = rows();
  const here = all.indexOf(row());
  reach(all[here < 0 ? (count > 0 ? 0 : all.length - 1) : Math.min(Math.max(here + count, 0), all.length - 1)]);
}

// Goes from the focused row, which need not be a difference, to the next (1) or previous (-1) one; past the last, fetches more rows.
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
  const label = document.querySelector("[data-walk-position]");
  if (!label) return;
  const all = differences();
  const here = all.indexOf(row());
  const text = here < 0 ? `${all.length} on this page` : `${here + 1} of ${all.length}`;
  if (label.textContent !== text) label.textContent = text;
}

function keepInAddress(row) {
  const mirrored = row.split("-").reverse().join("-");
  history.replaceState(history.state, "", withRow(location.href, row));
  for (const [id, there] of [["fold", row], ["swap", mirrored]]) {
    const link = document.getElementById(id);
    if (link) link.href = withRow(link.href, there);
  }
}

function withRow(address, row) {
  const url = new URL(address);
  url.searchParams.set("at", row);
  url.hash = "";
  return url.href;
}
