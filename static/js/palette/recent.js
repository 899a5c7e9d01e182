// What was last used in the palette, kept by the browser: commands by name, and links.
const KEY = "palette";
const MOST = 5;

// The entries that can be used on this page: links, and the commands with those names.
export function entries(commands) {
  const byName = new Map(commands.map((command) => [command.name, command]));
  return read().map((entry) => (entry.href ? entry : byName.get(entry.name))).filter(Boolean);
}

// Skips links while the page shows secrets, because their names may contain some.
export function note({ name, note, href }) {
  if (href && document.documentElement.dataset.secrets === "shown") return;
  const isOther = (entry) => (href ? entry.href !== href : entry.href || entry.name !== name);
  localStorage.setItem(KEY, JSON.stringify([{ name, note, href }, ...read().filter(isOther)].slice(0, MOST)));
}

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]");
  } catch {
    return [];
  }
}
