// A rewind takes back any number of events, or gives them back: what of them is on the page gets its mark, or loses it.
import { each } from "./connected.js";

// What may show an event, in the order of the marks that come along: how the ids of its slot and of the mark begin.
const PLACES = [["e", "tb"], ["m", "tm"], ["taken", "td"]];

export function connect(root) {
  each(root, "#taken-news > [data-taken-first]", renew);
}

function renew(news) {
  const { takenFirst, takenLast } = news.dataset, marks = news.querySelectorAll("template");
  PLACES.forEach(([slot, name], place) => {
    for (const [element, number] of shown(slot)) {
      if (number < Number(takenFirst) || number > Number(takenLast)) continue;
      document.getElementById(`${name}-${number}`)?.remove();
      if (marks.length) put(marks[place], element, `${name}-${number}`);
    }
  });
}

function* shown(slot) {
  for (const element of document.querySelectorAll(`[id^="${slot}-"]`)) {
    const number = element.id.slice(slot.length + 1);
    if (/^\d+$/.test(number)) yield [element, Number(number)];
  }
}

function put(template, element, id) {
  const mark = template.content.firstElementChild.cloneNode(true);
  mark.id = id;
  element.prepend(mark);
  window.htmx.process(mark);
}
