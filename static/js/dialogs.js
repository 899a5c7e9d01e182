// Buttons that open a dialog; the browser gives the focus back when it closes.
export function start() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) open(opener.dataset.opens);
    if (event.target.matches("dialog[open]")) event.target.close();
  });
}

export function open(id) {
  const dialog = document.getElementById(id);
  if (!dialog || dialog.open) return;
  dialog.dispatchEvent(new CustomEvent("fill"));
  dialog.showModal();
}
