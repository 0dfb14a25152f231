// Draws the charts anew, so that they answer: values under the pointer, zoom, logarithmic axes, lines that
// come and go. What is drawn is the JSON in this page; nothing is fetched.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const { charts, learners, marks, colours } = JSON.parse(document.getElementById("data").textContent);

// The rules of scale.rs.

const SIGNED_DECADES = 6;
const power = (exponent) => Number(`1e${exponent}`);

// From values to places (0 to 1) and back. `smallest` is the smallest size above 0 of a value: with values on
// both sides of 0, a logarithmic scale is linear below it.
function makeScale(low, high, smallest, logarithmic) {
  let stretch = (value) => value;
  let shrink = (length) => length;
  let spread = "linear";
  let unit = 1;
  if (logarithmic && low > 0) {
    spread = "logarithmic";
    stretch = Math.log10;
    shrink = (length) => 10 ** length;
  } else if (logarithmic) {
    spread = "signed";
    const largest = Math.max(Math.abs(low), Math.abs(high));
    const decade = (value) => (value > 0 && value < Infinity ? Math.floor(Math.log10(value)) : 0);
    unit = power(Math.max(decade(Math.min(smallest, largest)), decade(largest) - SIGNED_DECADES));
    stretch = (value) => Math.sign(value) * Math.log10(1 + Math.abs(value) / unit);
    shrink = (length) => Math.sign(length) * unit * (10 ** Math.abs(length) - 1);
  }
  let [bottom, top] = [stretch(low), stretch(high)];
  if (!(top > bottom)) {
    const margin = bottom === 0 ? 1 : Math.abs(bottom) * 0.1;
    [bottom, top] = [bottom - margin, top + margin];
  }
  const clamp = (value) => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value));
  return {
    place: (value) => (stretch(value) / 2 - bottom / 2) / (top / 2 - bottom / 2),
    value: (place) => clamp(shrink((1 - place) * bottom + place * top)),
    ticks(wanted) {
      const [from, to] = [clamp(shrink(bottom)), clamp(shrink(top))];
      const inside = (ticks) => ticks.filter((tick) => tick >= from && tick <= to);
      if (spread === "signed") return inside(signedTicks(from, to, unit, wanted));
      if (spread === "linear") return inside(linearTicks(from, to, wanted));
      const [first, last] = [Math.floor(Math.log10(from)), Math.ceil(Math.log10(to))];
      const every = Math.floor((last - first) / (wanted + 1)) + 1;
      const decades = [];
      for (let at = first; at <= last; at += 1) decades.push(at);
      const whole = inside(decades.filter((at) => at % every === 0).map(power));
      if (whole.length >= 3) return whole;
      const parts = inside(decades.flatMap((at) => [1, 2, 5].map((digit) => digit * power(at))));
      return parts.length >= 3 ? parts : inside(linearTicks(from, to, wanted));
    },
  };
}

