// Ranks names by how well a text matches them: their beginning, the beginnings of words, a part, the letters in order. Matches
// of an entry's synonyms rank last.

export function ranked(entries, text) {
  const words = text.toLowerCase().split(/\s+/);
  return entries
    .map((entry) => [score(entry.name.toLowerCase(), words) || (entry.synonyms && score(entry.synonyms, words)) / 10, entry])
    .filter(([points]) => points)
    .sort(([left], [right]) => right - left)
    .map(([, entry]) => entry);
}

function score(name, words) {
  return name.startsWith(words.join(" ")) ? 5 : Math.min(...words.map((word) => points(name, word)));
}

function points(name, word) {
  const place = name.indexOf(word);
  if (place >= 0) return /\W$|^$/.test(name.slice(0, place)) ? 4 : 2;
  return follows(name, word) ? 1 : 0;
}

// Whether the letters of a word occur in a name in this order, each at the beginning of a word or right after the one before.
function follows(name, word) {
  let last = -1;
  for (const letter of word) {
    let place = last + 1;
    if (last < 0 || name[place] !== letter) {
      place = [...name].findIndex((each, at) => at > last && each === letter && (at === 0 || /\W/.test(name[at - 1])));
    }
    if (place < 0) return false;
    last = place;
  }
  return true;
}
