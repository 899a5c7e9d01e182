// Notices: an error stays until it is dismissed or the next request is sent; dismissing a notice moves the focus to the next one or the page.
export function start() {
  document.addEventListener("htmx:before:request", ({ detail }) => { if (detail.ctx.request.method === "POST") clear(); });
  document.addEventListener("click", ({ target }) => {
    if (!target.closest("#notice [data-dismiss]")) return;
    clear();
    document.getElementById("main")?.focus();
  });
  document.addEventListener("submit", ({ target }) => {
    if (!target.closest("#journal")) return;
    const others = [...document.querySelectorAll("#journal form button")].filter((button) => !target.contains(button));
    (others[0] ?? document.getElementById("main")).focus();
  });
}

function clear() {
  document.querySelectorAll("#notice > [role=alert]").forEach((error) => error.remove());
}
