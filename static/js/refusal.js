// What the server refused stays until it is put away or the next thing is done, whatever else the page is told.
export function start() {
  document.addEventListener("htmx:before:request", ({ detail }) => { if (detail.ctx.request.method === "POST") clear(); });
  document.addEventListener("click", ({ target }) => {
    if (!target.closest("#notice [data-dismiss]")) return;
    clear();
    document.getElementById("main")?.focus();
  });
}

function clear() {
  document.querySelectorAll("#notice > [role=alert]").forEach((refusal) => refusal.remove());
}
