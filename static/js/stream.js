// What was there of a streamed answer at a piece of it.
export function start() {
  document.addEventListener("input", (event) => {
    if (event.target.matches?.("[data-streamed]")) show(event.target);
  });
}

export function step(count) {
  const slider = document.querySelector("[data-streamed]");
  if (!slider) return;
  slider.value = Number(slider.value) + count;
  show(slider);
}

function show(slider) {
  const pieces = [...slider.closest(".streamed").querySelectorAll("[data-piece]")];
  pieces.forEach((piece, place) => { piece.hidden = place >= slider.value; });
  const here = slider.closest(".streamed").querySelector(".here"), piece = pieces[slider.value - 1];
  here.removeAttribute("hidden");
  here.setAttribute("x", Math.min(Math.max(piece.dataset.x - 2, 0), 996));
  const told = `piece ${slider.value} of ${slider.max}, ${piece.dataset.piece}`;
  slider.setAttribute("aria-valuetext", told);
  slider.closest(".streamed").querySelector("output").textContent = told;
}
