// What is unfolded on the card of a paused event is scrolled to, as far as there is room: the card is at the end of the timeline.
export function start() {
  document.addEventListener("click", ({ target }) => {
    const details = target.closest("#held details:not(.j-fold) > summary")?.parentElement;
    if (!details || details.open) return;
    details.addEventListener("toggle", () => details.scrollIntoView({ block: "nearest" }), { once: true });
  });
}
