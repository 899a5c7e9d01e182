// Plays back a session: the page moves from event to event by itself, at the recorded pace or faster. Nothing is executed.
// Each step is a page of its own (?at=), so the tab's storage keeps what is playing.
import { connectOnce } from "../shell/behaviors.js";

const PLAYING = "devui-playing";
const SPEED = "devui-speed";
const MIN_DELAY_MS = 150;
const MAX_DELAY_MS = 5000;
let timer;

export function start() {
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-play]")) sessionStorage.setItem(PLAYING, path());
    if (event.target.closest?.("#play")) toggle();
  });
  document.addEventListener("change", (event) => {
    if (!event.target.matches?.("#speed")) return;
    sessionStorage.setItem(SPEED, event.target.value);
    if (playing()) go();
  });
  // A reader who moves to another moment wants to stay there.
  document.addEventListener("input", (event) => { if (event.target.matches?.("[data-scrub]")) stop(); });
}

export function connect(root) {
  connectOnce(root, "#play", () => { if (playing()) go(); });
}

export const update = draw;

export function toggle() {
  if (playing()) stop();
  else if (next()) {
    sessionStorage.setItem(PLAYING, path());
    go();
    draw();
  }
}

function go() {
  clearTimeout(timer);
  const link = next();
  if (!link) return stop();
  const speed = Number(sessionStorage.getItem(SPEED) ?? "1");
  const gap = speed ? Number(link.dataset.gap) * 1000 / speed : 0;
  timer = setTimeout(() => location.replace(link.href), Math.min(Math.max(gap, MIN_DELAY_MS), MAX_DELAY_MS));
}

function stop() {
  clearTimeout(timer);
  sessionStorage.removeItem(PLAYING);
  draw();
}

function draw() {
  const button = document.getElementById("play");
  if (!button) return;
  document.getElementById("speed").value = sessionStorage.getItem(SPEED) ?? "1";
  button.disabled = !playing() && !next();
  button.setAttribute("aria-pressed", String(playing()));
}

const path = () => document.getElementById("scrubber")?.getAttribute("action") ?? "";
const playing = () => Boolean(path()) && sessionStorage.getItem(PLAYING) === path();
const next = () => document.querySelector("#cursor-on[href]");
