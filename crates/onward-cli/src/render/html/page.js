// Lets the charts answer: values under the pointer or by keyboard, and buttons for other views. All is laid out
// already; what is read out is the JSON in this page.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const { charts, learners } = JSON.parse(document.getElementById("data").textContent);

const count = (round) => round.toLocaleString("en");

function shown(value) {
  const size = Math.abs(value);
  const text = size === 0 || (size >= 1e-3 && size < 1e4) ? value.toFixed(4) : value.toExponential(3).replace("e+", "e");
  return text.replaceAll("-", "−");
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const make = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const draw = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

// The position of the last point at or before a round; −1: there is none.
function lastBefore(points, round) {
  let [first, end] = [0, points.length];
  while (first < end) {
    const middle = (first + end) >> 1;
    if (points[middle][0] <= round) first = middle + 1;
    else end = middle;
  }
  return first - 1;
}

// Reads out a view.
class ReadOut {
  constructor(canvas, view, title) {
    Object.assign(this, { canvas, view, svg: canvas.querySelector("svg"), round: null });
    const places = view.series.flatMap(({ points, places }) => points.map(([round], at) => [round, places[at][0]]));
    this.stops = [...new Map(places)].sort((one, other) => one[0] - other[0]);
    this.over = this.svg.appendChild(draw("g"));
    this.values = canvas.appendChild(make("div", { class: "values", hidden: "" }));
    this.spoken = canvas.appendChild(make("div", { class: "unseen", "aria-live": "polite" }));
    fill(this.svg, { tabindex: "0", role: "application", "aria-label": `${title}. Arrow keys read values.` }, []);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerdown", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.show(null));
    this.svg.addEventListener("blur", () => this.show(null));
    this.svg.addEventListener("keydown", (event) => this.press(event));
  }

  point(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    const far = (stop) => Math.abs(stop[1] - at.x);
    const nearest = this.stops.reduce((best, stop) => (best === null || far(stop) < far(best) ? stop : best), null);
    this.show(nearest);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.stops.length - 1;
    const at = this.stops.findIndex(([round]) => round === this.round);
    const step = event.shiftKey ? 10 : 1;
    const moves = { ArrowLeft: at < 0 ? last : at - step, ArrowRight: at + step, Home: 0, End: last };
    if (event.key === "Escape") this.show(null);
    if (!(event.key in moves) || last < 0) return;
    this.show(this.stops[Math.max(0, Math.min(last, moves[event.key]))]);
    this.spoken.textContent = this.values.textContent;
    event.preventDefault();
  }

  // The values of all lines at a stop, or none.
  show(stop) {
    this.over.replaceChildren();
    this.values.hidden = stop === null;
    this.round = stop?.[0] ?? null;
    if (stop === null) return;
    const [round, x] = stop;
    const [left, top, right, bottom] = this.view.frame;
    this.over.append(draw("path", { class: "cursor", d: `M${x},${top}V${bottom}` }));
    const kinds = [...new Set(this.view.series.filter((each) => each.learner !== null).map((each) => each.kind))];
    const rows = new Map();
    for (const series of this.view.series) {
      const at = lastBefore(series.points, round);
      if (at < 0) continue;
      const [at_round, value] = series.points[at];
      const isHere = at_round === round;
      if (isHere) {
        const dot = draw("circle", { class: "mark", cx: x, cy: series.places[at][1], r: 4 });
        this.over.append(draw("g", { class: series.class }, dot));
      }
      const name = series.learner === null ? series.kind : learners[series.learner];
      if (!rows.has(name)) rows.set(name, { class: series.class, cells: kinds.map(() => "") });
      rows.get(name).cells[Math.max(0, kinds.indexOf(series.kind))] =
        shown(value) + (isHere ? "" : ` at ${count(at_round)}`);
    }
    const head = make("tr", {}, make("th", {}, `round ${count(round)} `));
    head.append(...kinds.map((kind) => make("td", {}, kinds.length > 1 ? `${kind} ` : "")));
    const table = make("table", {}, make("thead", {}, head));
    for (const [name, row] of rows) {
      const title = make("th", {}, make("span", { class: `key ${row.class}` }, "●"), ` ${name} `);
      table.append(make("tr", {}, title, ...row.cells.map((cell) => make("td", {}, `${cell} `))));
    }
    this.values.replaceChildren(table);
    // Beside the line, on the side where there is room.
    const scale = this.svg.clientWidth / this.svg.viewBox.baseVal.width;
    const isLeft = x < (left + right) / 2;
    this.values.style.left = isLeft ? `${(x + 12) * scale}px` : "auto";
    this.values.style.right = isLeft ? "auto" : `${this.svg.clientWidth - (x - 12) * scale}px`;
  }
}

for (const chart of charts) {
  const canvases = [...document.getElementById(chart.id).querySelectorAll(".canvas")];
  canvases.forEach((canvas, at) => new ReadOut(canvas, chart.views[at], chart.title));
  if (canvases.length < 2) continue;
  const buttons = chart.views.map(({ name }) => make("button", { type: "button", "aria-pressed": "false" }, name));
  const choose = (chosen) =>
    canvases.forEach((canvas, at) => {
      canvas.hidden = at !== chosen;
      buttons[at].setAttribute("aria-pressed", at === chosen);
    });
  buttons.forEach((button, at) => button.addEventListener("click", () => choose(at)));
  canvases[0].before(make("div", { class: "controls" }, ...buttons));
  choose(0);
}
