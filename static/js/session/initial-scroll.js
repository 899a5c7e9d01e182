// Scrolls each list to its selected item, or to its end, as soon as the lists are parsed. Gaps get their size first.
// A classic script right after them, because deferred scripts run after the first paint; in a block, because going back runs
// it again in the same document.
{
  for (const gap of document.querySelectorAll("[data-gap]")) gap.style.setProperty("--count", gap.dataset.count);
  const number = Number(new URLSearchParams(location.search).get("event"));
  for (const box of document.querySelectorAll("[data-tail]")) {
    const items = [...box.querySelectorAll("[data-event]")];
    const ofEvent = items.filter((item) => Number(item.dataset.event) === number);
    // A result's card comes before the files it saved, a person's answer before the card of the question.
    const first = ofEvent.find((item) => item.matches(".msg.user")) ?? ofEvent.find((item) => item.matches(".outcome"));
    const target = number && (first ?? items.findLast((item) => item.dataset.event <= number));
    if (target) target.scrollIntoView({ block: "center" });
    else box.scrollTop = box.scrollHeight;
  }
}
