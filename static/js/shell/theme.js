// Light or dark, remembered in a cookie so that the server renders the next page in it.
const dark = matchMedia("(prefers-color-scheme: dark)");

export function start() {
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-toggle]")) toggle();
  });
}

export function toggle() {
  const root = document.documentElement;
  const now = root.dataset.theme === "auto" ? (dark.matches ? "dark" : "light") : root.dataset.theme;
  root.dataset.theme = now === "dark" ? "light" : "dark";
  document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
}
