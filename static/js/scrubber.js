// The page goes to where the scrubber is let go. Its end moves along with the session; its value is spoken from the row it points at.
import { each } from "./connected.js";

// Where the page is on its way to: a number, or an address that leads there. Keys are quicker than pages: what is
// pressed before the page has come counts from where it goes.
let going = null;

// One event back (-1) or on (1).
export function step(way) {
  const slider = document.querySelector("[data-scrub]");
  const link = document.querySelector(way < 0 ? "#cursor-back[href]" : "#cursor-on[href]");
  if (going instanceof URL) return goOn(way < 0 ? "earlier" : "later");
  if (going) going = Math.min(Math.max(going + way, 1), Number(slider.max));
  else if (link) going = Number(new URL(link.href).searchParams.get("at"));
  else return;
  slider.value = going;
  slider.form.requestSubmit();
}

// To the write before (-1) or after (1): of the state (`change`), or of the pinned key (`write`).
export function leap(kind, way) {
  const ends = way < 0 ? ["back", "on"] : ["on", "back"];
  const [link, other] = ends.map((end) => document.querySelector(`#${kind}-${end}[href]`));
  const direction = way < 0 ? "previous" : "next";
  if (going?.kind === kind) return goOn(direction);
  if (!link && !(going && other)) return;
  const url = new URL((link ?? other).href);
  url.pathname = url.pathname.replace(/\w+$/, direction);
  if (Number(going)) url.searchParams.set("at", going);
  going = Object.assign(url, { kind });
  location.assign(going);
}

function goOn(way) {
  going.searchParams.append("then", way);
  location.assign(going);
}

export function start() {
  addEventListener("pageshow", () => { going = null; });
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
  each(root, "#ticks", (picture) => {
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
  if (["event", "at"].some((name) => new URLSearchParams(location.search).has(name))) return;
  slider.value = count;
  for (const [id, name] of [["previous", "event"], ["cursor-back", "at"]]) {
    const link = document.getElementById(id);
    link.href = `${slider.form.getAttribute("action")}?${name}=${count}`;
    link.removeAttribute("aria-disabled");
  }
}

function speak(slider) {
  const row = document.getElementById(`e-${slider.value}`);
  const words = [".kind", ".who", ".what", ".back"].map((cell) => row?.querySelector(cell)?.textContent.trim());
  slider.setAttribute("aria-valuetext", `event ${slider.value} of ${slider.max}, ${words.filter(Boolean).join(", ")}`);
}
