// The secant: drag a point and a nudge along a curve, and watch the error of the slope.
//
// `FUNCTIONS` compute; tests compare them with Python, to the last bit. `mount` draws into a host: a curve as
// a whole, with the error on plain scales; or, as a microscope, the curve as near as the nudge is long, with
// the V of the errors. A moment can be linked: #secant=savings&x=3&h=0.5
import {
  calm,
  dragged,
  element,
  ground as groundIn,
  linkedTo,
  linkMoment,
  player,
  shape,
  speaker,
} from "./parts.js";

// A program, its slope, what part of it is shown, and what it is called.
export const FUNCTIONS = {
  savings: {
    f: (rate) => pay(rate).money,
    slope: (rate) => pay(rate).slope,
    range: [-0.5, 9.5],
    x: [-0.5, 5.5, 0.05],
    h: [0.01, 4],
    ticks: [
      [0, 2, 4, 6, 8],
      [0, 50000, 100000],
    ],
    names: ["rate x (percent)", "savings f(x) (euros)"],
    unit: " euros per percent",
  },
  cube: {
    f: (x) => x * x * x,
    slope: (x) => 3 * x * x,
    bend: (x) => [3 * Math.abs(x), 1], // 3 x h to the right, h² both ways
    h: [1e-16, 3],
    unit: "",
  },
};
const EPS = 2 ** -52; // the gap between 1 and the next number

// Thirty years of savings, and how their end follows the rate, carried through every line.
function pay(rate) {
  let [money, slope] = [0, 0];
  for (let year = 0; year < 30; year += 1) {
    slope = slope * (1 + rate / 100) + money / 100;
    money = money * (1 + rate / 100) + 1000;
    if (money > 20000) {
      money = money - 0.01 * (money - 20000);
      slope = 0.99 * slope;
    }
  }
  return { money, slope };
}

export const forward = (f, x, h) => (f(x + h) - f(x)) / h;
export const central = (f, x, h) => (f(x + h) - f(x - h)) / (2 * h);

// The errors of both differences, and what makes each of them: "bend" or "rounding".
export function errorsOf(name, x, h) {
  const { f, slope, bend } = FUNCTIONS[name];
  const errors = [forward(f, x, h) - slope(x), central(f, x, h) - slope(x)];
  const rounding = (EPS * Math.abs(f(x))) / h;
  const bent = bend ? [bend(x)[0] * h, bend(x)[1] * h * h] : [Infinity, Infinity];
  return { errors, causes: bent.map((by) => (by > rounding ? "the bend" : "rounding")) };
}

// The nudges of the chapter: 3, 1, 0.3 … 1e-15.
export const NUDGES = Array.from({ length: 32 }, (_, place) =>
  Number(`${place % 2 ? 1 : 3}e-${Math.floor(place / 2)}`),
);

// A number for reading: 10,384, 702, 3.46, 1.8e−10.
export function said(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  const text =
    size >= 1000
      ? Math.round(value).toLocaleString("en-US")
      : size >= 100
        ? String(Math.round(value))
        : size >= 0.001
          ? String(Number(value.toPrecision(3)))
          : value.toExponential(1).replace(".0e", "e");
  return text.replaceAll("-", "\u2212");
}

// Say what the whole curve shows.
export function sentence({ f: name, x, h, before }) {
  const { f, slope, unit } = FUNCTIONS[name];
  const excess = forward(f, x, h) - slope(x);
  const words =
    `From ${said(x)} to ${said(x + h)} percent, the savings rise by ${said(f(x + h) - f(x))} euros: ` +
    `${said(forward(f, x, h))}${unit}. The curve's own slope at ${said(x)} is ${said(slope(x))}, ` +
    `so the secant is too ${excess < 0 ? "flat" : "steep"} by ${said(Math.abs(excess))}.`;
  if (!before) return words;
  return `${words} Half the nudge left ${Math.round((100 * excess) / before)} % of the error.`;
}

