// As soon as the page is parsed: each list at its selected item, or at its end.
// A deferred classic script, because modules come after the first paint.
const number = Number(new URLSearchParams(location.search).get("event"));
for (const box of document.querySelectorAll("[data-tail]")) {
  const shown = number && [...box.querySelectorAll("[data-event]")].findLast((item) => item.dataset.event <= number);
  if (shown) shown.scrollIntoView({ block: "center" });
  else box.scrollTop = box.scrollHeight;
}
