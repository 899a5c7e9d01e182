// The event whose tick is under the pointer is told above the scrubber; gone with the pointer, or with Escape.
import { each } from "./connected.js";

const REST = 100, THUMB = 14;
let timer = null, shown = null;

export function start() {
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("htmx:after:swap", ({ target }) => {
    const tip = document.getElementById("tip");
    if (tip && target === tip) tip.hidden = shown === null || !tip.textContent.trim();
  });
}

export function connect(root) {
  each(root, "[data-scrub]", (slider) => {
    slider.addEventListener("pointermove", (event) => { if (!slider.disabled) over(slider, event.clientX); });
    slider.addEventListener("pointerleave", hide);
  });
}

function over(slider, x) {
  const box = slider.getBoundingClientRect(), last = Number(slider.max) - 1, wide = box.width - THUMB;
  const part = Math.min(Math.max((x - box.left - THUMB / 2) / wide, 0), 1);
  const number = 1 + Math.round(part * last);
  if (number === shown) return;
  clearTimeout(timer);
  shown = number;
  timer = setTimeout(ask, REST, slider, THUMB / 2 + (last ? wide * (number - 1) / last : 0));
}

function ask(slider, x) {
  const tip = document.getElementById("tip");
  if (!tip || document.documentElement.hasAttribute("data-offline")) return;
  const room = window.innerWidth - slider.getBoundingClientRect().left;
  tip.style.setProperty("--x", `${x}px`);
  tip.style.setProperty("--room", `${room}px`);
  const path = `${slider.form.getAttribute("action")}/events/${shown}/tip`;
  window.htmx.ajax("GET", path, { source: tip, target: tip, swap: "innerMorph" });
}

function hide() {
  clearTimeout(timer);
  shown = null;
  const tip = document.getElementById("tip");
  if (tip) tip.hidden = true;
}
