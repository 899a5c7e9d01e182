// Scrolls each list to its selected item, or to its end, as soon as the lists are parsed.
// A classic script right behind them, because deferred scripts run after the first paint; a block, because going back runs
// it again in the same document. Gaps have their size first.
{
  for (const gap of document.querySelectorAll("[data-gap]")) gap.style.setProperty("--count", gap.dataset.count);
  const number = Number(new URLSearchParams(location.search).get("event"));
  for (const box of document.querySelectorAll("[data-tail]")) {
    const target = number && [...box.querySelectorAll("[data-event]")].findLast((item) => item.dataset.event <= number);
    if (target) target.scrollIntoView({ block: "center" });
    else box.scrollTop = box.scrollHeight;
  }
}
