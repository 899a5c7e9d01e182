// The texts of the page whose contrast to what is behind them is less than 4.5 (WCAG AA).
() => {
  const LEAST = 4.5;
  const LEFT_OUT = ".sr, .skip, [aria-hidden], [hidden], [disabled], [aria-disabled]";
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

  const paint = (colors) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };

  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => linear(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };

  const behind = (element) => {
    const colors = [];
    for (let up = element; up; up = up.parentElement) colors.unshift(getComputedStyle(up).backgroundColor);
    return ["white", ...colors];
  };

  const contrast = (element) => {
    const ground = behind(element);
    const ink = [...ground, getComputedStyle(element).color];
    const [low, high] = [paint(ground), paint(ink)].map(luminance).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };

  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    const element = walker.currentNode.parentElement;
    if (!text || element.closest(LEFT_OUT) || !element.checkVisibility({ visibilityProperty: true })) continue;
    const ratio = contrast(element);
    if (ratio < LEAST) found.add(`${element.className || element.localName}: ${ratio.toFixed(2)} for "${text.slice(0, 20)}"`);
  }
  return [...found];
}
