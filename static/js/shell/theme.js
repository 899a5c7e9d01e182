// The theme, kept in a cookie so that the server renders the next page with it.
const dark = matchMedia("(prefers-color-scheme: dark)");

export function start() {
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-toggle]")) toggle();
  });
}

export function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme === "auto" ? dark.matches : theme === "dark";
}

export function toggle() {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  document.cookie = `theme=${theme}; path=/; max-age=31536000; samesite=strict`;
}
