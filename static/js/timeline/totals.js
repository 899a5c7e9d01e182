// Totals of timeline events, whether they are rows or in a gap: number, seconds, tokens, dollars and failures. A gap carries its
// own totals (`data-totals`); of a gap that the server made for a filter, only the number of events is known.
const NONE = { events: 0, seconds: 0, tokens: 0, dollars: 0, failures: 0, isPartial: false, isUnpriced: false };

export function totals(items) {
  return items.map(of).reduce(plus, NONE);
}

// The totals as texts by name, without zeros: `+12`, `3.4 s`, `2.1k tok`, `$0.0120`, `1 failed`. A `+` after a figure means “at least”.
export function words({ events, seconds, tokens, dollars, failures, isPartial, isUnpriced }) {
  const more = isPartial ? "+" : "";
  const all = {
    events: `+${events}`,
    seconds: seconds >= 0.1 && `${seconds < 100 ? seconds.toFixed(1) : Math.round(seconds)}${more} s`,
    tokens: tokens > 0 && `${compact(tokens)}${more} tok`,
    dollars: dollars > 0 && `${money(dollars)}${isUnpriced ? "+" : more}`,
    failures: failures > 0 && `${failures}${more} failed`,
  };
  return Object.entries(all).filter(([, text]) => text);
}

function of(item) {
  if (item.dataset.totals) return JSON.parse(item.dataset.totals);
  if (!item.dataset.event) return { ...NONE, events: Number(item.dataset.count), isPartial: true };
  const { seconds = 0, tokens = 0, dollars } = item.dataset;
  return {
    events: 1,
    seconds: Number(seconds),
    tokens: Number(tokens),
    dollars: Number(dollars ?? 0),
    failures: item.matches(".k-error, :has(.flag.error)") ? 1 : 0,
    isPartial: false,
    isUnpriced: Number(tokens) > 0 && dollars === undefined,
  };
}

function plus(one, other) {
  return Object.fromEntries(Object.entries(one).map(([name, value]) => [name, typeof value === "boolean" ? value || other[name] : value + other[name]]));
}

// Formatted like the columns (devui/web/text/formats.py).
function compact(count) {
  if (count < 1000) return String(count);
  const [value, unit] = count < 1e6 ? [count / 1000, "k"] : [count / 1e6, "M"];
  return (value < 9.995 ? value.toFixed(1) : String(Math.round(value))) + unit;
}

function money(dollars) {
  if (dollars < 0.0001) return "<$0.0001";
  return `$${dollars < 0.1 ? dollars.toFixed(4) : dollars.toFixed(2)}`;
}
