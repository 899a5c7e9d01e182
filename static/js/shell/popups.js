// Menus and dialogs. A menu closes on Escape, on a click elsewhere (except on the palette, which may have opened it), and once its
// request has succeeded; a fetched menu is scrolled into view. Elements with `data-dialog` open a dialog; the browser restores the
// focus.
export function start() {
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("[data-menu][open]")) {
      if (!menu.contains(event.target) && !event.target.closest("#palette")) menu.open = false;
    }
  });
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    ctx.target?.closest?.(".again[open] > .sheet, .try[open]:not(.app-graph)")?.scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    const menu = ctx.sourceElement?.closest?.("form")?.closest(".again[open]");
    if (menu && ctx.response?.status === 204) menu.open = false;
  });
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      openDialog(opener.dataset.dialog);
    }
    if (event.target.matches("dialog[open]")) event.target.close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && closeMenu()) event.preventDefault();
  });
}

function closeMenu() {
  const menu = document.querySelector("[data-menu][open]");
  if (!menu) return false;
  menu.open = false;
  menu.querySelector("summary").focus();
  return true;
}

export function openDialog(id) {
  const dialog = document.getElementById(id);
  if (!dialog || dialog.open) return;
  dialog.dispatchEvent(new CustomEvent("fill"));
  dialog.showModal();
}
