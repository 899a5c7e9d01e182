// An element's content line by line, without what readers and the page's behaviors do to it.
(list) => {
  const PASSING = new Set(["tabindex", "data-htmx-powered", "aria-selected", "aria-expanded"]);
  const OF_THE_READER = new Set(["paired", "selected"]);

  const told = ({ name, value }) => {
    const words = value.split(/\s+/).filter(Boolean);
    const kept = name === "class" ? words.filter((word) => !OF_THE_READER.has(word)) : words;
    return ` ${name}="${kept.join(" ")}"`;
  };

  const outline = (node, depth) => {
    const margin = " ".repeat(depth);
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.data.replace(/\s+/g, " ").trim();
      return text ? [margin + JSON.stringify(text)] : [];
    }
    if (node.nodeType !== Node.ELEMENT_NODE) return [];
    const attributes = [...node.attributes].filter(({ name }) => !PASSING.has(name)).map(told);
    const inner = node.hasAttribute("data-ago") ? [] : [...node.childNodes];
    const head = `${margin}<${node.localName}${attributes.sort().join("")}>`;
    return [head, ...inner.flatMap((child) => outline(child, depth + 1))];
  };

  return [...list.childNodes].flatMap((child) => outline(child, 0));
}
