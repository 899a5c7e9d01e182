// The log grows by what is printed while the page listens. What it missed, while its stream was cut or the tab was on its
// way, leaves a gap in the numbers of its lines: then it asks for itself anew.
import { each } from "./connected.js";

const number = (line) => Number(line?.id.slice(2)) || 0;
let newest = { run: "", line: 0 };
let answered = "";

export function start() {
  document.addEventListener("htmx:sse:after:connection", () => { answered = ""; ask(); });
}

export function connect(root) {
  each(root, "#log-live", (box) => {
    new MutationObserver(() => check(box)).observe(box, { childList: true });
    check(box);
  });
}

// An answer that was written before a line that had been here lacks it.
function check(box) {
  const lines = box.children, last = number(lines[lines.length - 1]);
  const whole = !lines.length || last - number(lines[0]) + 1 === lines.length;
  const lost = box.dataset.run === newest.run && last < newest.line;
  newest = { run: box.dataset.run, line: lost ? newest.line : last };
  if (!whole || lost) ask();
}

// Not twice where the answer is the same.
function ask() {
  const box = document.getElementById("log-live");
  const shown = box && [box.dataset.run, box.firstElementChild?.id, box.lastElementChild?.id, box.children.length, newest.line].join();
  if (!box || shown === answered) return;
  answered = shown;
  window.htmx.trigger("#log-ask", "missed");
}