function linearTicks(low, high, wanted) {
  const rough = (high - low) / wanted;
  if (!(rough > 0 && rough < Infinity)) return [low];
  const size = power(Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((digit) => digit * size).find((each) => each >= rough) ?? rough;
  const ticks = [];
  for (let at = Math.ceil(low / step); at <= Math.floor(high / step); at += 1) ticks.push(at * step);
  return ticks;
}

function signedTicks(low, high, smallest, wanted) {
  const unit = Math.round(Math.log10(smallest));
  const last = (end) => (end > 0 ? Math.floor(Math.log10(end)) : unit - 1);
  const [up, down] = [last(high), last(-low)];
  // The unit itself is next to 0.
  const first = Math.max(up, down) > unit + 1 ? unit + 1 : unit;
  const decades = Math.max(0, up - first + 1) + Math.max(0, down - first + 1);
  const every = Math.floor(decades / (wanted + 1)) + 1;
  const exponents = [];
  for (let at = Math.max(up, down); at >= first; at -= every) exponents.push(at);
  const side = (end) => exponents.filter((at) => at <= end).map(power);
  return [...side(down).map((tick) => -tick), 0, ...side(up).reverse()];
}

// Numbers as people read them.

function label(tick) {
  const size = Math.abs(tick);
  const text =
    size !== 0 && (size < 1e-4 || size >= 1e6)
      ? Number(tick.toPrecision(3)).toExponential().replace("e+", "e")
      : Number(tick.toPrecision(10)).toLocaleString("en", { maximumFractionDigits: 12 });
  return text.replaceAll("-", "−");
}

function shown(value) {
  const size = Math.abs(value);
  const text = size === 0 || (size >= 1e-3 && size < 1e4) ? value.toFixed(4) : value.toExponential(3).replace("e+", "e");
  return text.replaceAll("-", "−");
}

const count = (round) => round.toLocaleString("en");

// Elements.

function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function button(text, pressed, act) {
  const element = make("button", { type: "button" }, text);
  if (pressed !== null) element.setAttribute("aria-pressed", pressed);
  element.addEventListener("click", act);
  return element;
}

// Lines.

const colourOf = (series) => (series.learner === null ? "nobody" : `c${series.learner % colours}`);
const markOf = (series) => marks[series.learner % marks.length];
const nameOf = (series) => (series.learner === null ? series.kind : learners[series.learner]);

// The last point at or before a round.
function pointAt(points, round) {
  let [first, end] = [0, points.length];
  while (first < end) {
    const middle = (first + end) >> 1;
    if (points[middle][0] <= round) first = middle + 1;
    else end = middle;
  }
  return first > 0 ? points[first - 1] : null;
}

function sample(series, withMark) {
  const line = draw("path", { class: `line ${series.dashes}`, d: "M0,7H28" });
  const group = draw("g", { class: colourOf(series) }, line);
  if (withMark) group.append(draw("path", { class: "mark", transform: "translate(14,7)", d: markOf(series) }));
  return draw("svg", { viewBox: "0 0 28 14", "aria-hidden": "true" }, group);
}

const HEIGHT = 380;
const MARGIN = { top: 10, right: 20, bottom: 52, left: 76 };
const MARKS_ON_A_LINE = 6;

class Chart {
  constructor(section, chart) {
    this.chart = chart;
    this.view = 0;
    this.logX = chart.log_x;
    this.logY = chart.log_y;
    this.hidden = new Set();
    this.window = null; // {x: [from, to], y: [from, to] or null}; null: all
    this.cursor = null; // a round
    this.drag = null;
    this.canvas = section.querySelector(".canvas");
    this.controls = make("div", { class: "controls" });
    this.legend = make("div", { class: "legend", role: "group", "aria-label": "Lines to show" });
    this.values = make("div", { class: "values", hidden: "" });
    this.spoken = make("div", { class: "unseen", "aria-live": "polite" });
    const hint = make(
      "p",
      { class: "hint" },
      "Drag over a part to enlarge it, or click and turn the wheel; double click to see all. With the keyboard: arrows, + and −, 0.",
    );
    this.canvas.before(this.controls, this.legend);
    this.canvas.after(hint, this.spoken);
    this.svg = draw("svg", {
      class: "chart",
      tabindex: "0",
      role: "application",
      "aria-label": `${chart.title}. Arrow keys read values, plus and minus zoom, 0 shows all.`,
    });
    this.canvas.replaceChildren(this.svg, this.values);
    this.listen();
    this.makeScales();
    if (chart.start > this.rounds[0]) this.window = { x: [chart.start, this.rounds[1]], y: null };
    this.fillControls();
    this.fillLegend();
    this.redraw();
    // Not within the notice: drawing changes the height of what is observed.
    const fit = () => this.canvas.clientWidth !== this.drawnFor && this.redraw();
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(this.canvas);
  }

  // Series that are shown.
  lines() {
    const { series } = this.chart.views[this.view];
    return series.filter((each) => !this.hidden.has(nameOf(each)) && !this.hidden.has(each.kind));
  }

  fillControls() {
    const again = (change) => () => {
      change();
      this.fillControls();
      this.redraw();
    };
    // Focus stays where it is, though the buttons are new.
    const at = [...this.controls.children].indexOf(document.activeElement);
    const { views } = this.chart;
    const buttons = views.length > 1
      ? views.map((view, number) =>
          button(view.name, number === this.view, again(() => {
            this.view = number;
            if (this.window) this.window.y = null;
          })))
      : [];
    const axis = (name, key) =>
      button(name, this[key], again(() => {
        this[key] = !this[key];
        if (this.window) this.window.y = null;
      }));
    this.reset = button("show all", null, () => this.zoomOut());
    this.reset.disabled = this.window === null;
    const gap = () => make("span", { class: "gap" });
    if (buttons.length > 0) buttons.push(gap());
    this.controls.replaceChildren(...buttons, axis("log rounds", "logX"), axis("log values", "logY"), gap(), this.reset);
    if (at >= 0) this.controls.children[at].focus();
  }

  fillLegend() {
    const { series } = this.chart.views[0];
    const first = (key) => [...new Map([...series].reverse().map((each) => [key(each), each])).values()].reverse();
    const kinds = first((each) => each.kind);
    const entry = (text, icon) => {
      const element = button("", !this.hidden.has(text), () => {
        if (!this.hidden.delete(text)) this.hidden.add(text);
        element.setAttribute("aria-pressed", !this.hidden.has(text));
        this.redraw();
      });
      element.append(icon, make("span", { title: text }, text));
      return element;
    };
    const ofLearners = series.filter((each) => each.learner !== null);
    const own = [...new Set(ofLearners.map((each) => each.learner))].map((learner) => {
      const line = ofLearners.find((each) => each.learner === learner);
      return entry(learners[learner], sample(line, true));
    });
    const shared = kinds.filter((each) => kinds.length > 1 && (each.learner === null || kinds.length > 2));
    const ofKinds = shared.map((each) => entry(each.kind, sample({ ...each, learner: null }, false)));
    this.legend.replaceChildren(...own, ...ofKinds);
  }

  makeScales() {
    const lines = this.lines();
    const extent = (values) => {
      let [low, high, smallest] = [Infinity, -Infinity, Infinity];
      for (const value of values) {
        low = Math.min(low, value);
        high = Math.max(high, value);
        if (value !== 0) smallest = Math.min(smallest, Math.abs(value));
      }
      return low <= high ? [low, high, smallest] : [0, 1, 1];
    };
    const rounds = extent(lines.flatMap((each) => each.points.map((point) => point[0])));
    this.rounds = rounds;
    const [from, to] = this.window?.x ?? rounds;
    this.x = makeScale(from, to, rounds[2], this.logX);
    const inside = lines.flatMap((each) => {
      // With the value that a line has where the part begins.
      const enters = pointAt(each.points, from);
      const points = each.points.filter((point) => point[0] >= from && point[0] <= to);
      return (enters ? [enters, ...points] : points).map((point) => point[1]);
    });
    const values = extent(inside);
    if (this.window?.y) {
      this.y = makeScale(...this.window.y, values[2], this.logY);
    } else {
      const whole = makeScale(...values, this.logY);
      // Zoomed windows and this margin must not change the kind of scale: no 0 where there was none.
      this.y = makeScale(whole.value(-0.04), whole.value(1.04), values[2], this.logY);
    }
  }

  redraw() {
    this.drawnFor = this.canvas.clientWidth;
    const width = Math.max(320, this.drawnFor);
    this.box = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: HEIGHT - MARGIN.bottom };
    this.makeScales();
    this.reset.disabled = this.window === null;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const { left, right, top, bottom } = this.box;
    const size = { x: left, y: top, width: right - left, height: bottom - top };
    const clip = `clip-${this.chart.id}`;
    const lines = this.lines().map((each) => this.drawSeries(each, clip));
    this.over = draw("g");
    this.surface = draw("rect", { class: "surface", ...size });
    const clipped = draw("clipPath", { id: clip }, draw("rect", size));
    this.svg.replaceChildren(clipped, ...this.drawAxes(), ...lines, this.over, this.surface);
    this.showValues(false);
  }

  atX(round) {
    return this.box.left + this.x.place(round) * (this.box.right - this.box.left);
  }

  atY(value) {
    return this.box.bottom - this.y.place(value) * (this.box.bottom - this.box.top);
  }

  drawAxes() {
    const { left, right, top, bottom } = this.box;
    const parts = [];
    for (const tick of this.y.ticks(6)) {
      const y = this.atY(tick);
      parts.push(draw("path", { class: "grid", d: `M${left},${y}H${right}` }));
      parts.push(draw("text", { class: "end", x: left - 8, y: y + 4.5 }, label(tick)));
    }
    const wanted = Math.max(3, Math.round((right - left) / 100));
    for (const tick of this.x.ticks(wanted).filter(Number.isInteger)) {
      const x = this.atX(tick);
      parts.push(draw("path", { class: "grid", d: `M${x},${top}V${bottom}` }));
      parts.push(draw("text", { class: "middle", x, y: bottom + 18 }, label(tick)));
    }
    parts.push(draw("path", { class: "axis", d: `M${left},${top}V${bottom}H${right}` }));
    const middle = (left + right) / 2;
    parts.push(draw("text", { class: "middle", x: middle, y: bottom + 40 }, "round (examples with a label)"));
    const turned = `translate(16,${(top + bottom) / 2}) rotate(-90)`;
    parts.push(draw("text", { class: "middle", transform: turned }, this.chart.views[this.view].unit));
    if (this.lines().length === 0) {
      parts.push(draw("text", { class: "middle", x: middle, y: (top + bottom) / 2 }, "nothing to show"));
    }
    return parts;
  }

  drawSeries(series, clip) {
    const bound = (place) => Math.max(-1e5, Math.min(1e5, place)).toFixed(1);
    const places = series.points.map(([round, value]) => [this.atX(round), this.atY(value)]);
    const d = places.map(([x, y], at) => `${at === 0 ? "M" : "L"}${bound(x)},${bound(y)}`).join("");
    const line = draw("path", { class: `line ${series.dashes}`, "clip-path": `url(#${clip})`, d });
    const group = draw("g", { class: colourOf(series) }, line);
    const { left, right, top, bottom } = this.box;
    const visible = places.filter(([x, y]) => x >= left - 1 && x <= right + 1 && y >= top - 1 && y <= bottom + 1);
    if (series.learner === null || visible.length === 0) return group;
    const marked = new Set();
    for (let mark = 0; mark < MARKS_ON_A_LINE; mark += 1) {
      const share = (mark + (series.learner + 0.5) / learners.length) / MARKS_ON_A_LINE;
      const wanted = left + share * (right - left);
      const far = (place) => Math.abs(place[0] - wanted);
      marked.add(visible.reduce((best, place) => (far(place) < far(best) ? place : best)));
    }
    for (const [x, y] of marked) {
      group.append(draw("path", { class: "mark", transform: `translate(${bound(x)},${bound(y)})`, d: markOf(series) }));
    }
    return group;
  }

  // The values of all lines at the cursor.
  showValues(speak) {
    this.over.replaceChildren();
    const lines = this.lines();
    const [from, to] = this.window?.x ?? this.rounds;
    if (this.cursor === null || this.cursor < from || this.cursor > to || lines.length === 0) {
      this.values.hidden = true;
      return;
    }
    const x = this.atX(this.cursor);
    const { left, right, top, bottom } = this.box;
    this.over.append(draw("path", { class: "cursor", d: `M${x},${top}V${bottom}` }));
    const kinds = [...new Set(lines.filter((each) => each.learner !== null).map((each) => each.kind))];
    const rows = new Map();
    const said = [];
    for (const series of lines) {
      const point = pointAt(series.points, this.cursor);
      if (point === null) continue;
      const [round, value] = point;
      const y = this.atY(value);
      if (round === this.cursor && y >= top - 1 && y <= bottom + 1) {
        const dot = draw("circle", { class: "mark", cx: x, cy: y, r: 4 });
        this.over.append(draw("g", { class: colourOf(series) }, dot));
      }
      const name = nameOf(series);
      if (!rows.has(name)) rows.set(name, { series, cells: kinds.map(() => "") });
      const text = shown(value) + (round === this.cursor ? "" : ` at ${count(round)}`);
      rows.get(name).cells[Math.max(0, kinds.indexOf(series.kind))] = text;
      said.push(`${name}${kinds.length > 1 ? `, ${series.kind}` : ""}: ${text}`);
    }
    const head = make("tr", {}, make("th", {}, `round ${count(this.cursor)}`));
    head.append(...kinds.map((kind) => make("td", {}, kinds.length > 1 ? kind : "")));
    const table = make("table", {}, make("thead", {}, head));
    for (const [name, { series, cells }] of rows) {
      const icon = draw("svg", { viewBox: "-6 -6 12 12", "aria-hidden": "true" });
      if (series.learner !== null) {
        icon.append(draw("g", { class: colourOf(series) }, draw("path", { class: "mark", d: markOf(series) })));
      }
      const row = make("tr", {}, make("th", {}, icon, name), ...cells.map((cell) => make("td", {}, cell)));
      table.append(row);
    }
    this.values.replaceChildren(table);
    this.values.hidden = false;
    // Beside the line, on the side where there is room.
    const scale = this.svg.clientWidth / (right + MARGIN.right);
    const isLeft = x < (left + right) / 2;
    this.values.style.left = isLeft ? `${(x + 12) * scale}px` : "auto";
    this.values.style.right = isLeft ? "auto" : `${(right + MARGIN.right - x + 12) * scale}px`;
    if (speak) this.spoken.textContent = `Round ${count(this.cursor)}. ${said.join("; ")}`;
  }

  // Zoom.

  zoom(x, y) {
    const [first, last] = this.rounds;
    const [from, to] = [Math.max(first, x[0]), Math.min(last, x[1])];
    // A part that holds less than a round shows nothing.
    if (!(to - from >= 1)) return;
    this.window = from <= first && to >= last && y === null ? null : { x: [from, to], y };
    this.redraw();
  }

  zoomAbout(round, factor) {
    const place = this.x.place(round);
    const [from, to] = [place - place * factor, place + (1 - place) * factor];
    this.zoom([this.x.value(from), this.x.value(to)], null);
  }

  zoomOut() {
    this.window = null;
    this.redraw();
  }

  // The pointer and the keyboard.

  placeOf(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
    const { left, right, top, bottom } = this.box;
    return { x: clamp(point.x, left, right), y: clamp(point.y, top, bottom) };
  }

  roundAt(x) {
    return this.x.value((x - this.box.left) / (this.box.right - this.box.left));
  }

  valueAt(y) {
    return this.y.value((this.box.bottom - y) / (this.box.bottom - this.box.top));
  }

  // The rounds of all points that are shown, in order.
  stops() {
    const [from, to] = this.window?.x ?? this.rounds;
    const rounds = new Set(this.lines().flatMap((each) => each.points.map((point) => point[0])));
    return [...rounds].filter((round) => round >= from && round <= to).sort((one, other) => one - other);
  }

  pointTo(x) {
    const far = (round) => Math.abs(this.atX(round) - x);
    this.cursor = this.stops().reduce((best, round) => (best === null || far(round) < far(best) ? round : best), null);
    this.showValues(false);
  }

  listen() {
    const { svg } = this;
    const isInside = (event) => event.target === this.surface;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !isInside(event)) return;
      svg.focus({ preventScroll: true });
      if (event.pointerType === "mouse") svg.setPointerCapture(event.pointerId);
      this.drag = { from: this.placeOf(event) };
    });
    svg.addEventListener("pointermove", (event) => {
      const place = this.placeOf(event);
      if (this.drag !== null && event.pointerType === "mouse") {
        this.drag.to = place;
        this.drawSelection();
      } else if (isInside(event)) {
        this.pointTo(place.x);
      }
    });
    svg.addEventListener("pointerup", (event) => {
      const drag = this.drag;
      this.drag = null;
      if (drag?.to) this.zoomTo(drag);
      else if (isInside(event)) this.pointTo(this.placeOf(event).x);
    });
    svg.addEventListener("pointercancel", () => {
      this.drag = null;
      this.showValues(false);
    });
    svg.addEventListener("pointerleave", () => {
      if (this.drag !== null) return;
      this.cursor = null;
      this.showValues(false);
    });
    svg.addEventListener("dblclick", () => this.zoomOut());
    svg.addEventListener("wheel", (event) => {
      // Until the chart is clicked, the wheel scrolls the page.
      if (document.activeElement !== svg && !event.ctrlKey) return;
      event.preventDefault();
      this.zoomAbout(this.roundAt(this.placeOf(event).x), event.deltaY > 0 ? 1.25 : 0.8);
    }, { passive: false });
    svg.addEventListener("keydown", (event) => this.press(event));
    svg.addEventListener("blur", () => {
      this.cursor = null;
      this.showValues(false);
    });
  }

  // What is being dragged over: a part in both directions, or of the rounds alone if it is flat.
  selection({ from, to }) {
    const isFlat = Math.abs(to.y - from.y) < 20;
    const { top, bottom } = this.box;
    const [y1, y2] = isFlat ? [top, bottom] : [Math.min(from.y, to.y), Math.max(from.y, to.y)];
    return { isFlat, x1: Math.min(from.x, to.x), x2: Math.max(from.x, to.x), y1, y2 };
  }

  drawSelection() {
    const { x1, x2, y1, y2 } = this.selection(this.drag);
    this.over.replaceChildren(draw("rect", { class: "selection", x: x1, y: y1, width: x2 - x1, height: y2 - y1 }));
    this.values.hidden = true;
  }

  zoomTo(drag) {
    const { isFlat, x1, x2, y1, y2 } = this.selection(drag);
    this.over.replaceChildren();
    if (x2 - x1 < 6) return;
    this.zoom([this.roundAt(x1), this.roundAt(x2)], isFlat ? null : [this.valueAt(y2), this.valueAt(y1)]);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const stops = this.stops();
    const step = event.shiftKey ? 10 : 1;
    const at = stops.indexOf(this.cursor);
    const moves = {
      ArrowLeft: at < 0 ? stops.length - 1 : at - step,
      ArrowRight: at < 0 ? 0 : at + step,
      Home: 0,
      End: stops.length - 1,
    };
    if (event.key in moves && stops.length > 0) {
      this.cursor = stops[Math.max(0, Math.min(stops.length - 1, moves[event.key]))];
      this.showValues(true);
    } else if (event.key === "+" || event.key === "=") {
      this.zoomAbout(this.cursor ?? this.x.value(0.5), 0.8);
    } else if (event.key === "-") {
      this.zoomAbout(this.cursor ?? this.x.value(0.5), 1.25);
    } else if (event.key === "0" || event.key === "Escape") {
      if (event.key === "Escape") this.cursor = null;
      this.zoomOut();
    } else {
      return;
    }
    event.preventDefault();
  }
}

for (const chart of charts) new Chart(document.getElementById(chart.id), chart);
