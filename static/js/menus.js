// Menus close when something else is clicked, and with Escape.
export function start() {
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("[data-menu][open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
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
