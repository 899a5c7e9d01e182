// What was last used in the palette, kept by the browser: commands by their names, and links.
const KEY = "palette";
const MOST = 5;

// Those that can be used on this page, with the command of each.
export function entries(commands) {
  const byName = new Map(commands.map((command) => [command.name, command]));
  return read().map((entry) => (entry.href ? entry : byName.get(entry.name))).filter(Boolean);
}

// Names of links may contain secrets while the page shows them.
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
