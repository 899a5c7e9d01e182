// Polls the progress of jobs while there are any. A job that takes less than 400 ms is never shown.
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
    // A form's own request may not have reached the server yet, and a morph doesn't connect behaviors again.
    setTimeout(update, AGAIN);
  }, after);
}
