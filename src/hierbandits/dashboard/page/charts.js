// Charts as SVG, drawn for the width that there is: text keeps its size on a phone and on paper.

import { el, narrowName, svg } from "./dom.js";
import { number, ticks, timeTicks } from "./format.js";

const HEIGHT = 230;

function scale(from, to, low, high) {
  const span = to - from || 1;
  return (value) => low + ((value - from) / span) * (high - low);
}

// The lowest and the highest of some numbers, with a little room.
export function reach(values, room = 0.06) {
  const known = values.filter((one) => Number.isFinite(one));
  if (!known.length) return [0, 1];
  let [low, high] = [Math.min(...known), Math.max(...known)];
  if (low === high) [low, high] = [low - Math.abs(low) * 0.1 - 0.5, high + Math.abs(high) * 0.1 + 0.5];
  return [low - room * (high - low), high + room * (high - low)];
}

function frame(width, xs, ys, { xLabel, yLabel, isTime = false, yTicks = null }) {
  const yMarks = yTicks ?? ticks(...ys, 5);
  const left = 14 + 7 * Math.max(...yMarks.map((one) => one.text.length), 2);
  const [right, top, bottom] = [8, 26, 42];
  const x = scale(...xs, left, width - right);
  const y = scale(...ys, HEIGHT - bottom, top);
  const count = Math.max(2, Math.floor((width - left) / 90));
  const xMarks = isTime ? timeTicks(...xs, count) : ticks(...xs, count);
  const root = svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` });
  for (const { value, text } of yMarks) {
    root.append(
      svg("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, text),
    );
  }
  for (const { value, text } of xMarks) {
    root.append(
      svg("line", { class: "axis", x1: x(value), x2: x(value), y1: HEIGHT - bottom, y2: HEIGHT - bottom + 5 }),
      svg("text", { class: "x", x: Math.min(x(value), width - 3.5 * text.length), y: HEIGHT - bottom + 18, "text-anchor": "middle" }, text),
    );
  }
  root.append(
    svg("text", { x: 0, y: 12 }, yLabel),
    svg("text", { x: width - right, y: HEIGHT - 4, "text-anchor": "end" }, xLabel),
  );
  return { root, x, y, left, right: width - right, top, bottom: HEIGHT - bottom };
}

// Lines over time; points are {x, y, low, high, title}, series are {name, color, dash, points}.
export function lines(width, series, labels) {
  const all = series.flatMap((one) => one.points);
  const times = all.map((one) => one.x);
  const xs = times.length > 1 && Math.min(...times) < Math.max(...times)
    ? [Math.min(...times), Math.max(...times)] : [times[0] - 60, times[0] + 60];
  const box = frame(width, xs, labels.ys ?? reach(all.flatMap((one) => [one.low ?? one.y, one.high ?? one.y])), { ...labels, isTime: true });
  const path = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");
  for (const { color, points } of series) {
    const edge = points.filter((one) => one.low !== undefined);
    if (edge.length > 1) {
      const top = edge.map((one) => [box.x(one.x), box.y(one.high)]);
      const base = edge.map((one) => [box.x(one.x), box.y(one.low)]).reverse();
      box.root.append(svg("path", { class: `band f ${color}`, d: `${path([...top, ...base])}Z` }));
    }
  }
  for (const { color, dash, points } of series) {
    box.root.append(svg("path", {
      class: `line s ${color}`, "stroke-dasharray": dash ?? null, d: path(points.map((one) => [box.x(one.x), box.y(one.y)])),
    }));
    for (const one of points) {
      if (points.length <= 2 && one.low !== undefined) {
        box.root.append(svg("line", { class: `s ${color}`, "stroke-width": 2, x1: box.x(one.x), x2: box.x(one.x), y1: box.y(one.low), y2: box.y(one.high) }));
      }
      if (points.length <= 40) box.root.append(svg("circle", { class: `f ${color}`, cx: box.x(one.x), cy: box.y(one.y), r: 2.5 }));
    }
  }
  addHits(box, all);
  return box.root;
}

// A column for each moment that says its numbers when pointed at.
function addHits(box, points) {
  const byTime = Map.groupBy ? Map.groupBy(points, (one) => one.x) : group(points);
  const times = [...byTime.keys()].sort((a, b) => a - b);
  times.forEach((time, i) => {
    const from = i ? (box.x(times[i - 1]) + box.x(time)) / 2 : box.left;
    const to = i + 1 < times.length ? (box.x(time) + box.x(times[i + 1])) / 2 : box.right;
    const words = byTime.get(time).map((one) => one.title).join("\n");
    box.root.append(svg("rect", { class: "hit", x: from, width: Math.max(to - from, 0), y: box.top, height: box.bottom - box.top }, svg("title", {}, words)));
  });
}

function group(points) {
  const found = new Map();
  for (const one of points) found.set(one.x, [...(found.get(one.x) ?? []), one]);
  return found;
}

// Shares that add up to one, a column for each span of time; columns are {x, parts: [share], title}.
export function stacks(width, columns, step, labels) {
  const xs = [columns[0].x, columns.at(-1).x + step];
  const marks = [0, 0.25, 0.5, 0.75, 1].map((value) => ({ value, text: `${100 * value} %` }));
  const box = frame(width, xs, [0, 1], { ...labels, isTime: true, yTicks: marks });
  for (const { x, parts, title } of columns) {
    let sum = 0;
    const [from, to] = [box.x(x), box.x(x + step)];
    parts.forEach((share, i) => {
      if (share > 0) {
        box.root.append(svg("rect", {
          class: `f c${i % 9}`, x: from, width: Math.max(to - from - (to - from > 4 ? 1 : 0), 0.5),
          y: box.y(sum + share), height: Math.max(box.y(sum) - box.y(sum + share) - 0.5, 0.3),
        }));
      }
      sum += share;
    });
    box.root.append(svg("rect", { class: "hit", x: from, width: to - from, y: box.top, height: box.bottom - box.top }, svg("title", {}, title)));
  }
  return box.root;
}

// What was predicted against what came; points are {x, left, right, y, low, high, size, title}.
export function calibration(width, points, labels) {
  const span = reach(points.flatMap((one) => [one.x, one.y]), 0.12);
  const box = frame(width, span, reach([...points.flatMap((one) => [one.low, one.high]), ...span], 0.02), labels);
  const clip = (value) => Math.min(Math.max(value, box.left), box.right);
  box.root.append(svg("line", { class: "ref", x1: box.x(span[0]), y1: box.y(span[0]), x2: box.x(span[1]), y2: box.y(span[1]) }));
  for (const one of points) {
    box.root.append(
      svg("line", { class: "s c8", "stroke-width": 1.5, x1: clip(box.x(one.left)), x2: clip(box.x(one.right)), y1: box.y(one.y), y2: box.y(one.y) }),
      svg("line", { class: "s c0", "stroke-width": 2, x1: box.x(one.x), x2: box.x(one.x), y1: box.y(one.low), y2: box.y(one.high) }),
      svg("circle", { class: "f c0", cx: box.x(one.x), cy: box.y(one.y), r: one.size }, svg("title", {}, one.title)),
    );
  }
  return box.root;
}

// Columns with a text below each: bars are {text, value, title}.
export function columns(width, bars, labels) {
  const ys = [0, Math.max(...bars.map((one) => one.value), 1) * 1.05];
  const box = frame(width, [0, bars.length], ys, { ...labels, xLabel: "" });
  box.root.querySelectorAll("text.x").forEach((one) => one.remove());
  const each = (box.right - box.left) / bars.length;
  const every = Math.ceil(74 / each);
  bars.forEach(({ text, value, title }, i) => {
    box.root.append(svg("rect", { class: "f c0", x: box.left + i * each + 1, width: Math.max(each - 2, 1), y: box.y(value), height: box.bottom - box.y(value) }, svg("title", {}, title)));
    if (i % every === 0) box.root.append(svg("text", { x: box.left + (i + 0.5) * each, y: box.bottom + 16, "text-anchor": "middle" }, text));
  });
  box.root.append(svg("text", { x: box.right, y: HEIGHT - 4, "text-anchor": "end" }, labels.xLabel));
  return box.root;
}

// A row for each name, all on one axis: marks are {shape, color, mean, low, high, title}, ticks are
// small strokes, and a bar goes from 0 to its value.
export function rows(width, items, { xLabel, xs = null, tone = "c8" }) {
  const values = items.flatMap((one) => [
    ...one.marks.flatMap((mark) => [mark.mean, mark.low, mark.high]), ...(one.strokes ?? []),
  ]).filter((value) => value !== null && value !== undefined);
  const span = xs ?? reach(values);
  const height = 16 + 12 * Math.max(...items.map((one) => one.marks.length), 1);
  const { label, room } = split(width, items);
  const x = scale(...span, 6, room - 6);
  const marksAt = ticks(...span, Math.max(3, Math.floor(room / 80)));
  const line = (inner) => svg("svg", { viewBox: `0 0 ${room} ${height}`, height, width: room },
    marksAt.map(({ value }) => svg("line", { class: "axis", x1: x(value), x2: x(value), y1: 0, y2: height })), inner);
  const cells = items.flatMap((item) => [
    narrowName(item.name),
    line([
      (item.strokes ?? []).map((value) => svg("line", { class: `s ${tone}`, "stroke-opacity": 0.55, x1: x(value), x2: x(value), y1: 3, y2: 9 })),
      item.marks.map((mark, i) => drawMark(mark, x, 11 + 12 * i + (height - 12 * item.marks.length) / 4)),
    ]),
  ]);
  return beside(label, room, cells, marksAt, x, xLabel);
}

// How much of a width the names have, and how much the picture.
function split(width, items) {
  const longest = Math.max(...items.map((one) => [...String(one.name)].length), 3);
  const label = Math.ceil(Math.min(longest * 9.8 + 4, 224, width * 0.34));
  return { label, room: Math.floor(width - label - 12) };
}

// Names and pictures beside each other, with one axis below.
function beside(label, room, cells, marksAt, x, xLabel) {
  const axis = svg("svg", { viewBox: `0 0 ${room} 34`, height: 34, width: room },
    marksAt.map(({ value, text }) => svg("text", { x: Math.min(Math.max(x(value), 3.5 * text.length), room - 3.5 * text.length), y: 12, "text-anchor": "middle" }, text)),
    svg("text", { x: room - 2, y: 30, "text-anchor": "end" }, xLabel));
  const box = el("div", { class: "rows" }, cells, el("span"), axis);
  box.style.gridTemplateColumns = `${label}px ${room}px`;
  return box;
}

function drawMark({ shape, color, mean, low, high, title }, x, y) {
  if (mean === null || mean === undefined) return [];
  const parts = [];
  if (low !== undefined && low !== null) {
    parts.push(svg("line", { class: `s ${color}`, "stroke-width": 3, "stroke-linecap": "round", "stroke-opacity": 0.6, x1: x(low), x2: x(high), y1: y, y2: y }));
  }
  const shapes = {
    dot: () => svg("circle", { class: `f ${color}`, cx: x(mean), cy: y, r: 4.5 }),
    ring: () => svg("circle", { class: `s ${color}`, fill: "none", "stroke-width": 2, cx: x(mean), cy: y, r: 4 }),
    diamond: () => svg("path", { class: `f ${color}`, d: `M${x(mean)} ${y - 5.5}l5.5 5.5-5.5 5.5-5.5-5.5z` }),
    star: () => svg("path", { class: `f ${color}`, d: `M${x(mean)} ${y - 6}l6 12h-12z` }),
  };
  const drawn = shapes[shape]();
  drawn.append(svg("title", {}, title ?? number(mean)));
  return [...parts, drawn];
}

// Two parts of a whole for each name: items are {name, parts: [number], title}.
export function halves(width, items, { xLabel }) {
  const { label, room } = split(width, items);
  const most = Math.max(...items.map((one) => one.parts[0] + one.parts[1]), 1e-300);
  const x = scale(0, most, 4, room - 8);
  const cells = items.flatMap(({ name, parts, title }) => [
    narrowName(name),
    svg("svg", { viewBox: `0 0 ${room} 20`, height: 20, width: room },
      svg("rect", { class: "f c0", x: 4, y: 4, height: 12, width: Math.max(x(parts[0]) - 4, 0) }),
      svg("rect", { class: "f c1", x: x(parts[0]), y: 4, height: 12, width: Math.max(x(parts[0] + parts[1]) - x(parts[0]), 0) }),
      svg("rect", { class: "hit", x: 0, y: 0, width: room, height: 20 }, svg("title", {}, title))),
  ]);
  return beside(label, room, cells, ticks(0, most, Math.max(3, Math.floor(room / 80))), x, xLabel);
}

export function key(color, name, shape = "square", dash = null) {
  const shapes = {
    square: () => svg("rect", { class: `f ${color}`, x: 1, y: 3, width: 12, height: 10 }),
    line: () => svg("line", { class: `s ${color}`, "stroke-width": 3, "stroke-dasharray": dash, x1: 0, x2: 22, y1: 8, y2: 8 }),
    dot: () => svg("circle", { class: `f ${color}`, cx: 7, cy: 8, r: 5 }),
    ring: () => svg("circle", { class: `s ${color}`, fill: "none", "stroke-width": 2, cx: 7, cy: 8, r: 4.5 }),
    diamond: () => svg("path", { class: `f ${color}`, d: "M7 2l6 6-6 6-6-6z" }),
    star: () => svg("path", { class: `f ${color}`, d: "M7 2l6 12h-12z" }),
    stroke: () => svg("line", { class: `s ${color}`, "stroke-width": 2, x1: 7, x2: 7, y1: 3, y2: 13 }),
  };
  return el("li", {}, svg("svg", { width: shape === "line" ? 22 : 14, height: 16, "aria-hidden": "true" }, shapes[shape]()), el("span", { dir: "auto", title: name }, name));
}
