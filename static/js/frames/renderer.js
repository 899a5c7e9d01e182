// Turns Mermaid's text into pictures, in a hidden frame that is sandboxed: it has an origin of its own and loads nothing. The frame
// is there while it is needed, and replaced if a diagram keeps it busy.
const BUSY = 10, IDLE = 60; // seconds
const MOST_TEXT = 20000, MOST_PICTURE = 2000000; // characters
const MOST_PIXELS = 20000; // in width and height
const MOST_PICTURES = 100, MOST_KEPT = 20000000; // pictures, and characters of them all
const pictures = new Map();
let frame = null;
let queue = Promise.resolve();
let number = 0;
let idle = 0;

// The picture as it was drawn before, if it is still known.
export function recall(source, dark) {
  return pictures.get(`${dark} ${source}`);
}

// Resolves to { src, width, height, title }, or to { problem }.
export function draw(source, dark) {
  queue = queue.then(async () => {
    const drawing = recall(source, dark) ?? await attempt(source, dark).catch((error) => ({ problem: String(error) }));
    if (!drawing.mayWorkLater) keep(`${dark} ${source}`, drawing);
    return drawing;
  });
  return queue;
}

function keep(key, drawing) {
  pictures.set(key, drawing);
  const characters = () => [...pictures.values()].reduce((sum, { src }) => sum + (src?.length ?? 0), 0);
  while (pictures.size > MOST_PICTURES || (pictures.size > 1 && characters() > MOST_KEPT)) pictures.delete(pictures.keys().next().value);
}

async function attempt(source, dark) {
  if (source.length > MOST_TEXT) return { problem: `it has more than ${MOST_TEXT.toLocaleString("en")} characters` };
  return picture(await answer({ id: ++number, source, dark }));
}

// What the frame answers is as hostile as the text that it was given.
function picture({ svg, width, height, title, problem }) {
  if (typeof problem === "string") return { problem };
  if (typeof svg !== "string" || ![width, height].every((side) => side > 0)) return { problem: "the picture is empty" };
  if (svg.length > MOST_PICTURE || Math.max(width, height) > MOST_PIXELS) return { problem: "the picture is too large" };
  return { src: `data:image/svg+xml,${encodeURIComponent(svg.toWellFormed())}`, width, height, title: typeof title === "string" ? title : "" };
}

async function answer(request) {
  clearTimeout(idle);
  frame ??= await open();
  const data = await reply(request);
  idle = setTimeout(close, IDLE * 1000);
  if (data) return data;
  close();
  return { problem: `it takes longer than ${BUSY} seconds`, mayWorkLater: true };
}

// What the frame answers; undefined if it doesn't.
function reply(request) {
  return new Promise((resolve) => {
    const settle = (data) => { removeEventListener("message", listen); clearTimeout(timer); resolve(data); };
    const listen = ({ source, data }) => { if (source === frame.contentWindow && data?.id === request.id) settle(data); };
    const timer = setTimeout(settle, BUSY * 1000);
    addEventListener("message", listen);
    frame.contentWindow.postMessage(request, "*");
  });
}

function open() {
  const element = document.createElement("iframe");
  element.className = "renderer";
  element.title = "Draws diagrams";
  element.inert = true;
  element.tabIndex = -1;
  element.setAttribute("aria-hidden", "true");
  element.setAttribute("sandbox", "allow-scripts");
  element.src = new URL("../../frames/diagram.html", import.meta.url); // relative to js/pages/frames.js, which this is joined into
  return new Promise((resolve) => {
    element.addEventListener("load", () => resolve(element), { once: true });
    document.body.append(element);
  });
}

function close() {
  frame?.remove();
  frame = null;
}
