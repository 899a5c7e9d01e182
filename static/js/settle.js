// As soon as the lists are parsed: each one at its selected item, or at its end.
// A classic script right behind them, because what is deferred comes after the first paint; a block, because going back
// runs it once more in the same document.
{
  const number = Number(new URLSearchParams(location.search).get("event"));
  for (const box of document.querySelectorAll("[data-tail]")) {
    const shown = number && [...box.querySelectorAll("[data-event]")].findLast((item) => item.dataset.event <= number);
    if (shown) shown.scrollIntoView({ block: "center" });
    else box.scrollTop = box.scrollHeight;
  }
}
