// Polls the progress of long work while there is any. Work of less than 400 ms is never shown.
const UNSHOWN = 400, AGAIN = 500;

let timer = 0;

export function start() {
  document.addEventListener("submit", ({ target }) => { if (target.matches("[data-job]")) ask(UNSHOWN); });
}

export function update() {
  if (document.querySelector("#jobs[data-active]")) ask(AGAIN);
}

function ask(after) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const jobs = document.getElementById("jobs");
    if (!jobs) return;
    jobs.dispatchEvent(new Event("ask"));
    // A form's own request may not have reached the server yet, and a morph connects nothing anew.
    setTimeout(update, AGAIN);
  }, after);
}
