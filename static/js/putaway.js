// A notice that is put away goes, and the focus with it: it goes to the next one, or to the page itself.
export function start() {
  document.addEventListener("submit", ({ target }) => {
    if (!target.closest("#journal")) return;
    const others = [...document.querySelectorAll("#journal form button")].filter((button) => !target.contains(button));
    (others[0] ?? document.getElementById("main")).focus();
  });
}
