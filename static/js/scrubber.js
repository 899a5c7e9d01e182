// The scrubber's end moves along with the session; its value is spoken from the row it points at.
import { each } from "./connected.js";

export function start() {
  document.addEventListener("input", (event) => {
    if (event.target.matches?.("[data-scrub]")) speak(event.target);
  });
}

export function connect(root) {
  each(root, "svg[data-count]", (picture) => {
    const slider = document.querySelector("[data-scrub]");
    const count = Number(picture.dataset.count);
    if (!slider || !count) return;
    const atEnd = !new URLSearchParams(location.search).has("event");
    slider.disabled = false;
    slider.max = count;
    if (atEnd) slider.value = count;
    document.querySelectorAll("span[data-count]").forEach((span) => { span.textContent = count; });
  });
}

function speak(slider) {
  const row = document.getElementById(`e-${slider.value}`);
  const words = [".kind", ".who", ".what"].map((cell) => row?.querySelector(cell)?.textContent.trim());
  slider.setAttribute("aria-valuetext", `event ${slider.value} of ${slider.max}, ${words.filter(Boolean).join(", ")}`);
}
