// The scrubber: releasing it leads to that moment. Its end grows with the session, screen readers hear the row it points at, and
// a tip describes the event under the pointer until the pointer leaves or Escape is pressed.
import { connectOnce } from "../shell/behaviors.js";

const REST = 100, THUMB = 14;
// Where the page is going: the number of an event, or an address that leads to one. Keys are faster than pages: a key pressed
// before the page has loaded counts from there.
let going = null;
let timer = null, tipped = null;

// Moves one event back (-1) or forward (1).
export function step(way) {
  const slider = document.querySelector("[data-scrub]");
  const link = document.querySelector(way < 0 ? "#cursor-back[href]" : "#cursor-on[href]");
  if (going instanceof URL) return proceed(way < 0 ? "earlier" : "later");
  if (going) going = Math.min(Math.max(going + way, 1), Number(slider.max));
  else if (link) going = Number(new URL(link.href).searchParams.get("at"));
  else return;
  slider.value = going;
  slider.form.requestSubmit();
}

// Moves to the previous (-1) or next (1) write: of any state key (`change`), or of the pinned key (`write`).
export function leap(kind, way) {
  const ends = way < 0 ? ["back", "on"] : ["on", "back"];
  const [link, other] = ends.map((end) => document.querySelector(`#${kind}-${end}[href]`));
  const direction = way < 0 ? "previous" : "next";
  if (going?.kind === kind) return proceed(direction);
  if (!link && !(going && other)) return;
  const url = new URL((link ?? other).href);
  url.pathname = url.pathname.replace(/\w+$/, direction);
  if (Number(going)) url.searchParams.set("at", going);
  going = Object.assign(url, { kind });
  location.assign(going);
}

function proceed(way) {
  going.searchParams.append("then", way);
  location.assign(going);
}

export function start() {
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  document.addEventListener("htmx:after:swap", ({ target }) => {
    const tip = document.getElementById("tip");
    if (tip && target === tip) tip.hidden = tipped === null || !tip.textContent.trim();
  });
  addEventListener("pageshow", () => { going = null; });
  document.addEventListener("htmx:after:history:update", place);
  document.addEventListener("input", (event) => {
    if (event.target.matches?.("[data-scrub]")) speak(event.target);
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("[data-scrub]")) event.target.form.requestSubmit();
  });
  document.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!way || !event.shiftKey || !event.target.matches?.("[data-scrub]")) return;
    event.preventDefault();
    leap("change", way);
  });
}

export function connect(root) {
  connectOnce(root, "[data-scrub]", (slider) => {
    slider.addEventListener("pointermove", (event) => { if (!slider.disabled) pointAt(slider, event.clientX); });
    slider.addEventListener("pointerleave", hideTip);
  });
  connectOnce(root, "#ticks", (picture) => {
    new MutationObserver(() => extend(picture)).observe(picture, { attributes: true, childList: true, subtree: true });
    extend(picture);
  });
}

function extend(picture) {
  const slider = document.querySelector("[data-scrub]");
  const count = Number(picture.querySelector("svg")?.dataset.count);
  if (!slider || !count) return;
  slider.disabled = false;
  slider.max = count;
  document.querySelectorAll("span[data-count]").forEach((span) => { span.textContent = count; });
  place();
  if (shown()) return;
  for (const [id, name] of [["previous", "event"], ["cursor-back", "at"]]) {
    const link = document.getElementById(id);
    const url = new URL(slider.form.getAttribute("action"), location), view = new URLSearchParams(location.search).get("view");
    url.search = new URLSearchParams({ [name]: count, ...(view && { view }) });
    link.href = url.pathname + url.search;
    link.removeAttribute("aria-disabled");
  }
}

function shown() {
  const query = new URLSearchParams(location.search);
  return query.get("at") ?? query.get("event");
}

// Once a script has moved a slider, it no longer follows its attribute.
function place() {
  const slider = document.querySelector("[data-scrub]");
  if (slider && !slider.matches(":active")) slider.value = shown() ?? slider.max;
}

function speak(slider) {
  const row = document.getElementById(`e-${slider.value}`);
  const words = [".kind", ".who", ".what", ".back"].map((cell) => row?.querySelector(cell)?.textContent.trim());
  slider.setAttribute("aria-valuetext", `event ${slider.value} of ${slider.max}, ${words.filter(Boolean).join(", ")}`);
}

function pointAt(slider, x) {
  const box = slider.getBoundingClientRect(), last = Number(slider.max) - 1, wide = box.width - THUMB;
  const part = Math.min(Math.max((x - box.left - THUMB / 2) / wide, 0), 1);
  const number = 1 + Math.round(part * last);
  if (number === tipped) return;
  clearTimeout(timer);
  tipped = number;
  timer = setTimeout(fetchTip, REST, slider, THUMB / 2 + (last ? wide * (number - 1) / last : 0));
}

function fetchTip(slider, x) {
  const tip = document.getElementById("tip");
  if (!tip || document.documentElement.hasAttribute("data-offline")) return;
  const room = window.innerWidth - slider.getBoundingClientRect().left;
  tip.style.setProperty("--x", `${x}px`);
  tip.style.setProperty("--room", `${room}px`);
  const path = `${slider.form.getAttribute("action")}/events/${tipped}/tip`;
  window.htmx.ajax("GET", path, { source: tip, target: tip, swap: "innerMorph" });
}

function hideTip() {
  clearTimeout(timer);
  tipped = null;
  const tip = document.getElementById("tip");
  if (tip) tip.hidden = true;
}
