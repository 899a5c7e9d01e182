// Forms that ask before they do what cannot be undone.
export function start() {
  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.confirm;
    if (question && !window.confirm(question)) event.preventDefault();
  });
}
