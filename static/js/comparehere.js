// The row of a comparison that the reader stands on is in the address, and on the ways to the same rows in another form:
// so it is come back to.
export function keep(row) {
  const swapped = row.split("-").reverse().join("-");
  history.replaceState(history.state, "", at(location.href, row));
  for (const [id, there] of [["fold", row], ["swap", swapped]]) {
    const link = document.getElementById(id);
    if (link) link.href = at(link.href, there);
  }
}

function at(address, row) {
  const url = new URL(address);
  url.searchParams.set("at", row);
  url.hash = "";
  return url.href;
}
