// Lines printed while the page listens are appended to the log. Lines missed while the stream was interrupted leave a gap in their
// numbers; then the log is fetched again.
import { connectOnce } from "../shell/behaviors.js";

const number = (line) => Number(line?.id.slice(2)) || 0;
let newest = { run: "", line: 0 };
let lastRequest = "";

export function start() {
  document.addEventListener("htmx:sse:after:connection", () => { lastRequest = ""; ask(); });
}

export function connect(root) {
  connectOnce(root, "#log-live", (box) => {
    new MutationObserver(() => check(box)).observe(box, { childList: true });
    check(box);
  });
}

// A response rendered before the newest line arrived lacks that line.
function check(box) {
  const lines = box.children, last = number(lines[lines.length - 1]);
  const whole = !lines.length || last - number(lines[0]) + 1 === lines.length;
  const lost = box.dataset.run === newest.run && last < newest.line;
  newest = { run: box.dataset.run, line: lost ? newest.line : last };
  if (!whole || lost) ask();
}

// Fetches the log again, unless nothing has changed since the last request.
function ask() {
  const box = document.getElementById("log-live");
  const request = box && [box.dataset.run, box.firstElementChild?.id, box.lastElementChild?.id, box.children.length, newest.line].join();
  if (!box || request === lastRequest) return;
  lastRequest = request;
  window.htmx.trigger("#log-ask", "missed");
}
