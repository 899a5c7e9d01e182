// Copies the text of another element.
export function start() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = document.querySelector(button.dataset.copy)?.textContent ?? "";
    await navigator.clipboard.writeText(text);
    const label = button.lastChild;
    const before = label.textContent;
    label.textContent = "Copied";
    setTimeout(() => { label.textContent = before; }, 1500);
  });
}
