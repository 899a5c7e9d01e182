// Scrolls to what is unfolded on the card of a paused event, because the card is at the end of the timeline.
export function start() {
  document.addEventListener("click", ({ target }) => {
    const details = target.closest("#held details:not(.j-fold) > summary")?.parentElement;
    if (!details || details.open) return;
    details.addEventListener("toggle", () => details.lastElementChild.scrollIntoView({ block: "nearest" }), { once: true });
  });
}
