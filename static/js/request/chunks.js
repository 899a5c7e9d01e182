// Shows a streamed answer up to one of its chunks.
export function start() {
  document.addEventListener("input", (event) => {
    if (event.target.matches?.("[data-chunks]")) show(event.target);
  });
}

export function step(count) {
  const slider = document.querySelector("[data-chunks]");
  if (!slider) return;
  slider.value = Number(slider.value) + count;
  show(slider);
}

function show(slider) {
  const chunks = [...slider.closest(".streamed").querySelectorAll("[data-chunk]")];
  chunks.forEach((chunk, place) => { chunk.hidden = place >= slider.value; });
  const here = slider.closest(".streamed").querySelector(".here"), chunk = chunks[slider.value - 1];
  here.removeAttribute("hidden");
  here.setAttribute("x", Math.min(Math.max(chunk.dataset.x - 2, 0), 996));
  const label = `chunk ${slider.value} of ${slider.max}, ${chunk.dataset.chunk}`;
  slider.setAttribute("aria-valuetext", label);
  slider.closest(".streamed").querySelector("output").textContent = label;
}
