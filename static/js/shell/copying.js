// Buttons that copy a text of their own; those with a label say “Copied”.
const SECONDS = 2;

export function start() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy-text]");
    if (!button || !navigator.clipboard) return;
    await navigator.clipboard.writeText(button.dataset.copyText);
    const words = button.querySelector(".words");
    if (!words || words.textContent === "Copied") return;
    const label = words.textContent;
    words.textContent = "Copied";
    setTimeout(() => (words.textContent = label), SECONDS * 1000);
  });
}