// Say what the microscope shows.
export function sentenceNear({ f: name, x, h, visited }) {
  const { errors, causes } = errorsOf(name, x, h);
  if (x + h === x) {
    const words = `With h = ${said(h)}, x + h is x: the computer has no number that close to ${said(x)}.`;
    return `${words} The nudge was rounded away, and both slopes are 0.`;
  }
  const [right, both] = errors.map((error, place) =>
    error === 0 ? "exactly right, by luck" : `off by ${said(Math.abs(error))}, by ${causes[place]}`,
  );
  const lowest = [0, 1].map((place) =>
    [...visited].reduce((best, one) => (Math.abs(one[1][place]) < Math.abs(best[1][place]) ? one : best)),
  );
  const words = `With h = ${said(h)}, looking to the right is ${right}; looking both ways is ${both}.`;
  if (h < 1e-14)
    return `${words} The curve is a staircase here: the computer has no numbers between its steps.`;
  if (visited.size < 8) return words;
  return `${words} Best so far: h = ${said(lowest[0][0])} to the right, ${said(lowest[1][0])} both ways.`;
}

// Read what a link says to the picture of one function.
export function fromLink(hash, name) {
  const sent = linkedTo("secant", hash);
  if (sent?.get("secant") !== name) return null;
  const [x, h] = [Number(sent.get("x")), Number(sent.get("h"))];
  const {
    x: places = [x, x],
    h: [least, most],
  } = FUNCTIONS[name];
  return x >= places[0] && x <= places[1] && h >= least && h <= most ? { x, h } : null;
}

export const momentOf = ({ f, x, h }) => ({ secant: f, x, h });

