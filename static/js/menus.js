// Menus close when something else is clicked, with Escape, and when what they asked for is under way. One that is
// fetched may be taller than the room below it.
export function start() {
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("[data-menu][open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    ctx.target?.closest?.(".again[open] > .sheet")?.scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    const menu = ctx.sourceElement?.closest?.("form")?.closest(".again[open]");
    if (menu && ctx.response?.status === 204) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && close()) event.preventDefault();
  });
}

function close() {
  const menu = document.querySelector("[data-menu][open]");
  if (!menu) return false;
  menu.open = false;
  menu.querySelector("summary").focus();
  return true;
}
