// The scrubber's end moves along with the session; its value is spoken from the row it points at.
import { each } from "./connected.js";

export function start() {
  document.addEventListener("input", (event) => {
    if (event.target.matches?.("[data-scrub]")) speak(event.target);
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
  if (new URLSearchParams(location.search).has("event")) return;
  slider.value = count;
  const previous = document.getElementById("previous");
  previous.href = `${slider.form.getAttribute("action")}?event=${count}`;
  previous.removeAttribute("aria-disabled");
}

function speak(slider) {
  const row = document.getElementById(`e-${slider.value}`);
  const words = [".kind", ".who", ".what"].map((cell) => row?.querySelector(cell)?.textContent.trim());
  slider.setAttribute("aria-valuetext", `event ${slider.value} of ${slider.max}, ${words.filter(Boolean).join(", ")}`);
}