const [WIDE, HIGH] = [340, 306];
const STYLE = `
.pair { container-type: inline-size; }
.parts { display: grid; gap: .7rem 1rem; grid-template: "curve" "bar" "say" "errors" / minmax(0, 1fr); }
.parts.near { grid-template: "curve" "errors" "say" "bar" / minmax(0, 1fr); }
.curve { grid-area: curve; } .errors { grid-area: errors; }
.parts > .bar { grid-area: bar; } .parts > .say { grid-area: say; margin: 0; min-height: 4.5em; }
@container (min-width: 560px) {
  .parts > .say { min-height: 3em; }
  .parts, .parts.near { grid-template: "curve errors" "say say" "bar bar" / 1fr 1fr; }
}
svg { display: block; width: 100%; height: auto; font-size: 14.5px; overflow: visible; }
.axis { stroke: var(--muted); stroke-width: 1; fill: none; } .rule { stroke: var(--line); }
.quiet { fill: var(--muted); } .way { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
`;
// A dot, as a part of a path.
const bead = (at, down, r) =>
  `M${(at - r).toFixed(1)} ${down.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
const BLUE = "var(--forward)";
const ORANGE = "var(--backward)";

// Draw it into a host.
export function mount(host, { f = "savings", x = 3, h = 4, near = false, linked = true } = {}) {
  const program = FUNCTIONS[f];
  const sent = linked ? fromLink(window.location.hash, f) : null;
  const state = { f, x, h, before: null, visited: new Map(), ...sent };
  const { ground } = groundIn(
    host,
    near ? "A curve under the microscope, and the error of its slope" : "A curve, a secant, and its error",
    STYLE,
  );
  const { seen, heard, tell } = speaker();
  const clip = `clip-${Math.random().toString(36).slice(2)}`;
  const [left, right, top, bottom] = [56, WIDE - 10, 26, HIGH - 52];
  const between = (from, to) => (value) => from + value * (to - from);
  const [acrossTo, downTo] = [between(left, right), between(bottom, top)];

  const text = (at, down, words, anchor = "middle", options = {}) =>
    shape("text", { x: at, y: down, "text-anchor": anchor, ...options }, words);
  const line = (options) => shape("line", options);
  const panel = (label, ...children) =>
    shape(
      "svg",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": label },
      shape(
        "clipPath",
        { id: `${clip}-${label.length}` },
        shape("rect", { x: left, y: top, width: right - left, height: bottom - top }),
      ),
      ...children,
    );
  const clipped = (label, ...children) =>
    shape("g", { "clip-path": `url(#${clip}-${label.length})` }, ...children);
  const frame = () => shape("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` });
  const dot = (colour, r = 5) => shape("circle", { r, fill: colour });
  const grip = (label, options, ...inside) =>
    shape(
      "g",
      { class: "handle", role: "slider", tabindex: 0, "aria-label": label, ...options },
      shape("circle", { r: 23, fill: "transparent" }),
      ...inside,
    );
  const ring = () =>
    shape("circle", {
      class: "ring",
      r: 10,
      fill: "var(--paper)",
      "fill-opacity": 0.7,
      stroke: "var(--primary)",
      "stroke-width": 2,
    });
  const put = (made, options) =>
    Object.entries(options).forEach(([name, value]) => made.setAttribute(name, value));
  const move = (made, at, down) => put(made, { transform: `translate(${at.toFixed(2)} ${down.toFixed(2)})` });
  const button = (words, action, options = {}) =>
    element("button", { type: "button", onclick: action, ...options }, words);
  const changed = (change) => {
    Object.assign(state, { before: null }, change);
    if (change.x !== undefined) state.visited.clear();
    linkMoment(momentOf(state), linked);
    draw();
  };
  const within = ([low, high], value) => Math.min(high, Math.max(low, value));
  const placeIn = (svg, event) => {
    const box = svg.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * WIDE, ((event.clientY - box.top) / box.height) * HIGH];
  };
  if (near) NUDGES.forEach((nudged) => state.visited.set(nudged, errorsOf(f, state.x, nudged).errors.map(Math.abs)));
  const draw = near ? microscope() : whole();

  // The whole curve, two points to drag on it, and the error on plain scales.
  function whole() {
    const [low, high] = program.range;
    const curve = Array.from({ length: 201 }, (_, place) => low + (place / 200) * (high - low)).map((at) => [
      at,
      program.f(at),
    ]);
    const most = 1.1 * Math.max(...curve.map(([, value]) => value));
    const across = (at) => acrossTo((at - low) / (high - low));
    const down = (value) => downTo(value / most);
    const [secant, tangent, legs] = [
      line({ stroke: ORANGE, "stroke-width": 2, "stroke-dasharray": "7 4" }),
      line({ stroke: "var(--ink)", "stroke-width": 1.6, "stroke-dasharray": "9 3 2 3" }),
      shape("path", { class: "axis" }),
    ];
    const [run, rise] = [
      text(0, 0, "", "middle", { class: "way" }),
      text(0, 0, "", "start", { class: "way" }),
    ];
    const point = grip(
      "The point x",
      { "aria-valuemin": program.x[0], "aria-valuemax": program.x[1] },
      ring(),
      dot(ORANGE),
    );
    const nudge = grip(
      "The nudge h",
      { "aria-valuemin": program.h[0], "aria-valuemax": program.h[1] },
      ring(),
      dot(ORANGE),
    );
    const label = "The savings, and a secant";
    const svg = panel(
      label,
      frame(),
      ...program.ticks[0].map((tick) => text(across(tick), bottom + 18, said(tick))),
      ...program.ticks[1].map((tick) => text(left - 6, down(tick) + 5, said(tick), "end")),
      text((left + right) / 2, HIGH - 10, program.names[0]),
      text(2, 14, program.names[1], "start"),
      clipped(
        label,
        shape("path", {
          fill: "none",
          stroke: BLUE,
          "stroke-width": 2.4,
          d: `M${curve.map(([at, value]) => `${across(at).toFixed(2)} ${down(value).toFixed(2)}`).join("L")}`,
        }),
        legs,
        tangent,
        secant,
      ),
      run,
      rise,
      point,
      nudge,
    );
    const setX = (value) =>
      changed({ x: within(program.x, Number((Math.round(value / program.x[2]) * program.x[2]).toFixed(2))) });
    const setH = (value) => changed({ h: within(program.h, Number(value.toFixed(value < 0.1 ? 3 : 2))) });
    const at = (event) => low + ((placeIn(svg, event)[0] - left) / (right - left)) * (high - low);
    const by = (amount) => ({
      ArrowLeft: () => setX(state.x - amount),
      ArrowDown: () => setX(state.x - amount),
      ArrowRight: () => setX(state.x + amount),
      ArrowUp: () => setX(state.x + amount),
    });
    dragged(point, (event) => setX(at(event)), by(0.25));
    const longer = (amount) => setH(state.h + amount);
    dragged(nudge, (event) => setH(at(event) - state.x), {
      ArrowLeft: () => longer(-0.25),
      ArrowDown: () => longer(-0.25),
      ArrowRight: () => longer(0.25),
      ArrowUp: () => longer(0.25),
    });

    const [scale, marks, mark] = [
      shape("g"),
      shape("path", { fill: ORANGE, "fill-opacity": 0.55 }),
      dot(ORANGE, 6),
    ];
    const errors = panel(
      "The error of the secant, by nudge",
      frame(),
      scale,
      marks,
      mark,
      ...[0, 1, 2, 3, 4].map((tick) => text(acrossTo(tick / 4), bottom + 18, String(tick))),
      text((left + right) / 2, HIGH - 10, "nudge h (percent)"),
      text(2, 14, "error of the secant's slope", "start"),
    );
    const halve = button(
      "Halve the nudge",
      () => {
        const before = forward(program.f, state.x, state.h) - program.slope(state.x);
        const half = Number((state.h / 2).toPrecision(4));
        changed(half < program.h[0] ? { h: program.h[0] } : { h: half, before });
      },
      { class: "main" },
    );
    const again = button("Start again", () => {
      state.visited.clear();
      changed({ x, h });
    });
    ground.append(
      element(
        "div",
        { class: "pair" },
        element(
          "div",
          { class: "parts" },
          element("div", { class: "curve" }, svg),
          seen,
          element("div", { class: "errors" }, errors),
          element("div", { class: "bar" }, halve, again),
        ),
      ),
      heard,
    );

    return () => {
      const [value, there] = [program.f(state.x), program.f(state.x + state.h)];
      const slope = forward(program.f, state.x, state.h);
      const own = program.slope(state.x);
      const through = (made, steep) =>
        put(made, {
          x1: across(low),
          x2: across(high),
          y1: down(value + steep * (low - state.x)),
          y2: down(value + steep * (high - state.x)),
        });
      through(secant, slope);
      through(tangent, own);
      const [x1, x2, y1, y2] = [across(state.x), across(state.x + state.h), down(value), down(there)];
      put(legs, { d: `M${x1} ${y1}H${x2}V${y2}` });
      put(run, { x: (x1 + x2) / 2, y: y1 + 27 });
      run.textContent = state.h >= 0.5 ? `h = ${said(state.h)}` : "";
      const outside = x2 > right - 60;
      put(rise, {
        x: x2 + (outside ? -8 : 8),
        y: (y1 + y2) / 2 + 5,
        "text-anchor": outside ? "end" : "start",
      });
      rise.textContent = y1 - y2 > 40 && !outside ? `+${said(there - value)}` : "";
      move(point, x1, y1);
      move(nudge, x2, y2);
      put(point, { "aria-valuenow": state.x, "aria-valuetext": `${said(state.x)} percent` });
      put(nudge, {
        "aria-valuenow": state.h,
        "aria-valuetext": `${said(state.h)} percent, slope ${said(slope)}`,
      });

      state.visited.set(state.h, Math.abs(slope - own));
      const largest = Math.abs(forward(program.f, state.x, 4) - own);
      const unit = [500, 1000, 2000, 5000].find((one) => largest / one < 4.2);
      const high2 = 1.08 * largest;
      scale.replaceChildren(
        ...[0, 1, 2, 3, 4]
          .map((times) => times * unit)
          .filter((tick) => tick < high2)
          .flatMap((tick) => [
            line({ class: "rule", x1: left, x2: right, y1: downTo(tick / high2), y2: downTo(tick / high2) }),
            text(left - 6, downTo(tick / high2) + 5, said(tick), "end"),
          ]),
      );
      const spots = [...state.visited].map(([nudged, error]) => [
        acrossTo(nudged / 4),
        downTo(error / high2),
      ]);
      put(marks, { d: spots.map(([cx, cy]) => bead(cx, cy, 3)).join("") });
      put(mark, { cx: acrossTo(state.h / 4), cy: downTo(Math.abs(slope - own) / high2) });
      halve.disabled = state.h <= program.h[0];
      tell(sentence(state));
    };
  }

  // The curve as near as the nudge is long, and the V of the errors on logarithmic scales.
  function microscope() {
    const [curve, truth] = [
      shape("path", { fill: "none", stroke: BLUE, "stroke-width": 6, "stroke-opacity": 0.45 }),
      line({ stroke: "var(--ink)", "stroke-width": 1.4 }),
    ];
    const secants = [
      line({ stroke: "var(--fourth)", "stroke-width": 2.4, "stroke-dasharray": "7 15" }),
      line({ stroke: ORANGE, "stroke-width": 2.4, "stroke-dasharray": "7 15", "stroke-dashoffset": 11 }),
    ];
    const points = [dot("var(--ink)"), dot("var(--fourth)", 6), dot(ORANGE, 6)];
    const label = "The curve near x";
    const REACH = 2.2; // nudges to each side
    const [title, ends] = [
      text(left, 14, "", "start"),
      [-1, 0, 1].map((side) =>
        text(
          acrossTo(0.5 + side / (2 * REACH)),
          bottom + 18,
          side ? `x ${side < 0 ? "\u2212" : "+"} h` : "x",
        ),
      ),
    ];
    const svg = panel(
      label,
      frame(),
      title,
      ...ends,
      text((left + right) / 2, HIGH - 10, "input, as far as two nudges"),
      clipped(label, truth, curve, ...secants, ...points),
    );

    const [most, least] = [2, -13]; // powers of ten of the error
    const [long, short] = [0.6, -16.2]; // and of the nudge
    const across = (nudged) => acrossTo(((long - Math.log10(nudged)) / (long - short)) * -1 + 1);
    const down = (error) => downTo((Math.log10(Math.max(1e-13, error)) - least) / (most - least));
    const clouds = [shape("path", { fill: "var(--fourth)" }), shape("path", { fill: ORANGE })];
    const heads = [dot("var(--fourth)", 6), dot(ORANGE, 6)];
    const rule = line({ stroke: "var(--primary)", "stroke-width": 1.5, y1: top, y2: bottom });
    const knob = grip(
      "The nudge h",
      { "aria-valuemin": -16, "aria-valuemax": 0.5 },
      ring(),
      shape("path", {
        d: "M-3 -4L-7 0L-3 4M3 -4L7 0L3 4",
        fill: "none",
        stroke: "var(--primary)",
        "stroke-width": 1.6,
      }),
    );
    const errors = panel(
      "The error of the slope, by nudge, on logarithmic scales",
      ...[-10, -5, 0].flatMap((power) => [
        line({ class: "rule", x1: left, x2: right, y1: down(10 ** power), y2: down(10 ** power) }),
        text(left - 6, down(10 ** power) + 5, power ? `1e\u2212${-power}` : "1", "end"),
      ]),
      ...[-15, -10, -5, 0].map((power) =>
        text(across(10 ** power), bottom + 28, power ? `1e\u2212${-power}` : "1"),
      ),
      frame(),
      ...clouds,
      rule,
      ...heads,
      knob,
      text((left + right) / 2, HIGH - 4, "nudge h"),
      text(2, 14, "error of the slope", "start"),
    );
    const legend = element(
      "div",
      { class: "bar" },
      ...[
        ["var(--fourth)", "to the right"],
        [ORANGE, "both ways"],
        ["var(--ink)", "the curve's own slope"],
      ].map(([colour, words]) =>
        element(
          "span",
          { style: "display:inline-flex;gap:.4rem;align-items:center" },
          shape(
            "svg",
            { viewBox: "0 0 18 10", style: "width:18px;flex:none", "aria-hidden": "true" },
            shape("path", { d: "M0 5H18", stroke: colour, "stroke-width": 3 }),
          ),
          words,
        ),
      ),
    );
    const setH = (value) => changed({ h: within(program.h, Number(value.toPrecision(2))) });
    const times = (factor) => () => setH(state.h * factor);
    dragged(
      knob,
      (event) => {
        shrinking.stop();
        setH(10 ** (short + ((placeIn(errors, event)[0] - left) / (right - left)) * (long - short)));
      },
      {
        ArrowLeft: times(10 ** -0.25),
        ArrowDown: times(10 ** -0.25),
        ArrowRight: times(10 ** 0.25),
        ArrowUp: times(10 ** 0.25),
        PageDown: times(0.1),
        PageUp: times(10),
        Home: () => setH(1e-16),
        End: () => setH(3),
      },
    );
    const next = () => {
      const nudged = NUDGES.find((one) => one < state.h * (1 - 1e-9));
      if (nudged === undefined) return false;
      changed({ h: nudged });
      return nudged > NUDGES.at(-1);
    };
    const shrinking = player(next, () => draw());
    const playButton = button(
      "Shrink the nudge",
      () => {
        if (shrinking.playing()) return shrinking.stop();
        if (state.h <= NUDGES.at(-1)) state.h = 3.1;
        if (calm()) while (next());
        else shrinking.start(220);
      },
      { class: "main" },
    );
    const shorter = button("A tenth", times(0.1));
    const longer = button("Ten times", times(10));
    const again = button("Start again", () => {
      shrinking.stop();
      state.visited.clear();
      changed({ h });
    });
    ground.append(
      element(
        "div",
        { class: "pair" },
        element(
          "div",
          { class: "parts near" },
          element("div", { class: "curve" }, svg),
          seen,
          element("div", { class: "errors" }, errors),
          element("div", { class: "bar" }, playButton, shorter, longer, again, legend),
        ),
      ),
      heard,
    );

    return () => {
      const { f: run, slope } = program;
      const [x0, own, value] = [state.x, slope(state.x), run(state.x)];
      const rise = 1.15 * REACH * Math.abs(own) * state.h; // half of the picture's height
      const place = (offset, change) => [
        acrossTo(0.5 + offset / state.h / (2 * REACH)),
        downTo(0.5 + change / (2 * rise)),
      ];
      // Each point is where the computer has it: x + t h is rounded, and so is what comes out.
      const steps = state.h < 1e-13; // where stairs show
      const places = Array.from({ length: 241 }, (_, at) => x0 + (at / 120 - 1) * REACH * state.h).map((at) =>
        place(at - x0, Math.max(-3 * rise, Math.min(3 * rise, run(at) - value))),
      );
      const corners = places.flatMap(([a, b], at) =>
        steps && at
          ? [
              [a, places[at - 1][1]],
              [a, b],
            ]
          : [[a, b]],
      );
      put(curve, { d: `M${corners.map(([a, b]) => `${a.toFixed(2)} ${b.toFixed(2)}`).join("L")}` });
      const through = (made, start, height, steep) => {
        const [[x1, y1], [x2, y2]] = [-REACH, REACH].map((side) =>
          place(side * state.h, height + steep * (side * state.h - start)),
        );
        put(made, { x1, x2, y1, y2 });
      };
      through(truth, 0, 0, own);
      through(secants[0], 0, 0, forward(run, x0, state.h));
      through(secants[1], x0 - state.h - x0, run(x0 - state.h) - value, central(run, x0, state.h));
      [x0, x0 + state.h, x0 - state.h].forEach((at, index) => {
        const [cx, cy] = place(at - x0, run(at) - value);
        put(points[index], { cx, cy });
      });
      title.textContent = `the cube around ${said(x0)}, h = ${said(state.h)}`;

      const found = errorsOf(f, x0, state.h).errors.map(Math.abs);
      state.visited.set(state.h, found);
      const spots = [...state.visited];
      clouds.forEach((cloud, way) =>
        put(cloud, { d: spots.map(([nudged, both]) => bead(across(nudged), down(both[way]), 2.6)).join("") }),
      );
      heads.forEach((head, way) => put(head, { cx: across(state.h), cy: down(found[way]) }));
      put(rule, { x1: across(state.h), x2: across(state.h) });
      move(knob, across(state.h), bottom);
      put(knob, { "aria-valuenow": Math.log10(state.h).toFixed(2), "aria-valuetext": said(state.h) });
      playButton.textContent = shrinking.playing() ? "Stop" : "Shrink the nudge";
      shorter.disabled = state.h <= program.h[0];
      longer.disabled = state.h >= program.h[1];
      tell(sentenceNear(state));
    };
  }

  draw();
  return { state, draw };
}
