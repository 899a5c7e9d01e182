// Draws the Mermaid diagrams that the page around this frame sends, and answers each with a picture: an SVG document. A page that
// shows it as an image runs nothing in it, so this frame is the only place where hostile text meets Mermaid.
const FONT = "ui-sans-serif, system-ui, sans-serif";
const MOST_EDGES = 400;
const MOST_TEXT = 20000; // as in js/frames/renderer.js

// Like the colors of the pages (css/colors.css).
const LIGHT = {
  background: "#ffffff", primaryColor: "#e3effa", primaryBorderColor: "#7f9fc4", primaryTextColor: "#141a22", lineColor: "#5c6675", secondaryColor: "#eceff4",
  tertiaryColor: "#f4f5f8", edgeLabelBackground: "#ffffff", noteBkgColor: "#fff5e3", noteBorderColor: "#d9a75c", noteTextColor: "#141a22",
};
const DARK = {
  background: "#151a20", primaryColor: "#16293c", primaryBorderColor: "#4b6a8f", primaryTextColor: "#e8ecf1", lineColor: "#98a4b3", secondaryColor: "#272e37",
  tertiaryColor: "#1c2229", edgeLabelBackground: "#151a20", noteBkgColor: "#2a2113", noteBorderColor: "#8a6a33", noteTextColor: "#e8ecf1",
};
const HUES = [212, 36, 152, 280, 350, 185, 95, 320, 60, 240, 20, 120];
const PLOTS = "#4f8fd6, #d9962f, #3fa878, #9a6fd0, #d6607a, #3aa0ad";
const AXES = ["x", "y"].flatMap((axis) => ["Label", "Title", "Tick", "Line"].map((part) => `${axis}Axis${part}Color`));

function colors(dark) {
  const base = dark ? DARK : LIGHT, ink = base.primaryTextColor, line = base.lineColor;
  const fills = HUES.map((hue) => `hsl(${hue}, 45%, ${dark ? 30 : 80}%)`);
  const chart = { plotColorPalette: PLOTS, backgroundColor: base.background, titleColor: ink, dataLabelColor: ink };
  for (const name of AXES) chart[name] = ink;
  return {
    ...base, ...Object.fromEntries(fills.flatMap((fill, place) => [[`cScale${place}`, fill], [`pie${place + 1}`, fill]])), darkMode: dark,
    xyChart: chart, archEdgeColor: line, archEdgeArrowColor: line, archGroupBorderColor: line,
  };
}

async function draw({ source, dark }) {
  window.mermaid.initialize({
    startOnLoad: false, securityLevel: "strict", suppressErrorRendering: true, maxTextSize: MOST_TEXT, maxEdges: MOST_EDGES, fontFamily: FONT, theme: "base",
    themeVariables: colors(dark),
  });
  try {
    const { svg } = await window.mermaid.render("diagram", source);
    return picture(new DOMParser().parseFromString(svg, "text/html").querySelector("svg"));
  } catch (error) {
    return { problem: String(error?.message ?? error) };
  }
}

// As XML, which images require; Mermaid returns HTML.
function picture(svg) {
  const [, , width = 0, height = 0] = (svg.getAttribute("viewBox") ?? "").split(" ").map(Number);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  const title = svg.querySelector(":scope > title")?.textContent;
  return { svg: new XMLSerializer().serializeToString(svg).toWellFormed(), width, height, title };
}

addEventListener("message", async ({ source, data }) => {
  if (source === parent) parent.postMessage({ id: data.id, ...await draw(data) }, "*");
});
