// Keeps times current: how long ago something happened, and how long a run has taken so far.
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const UNITS = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

export function start() {
  setInterval(() => refresh("[data-ago]", ago), 20000);
  setInterval(() => refresh("[data-since]", since), 1000);
  document.addEventListener("htmx:after:swap", all);
  all();
}

function all() {
  refresh("[data-ago]", ago);
  refresh("[data-since]", since);
}

function refresh(selector, write) {
  document.querySelectorAll(selector).forEach(write);
}

function age(time) {
  return (Date.now() - Date.parse(time.dateTime)) / 1000;
}

function ago(time) {
  const seconds = age(time);
  if (Number.isNaN(seconds)) return;
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  time.textContent = Math.abs(seconds) < 10 ? "just now" : relative.format(-Math.round(seconds / size), unit);
}

function since(time) {
  const seconds = Math.max(0, Math.floor(age(time)));
  const minutes = Math.floor(seconds / 60);
  time.textContent = minutes ? `${minutes} min ${String(seconds % 60).padStart(2, "0")} s` : `${seconds} s`;
}
