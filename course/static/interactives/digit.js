// Your digit: one draws it, the network of chapter 08 reads it. A picture that moves under the hand.
//
// `picture` makes of strokes what the data is made of, `read`, `gradientOf` and `taught` compute; tests compare
// them with minigrad. `mount` draws it into a host. A moment can be linked: #digit=12,4-20,28&centred=yes
import { bytesOf, element, ground as groundIn, linear, linkedTo, linkMoment, percent, player, shape, softmax, speaker,
  weightsOf } from "./parts.js";

export const DATA = true; // the weights and the test digits stand in digit.json
const SIDE = 8; // squares
const FINE = 4; // dots in a square, across
const DOTS = SIDE * FINE;
const INK = 312; // dots of ink: 19.5 of 64 squares, as in the data's digits, whatever they are
const [THIN, THICK] = [1.6, 4.4]; // radius of the pen, in dots
const MIDDLE = 16.4; // where the data's digits have their middle, in dots from the left
const WIDEST = 27; // dots: all but a few of the data's digits are narrower
const RATE = 0.1; // of the lessons; the chapter's 0.5 is for batches of 32
const STEPS = 10; // of gradient descent in a lesson
const PEN = 1 / 16; // of the pad: what an arrow key moves the pen by

export function networkOf(data) {
  const [W1, b1, W2, b2] = weightsOf(data);
  return { W1, b1, W2, b2 };
}

// Stored digits: rows of 64 numbers, and what they are.
export function digitsOf({ images, labels }) {
  const ink = Array.from(bytesOf(images), (count) => count / FINE ** 2);
  return { X: labels.map((_, row) => ink.slice(row * SIDE ** 2, (row + 1) * SIDE ** 2)), T: labels };
}

// The square of the distance from a place to a line from one point to another.
function distance2(x, y, [x1, y1], [x2, y2]) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length2 = dx * dx + dy * dy;
  const along = length2 ? Math.min(Math.max(((x - x1) * dx + (y - y1) * dy) / length2, 0), 1) : 0;
  return (x - x1 - along * dx) ** 2 + (y - y1 - along * dy) ** 2;
}

// For each of 32 by 32 dots, its distance to the strokes, which are in dots.
function distances(strokes) {
  const nearest = new Float64Array(DOTS ** 2).fill(Infinity);
  for (const stroke of strokes) {
    for (let at = 0; at < Math.max(stroke.length - 1, 1); at += 1) {
      const [from, to] = [stroke[at], stroke[Math.min(at + 1, stroke.length - 1)]];
      for (let dot = 0; dot < DOTS ** 2; dot += 1) {
        const one = distance2((dot % DOTS) + 0.5, Math.floor(dot / DOTS) + 0.5, from, to);
        if (one < nearest[dot]) nearest[dot] = one;
      }
    }
  }
  return nearest.map(Math.sqrt);
}

// Leave out points that are nearer than a dot to the one before.
function thinned(strokes) {
  return strokes.map((stroke) => stroke.reduce((kept, point, at) => {
    const [x, y] = kept.at(-1) ?? [Infinity, Infinity];
    if (Math.hypot(point[0] - x, point[1] - y) >= 1 || at === stroke.length - 1) kept.push(point);
    return kept;
  }, []));
}

// Move and scale strokes so that their ink, of a pen of this radius, fills the height and stands in the middle.
function centredAt(strokes, radius) {
  const [xs, ys] = [0, 1].map((axis) => strokes.flat().map((point) => point[axis]));
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const tall = (DOTS - 2 * radius) / Math.max(bottom - top, 0.05);
  const wide = Math.min(tall, (WIDEST - 2 * radius) / Math.max(right - left, 1e-9));
  const place = ([x, y]) => [MIDDLE + wide * (x - (left + right) / 2), DOTS / 2 + tall * (y - (top + bottom) / 2)];
  return strokes.map((stroke) => stroke.map(place));
}

// Make of strokes, whose points lie between 0 and 1, what the network reads: 64 numbers from 0 to 1.
//
// The data was made so: a scan scaled to 32 by 32 dots, and the black dots counted in each square of 4 by 4.
// centred: scale and move the strokes as the data was, and take the pen that gives as much ink.
export function picture(strokes, centred = true) {
  const drawn = strokes.filter((stroke) => stroke.length);
  if (!drawn.length) return new Array(SIDE ** 2).fill(0);
  let [radius, nearest] = [2.4, null];
  if (centred) {
    for (let pass = 0; pass < 2; pass += 1) {
      nearest = distances(thinned(centredAt(drawn, radius)));
      radius = Math.min(Math.max(Float64Array.from(nearest).sort()[INK], THIN), THICK);
    }
  } else {
    nearest = distances(thinned(drawn.map((stroke) => stroke.map(([x, y]) => [DOTS * x, DOTS * y]))));
  }
  const counts = new Array(SIDE ** 2).fill(0);
  nearest.forEach((one, dot) => {
    if (one < radius) counts[SIDE * Math.floor(dot / DOTS / FINE) + Math.floor((dot % DOTS) / FINE)] += 1;
  });
  return counts.map((count) => count / FINE ** 2);
}

function passed(network, x) {
  const hidden = linear(x, network.W1, network.b1).map((one) => Math.max(one, 0));
  return { hidden, P: softmax(linear(hidden, network.W2, network.b2)) };
}

// The ten probabilities.
export function read(network, x) {
  return passed(network, x).P;
}

export function answerOf(P) {
  return P.indexOf(Math.max(...P));
}

export function accuracy(network, { X, T }) {
  return X.filter((x, row) => answerOf(read(network, x)) === T[row]).length / T.length;
}

// Go back from the loss -log P[target] to the hidden units.
function backward(network, x, target) {
  const { hidden, P } = passed(network, x);
  const dY = P.map((p, digit) => p - (digit === target ? 1 : 0));
  const dH = hidden.map((one, unit) =>
    (one > 0 ? dY.reduce((sum, dy, digit) => sum + dy * network.W2.values[unit * dY.length + digit], 0) : 0));
  return { hidden, dY, dH };
}

// dX of the loss -log P[target]: where more ink would raise it, and where lower it.
export function gradientOf(network, x, target) {
  const { dH } = backward(network, x, target);
  return Array.from(x, (_, pixel) =>
    dH.reduce((sum, dh, unit) => sum + dh * network.W1.values[pixel * dH.length + unit], 0));
}

// Return the network after some steps of gradient descent on the mean loss of some digits; with old ones, on
// half of it and half of theirs.
export function taught(network, own, old, steps, rate = RATE) {
  const copy = ({ shape: size, values }) => ({ shape: size, values: values.slice() });
  const pupil = Object.fromEntries(Object.entries(network).map(([name, array]) => [name, copy(array)]));
  const parts = old ? [own, old] : [own];
  const lesson = parts.flatMap(({ X, T }) => X.map((x, row) => ({ x, target: T[row], share: rate / parts.length / X.length })));
  for (let step = 0; step < steps; step += 1) {
    const passes = lesson.map((one) => ({ ...one, ...backward(pupil, one.x, one.target) }));
    for (const { x, share, hidden, dY, dH } of passes) {
      descend(pupil.W1, pupil.b1, x, dH, share);
      descend(pupil.W2, pupil.b2, hidden, dY, share);
    }
  }
  return pupil;
}

// Take a share of dW = xᵀ dy from W, and of dy from b.
function descend(W, b, x, dy, share) {
  for (let j = 0; j < dy.length; j += 1) b.values[j] -= share * dy[j];
  for (let i = 0; i < x.length; i += 1) {
    if (x[i] !== 0) for (let j = 0; j < dy.length; j += 1) W.values[i * dy.length + j] -= share * x[i] * dy[j];
  }
}

// A picture as a link holds it: strokes of places from 0 to 99, "12,4 20,28-40,40".
export function strokesOf(text) {
  const strokes = text.split("-").map((stroke) => stroke.split(" ").map((point) => point.split(",").map(Number)));
  const fits = (point) => point.length === 2 && point.every((one) => one >= 0 && one <= 99);
  return strokes.map((stroke) => stroke.filter(fits).map((point) => point.map((one) => one / 99))).filter((stroke) => stroke.length);
}

export function textOf(strokes) {
  const whole = (one) => Math.round(99 * Math.min(Math.max(one, 0), 1));
  return thinned(strokes.map((stroke) => stroke.map((point) => point.map((one) => DOTS * one))))
    .map((stroke) => stroke.map((point) => point.map((one) => whole(one / DOTS)).join(",")).join(" ")).join("-");
}

// Read what a link says: #digit=12,4%2020,28&centred=no&truth=7
export function fromLink(hash) {
  const said = linkedTo("digit", hash);
  if (!said) return null;
  const truth = said.get("truth");
  return { strokes: strokesOf(said.get("digit")), centred: said.get("centred") !== "no",
    truth: /^[0-9]$/.test(truth ?? "") ? Number(truth) : null };
}

export function momentOf({ strokes, centred, truth }) {
  return { digit: textOf(strokes), centred: centred ? "yes" : "no", ...(truth === null ? {} : { truth }) };
}

const STYLE = `
.desk { display: grid; grid-template-columns: minmax(0, 15.5rem) minmax(0, 9.5rem) minmax(0, 1fr); gap: .2rem 1.2rem; align-items: start; }
.head { font-size: .875rem; color: var(--muted); margin: 0 0 .25rem; line-height: 1.25; min-height: 2.5em; align-self: end;
  display: flex; align-items: end; }
svg { display: block; width: 100%; } 
.bar label { min-height: 1.9rem; }
.pad { aspect-ratio: 1; user-select: none; -webkit-user-select: none; border: 1.5px solid var(--muted); border-radius: 8px; touch-action: none; cursor: crosshair; }
.pad .stroke { fill: none; stroke: var(--ink); stroke-width: .075; stroke-linecap: round; stroke-linejoin: round; }
.pad .grid { stroke: var(--line); stroke-width: .003; } .pad .ghost text { fill: var(--muted); font-size: .06px; text-anchor: middle; }
.pad .pen { display: none; fill: none; stroke: var(--primary); stroke-width: .012; } .pad:focus-visible .pen { display: block; }
.pad .pen.down { fill: var(--primary); }
.seen { border: 1.5px solid var(--line); } .seen rect { stroke: var(--line); stroke-width: .02; }
.seen circle { stroke: var(--backward); stroke-width: .11; } .seen .more { fill: var(--backward); } .seen .less { fill: none; }
.under { font-size: .875rem; margin: .4rem 0 0; } .under label { display: flex; gap: .4rem; align-items: center; min-height: 1.9rem; }
.bars { display: grid; gap: 2px; }
.digit { display: grid; grid-template-columns: 1.3rem 1fr 3.4rem; gap: .4rem; align-items: center; border: 0; padding: 0 .2rem;
  height: 1.55rem; min-height: 0; border-radius: 4px; text-align: left; font-variant-numeric: tabular-nums; font-size: .95rem; }
.digit .way { height: .95rem; background: color-mix(in srgb, var(--line) 40%, transparent); border-radius: 2px; overflow: hidden; }
.digit .way span { display: block; height: 100%; background: var(--forward); transform-origin: left; transition: transform .12s; }
.digit i { font-style: normal; text-align: right; } .digit.best b { color: var(--forward); }
.digit[aria-pressed="true"] { box-shadow: inset 0 0 0 2px var(--ink); }
.yours { margin-top: .9rem; border-top: 1px solid var(--line); padding-top: .7rem; }
.kept { display: flex; flex-wrap: wrap; gap: .45rem; margin: .5rem 0; }
.kept figure { margin: 0; width: 3rem; font-size: .82rem; text-align: center; line-height: 1.25; } .kept .seen { border-width: 1px; }
.kept .wrong .seen { border-color: var(--backward); } .kept .wrong { font-weight: 600; }
.school { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 14rem); gap: .2rem 1rem; align-items: center; }
.chart { max-width: 15rem; } .chart text { font-size: 14px; } .chart .own { stroke: var(--forward); } .chart .test { stroke: var(--ink); stroke-dasharray: 5 3; }
.chart polyline { fill: none; stroke-width: 2; } .chart .axis { stroke: var(--line); }
@media (max-width: 620px) {
  .desk { grid-template-columns: minmax(0, 1fr) minmax(0, 1.35fr); } .first { grid-column: 1 / -1; } .first .pad { width: 17rem; max-width: 100%; margin: auto; }
  .head { min-height: 0; } .digit { grid-template-columns: .9rem 1fr 3.1rem; gap: .25rem; }
  .school { grid-template-columns: 1fr; }
}
@media (prefers-reduced-motion: reduce) { .digit .way span { transition: none; } }
`;

// Draw the reader of digits into a host.
export function mount(host, { first = null, linked = true, data }) {
  const chapters = networkOf(data);
  let [test, old, before] = [null, null, null]; // the digits of others, and the accuracy before all lessons
  const empty = { strokes: [], centred: true, truth: null };
  const state = { ...empty, ...(linked ? fromLink(window.location.hash) : null), looking: Boolean(first), among: false, kept: [], lessons: [],
    network: chapters, pen: [0.5, 0.25], down: false };
  let writing = null; // the pointer that draws
  let given = first; // a picture to begin with, until something is drawn
  let ahead = 0; // steps of the lesson that are still to come
  const teaching = player(() => host.isConnected && oneStep(), () => drawYours());

  const { ground } = groundIn(host, "Draw a digit, and the network reads it", STYLE);
  const lines = Array.from({ length: SIDE - 1 }, (_, i) => (i + 1) / SIDE).flatMap((at) => [
    shape("line", { class: "grid", x1: at, x2: at, y1: 0, y2: 1 }), shape("line", { class: "grid", x1: 0, x2: 1, y1: at, y2: at })]);
  const ink = shape("g", {});
  const pen = shape("circle", { class: "pen", r: 0.035 });
  const ghost = shape("g", { class: "ghost" }, shape("text", { x: 0.5, y: 0.5 }, "draw a digit here"),
    shape("text", { x: 0.5, y: 0.6 }, "or: arrow keys and space"));
  const pad = shape("svg", { class: "pad", viewBox: "0 0 1 1", tabindex: "0", role: "application",
    "aria-label": "a pad to draw on: the arrow keys move the pen, space puts it down or lifts it, delete clears the pad",
    onpointerdown: begin, onpointermove: follow, onpointerup: lift, onpointercancel: lift, onkeydown: press }, ...lines, ghost, ink, pen);
  const squares = grid();
  const spots = squares.map((_, at) => shape("circle", { cx: (at % SIDE) + 0.5, cy: Math.floor(at / SIDE) + 0.5, r: 0 }));
  const seenPicture = shape("svg", { class: "seen", viewBox: "0 0 8 8", role: "img" }, ...squares, ...spots);
  const bars = Array.from({ length: 10 }, (_, digit) => {
    const [rise, share] = [element("span", {}), element("i", {})];
    const row = element("button", { type: "button", class: "digit", onclick: () => changed({ truth: state.truth === digit ? null : digit }) },
      element("b", {}, String(digit)), element("span", { class: "way" }, rise), share);
    return { row, rise, share };
  });
  const { seen, heard, tell } = speaker();
  const button = (text, act, options = {}) => element("button", { type: "button", onclick: act, ...options }, text);
  const box = (text, name) => {
    const input = element("input", { type: "checkbox", onchange: () => changed({ [name]: input.checked }) });
    return { input, label: element("label", {}, input, text) };
  };
  const looking = box("what did it look at: dX", "looking");
  const centring = box("centre and scale", "centred");
  const among = box(`among ${data.learned.labels.length} digits that it learned from`, "among");
  const keep = button("Keep it", () => keepIt());
  const teach = button(`Train it: ${STEPS} steps`, () => lesson(), { class: "main" });
  const again = button("Forget the lessons", () => {
    teaching.stop();
    changed({ network: chapters, lessons: [] });
  });
  const undo = button("Undo", () => changed({ strokes: state.strokes.slice(0, -1) }));
  const clear = button("Clear", () => changed({ strokes: [], truth: null }));
  const kept = element("div", { class: "kept" });
  const school = element("p", { class: "under", "aria-live": "polite" });
  const chart = element("div", {});
  const yours = element("div", { class: "yours" }, kept, element("div", { class: "bar" }, teach, again, among.label),
    element("div", { class: "school" }, school, chart));
  const column = (name, ...parts) => element("div", name === "first" ? { class: name } : {}, ...parts);
  const head = (text) => element("p", { class: "head" }, text);
  ground.append(
    element("div", { class: "desk" },
      column("first", head("Draw one digit, large or small."), pad),
      column("", head("What the network gets: 8 by 8 numbers"), seenPicture),
      column("", head("What it reads. Tap what you meant."), element("div", { class: "bars", role: "group", "aria-label": "what it reads" },
        ...bars.map(({ row }) => row)))),
    seen, heard, element("div", { class: "bar" }, clear, undo, keep, looking.label, centring.label), yours);

  function grid(options = {}) {
    return Array.from({ length: SIDE ** 2 }, (_, at) =>
      shape("rect", { x: at % SIDE, y: Math.floor(at / SIDE), width: 1, height: 1, fill: "currentColor", ...options }));
  }

  function changed(by) {
    Object.assign(state, by);
    draw();
    drawYours();
    linkMoment(momentOf(state), linked);
  }

  function placeOf(event) {
    const { left, top, width, height } = pad.getBoundingClientRect();
    return [(event.clientX - left) / width, (event.clientY - top) / height].map((one) => Math.min(Math.max(one, 0), 1));
  }

  function begin(event) {
    event.preventDefault();
    pad.focus({ focusVisible: false });
    pad.setPointerCapture?.(event.pointerId);
    writing = event.pointerId;
    state.down = false;
    Object.assign(state, { strokes: [...state.strokes, [placeOf(event)]] });
    draw();
  }

  function follow(event) {
    if (event.pointerId !== writing) return;
    const between = event.getCoalescedEvents?.() ?? [];
    state.strokes.at(-1).push(...(between.length ? between : [event]).map(placeOf));
    draw();
  }

  function lift(event) {
    if (event.pointerId !== writing) return;
    writing = null;
    changed({});
  }

  // By keyboard: the arrows move the pen, space puts it down and lifts it.
  function press(event) {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (step) {
      state.pen = state.pen.map((one, axis) => Math.min(Math.max(one + PEN * step[axis], 0), 1));
      if (state.down) state.strokes.at(-1).push(state.pen);
    } else if (event.key === " ") {
      state.down = !state.down;
      if (state.down) state.strokes = [...state.strokes, [state.pen]];
    } else if (event.key === "Delete" || event.key === "Backspace") {
      Object.assign(state, { strokes: [], truth: null, down: false });
    } else return;
    event.preventDefault();
    changed({});
  }

  function keepIt() {
    if (!test) {
      [test, old] = [digitsOf(data.test), digitsOf(data.learned)];
      before = accuracy(chapters, test);
    }
    const x = picture(state.strokes, state.centred);
    const first = answerOf(read(state.network, x));
    changed({ kept: [...state.kept, { x, truth: state.truth, first }], strokes: [], truth: null, down: false });
    pad.focus({ focusVisible: false });
  }

  function share() {
    return state.kept.filter(({ x, truth }) => answerOf(read(state.network, x)) === truth).length;
  }

  // One step of gradient descent after the other, so that one sees what each of them does.
  function lesson() {
    if (!state.lessons.length) state.lessons = [{ own: share() / state.kept.length, test: before }];
    ahead = STEPS;
    teaching.start(0);
  }

  function oneStep() {
    const own = { X: state.kept.map(({ x }) => x), T: state.kept.map(({ truth }) => truth) };
    state.network = taught(state.network, own, state.among ? old : null, 1);
    state.lessons = [...state.lessons, { own: share() / state.kept.length, test: accuracy(state.network, test) }];
    ahead -= 1;
    draw();
    drawYours();
    return ahead > 0;
  }

  function draw() {
    const byHand = state.strokes.length > 0;
    if (byHand && given) [given, state.looking] = [null, false];
    const [drawn, x] = [byHand || Boolean(given), given ?? picture(state.strokes, state.centred)];
    const P = read(state.network, x);
    const best = answerOf(P);
    ghost.style.display = byHand ? "none" : "";
    ink.replaceChildren(...state.strokes.map((stroke) => shape("polyline", { class: "stroke",
      points: (stroke.length > 1 ? stroke : [stroke[0], stroke[0]]).map((point) => point.map((one) => one.toFixed(3)).join(",")).join(" ") })));
    pen.setAttribute("cx", state.pen[0]);
    pen.setAttribute("cy", state.pen[1]);
    pen.setAttribute("class", state.down ? "pen down" : "pen");
    squares.forEach((square, at) => square.setAttribute("fill-opacity", 0.95 * x[at]));
    const target = state.truth ?? best;
    const dX = state.looking && drawn ? gradientOf(state.network, x, target) : null;
    const most = dX ? Math.max(...dX.map(Math.abs), 1e-12) : 1;
    spots.forEach((spot, at) => {
      spot.setAttribute("r", dX ? (0.42 * Math.sqrt(Math.abs(dX[at]) / most)).toFixed(3) : 0);
      spot.setAttribute("class", dX && dX[at] < 0 ? "more" : "less");
      spot.style.display = dX && Math.abs(dX[at]) > 0.04 * most ? "" : "none";
    });
    seenPicture.setAttribute("aria-label", drawn ? `the picture that the network gets, with ${squares.filter((_, at) => x[at] > 0).length} squares of ink` : "nothing yet");
    bars.forEach(({ row, rise, share: text }, digit) => {
      const p = drawn ? P[digit] : 0;
      rise.style.transform = `scaleX(${p})`;
      text.textContent = drawn ? `${Math.round(100 * p)} %` : "";
      row.className = `digit${drawn && digit === best ? " best" : ""}`;
      row.setAttribute("aria-pressed", String(state.truth === digit));
      row.setAttribute("aria-label", `${digit}${drawn ? `, ${percent(p)}` : ""}`);
    });
    tell(words(drawn, P, best, target, dX));
    keep.textContent = state.truth === null ? "Keep it" : `Keep it as ${state.truth}`;
    keep.disabled = !byHand || state.truth === null;
    clear.disabled = undo.disabled = !byHand;
    looking.input.checked = state.looking;
    centring.input.checked = state.centred;
    among.input.checked = state.among;
  }

  function words(drawn, P, best, target, dX) {
    if (!drawn) return "Nothing is drawn yet. The network learned from 1,258 digits of people whom you have never met.";
    const second = P.reduce((found, p, digit) => (digit !== best && (found < 0 || p > P[found]) ? digit : found), -1);
    const reads = P[second] < 0.01 ? `It reads ${best}, and is sure of it: ${percent(P[best])}.`
      : `It reads ${best} with ${percent(P[best])}, or ${second} with ${percent(P[second])}.`;
    if (dX) return `${reads} To make it surer of ${target}, put more ink on the filled spots and less on the rings: dX of the loss, below 0 and above.${given ? " Now draw a digit of your own." : ""}`;
    if (given) return `${reads} Now draw a digit of your own.`;
    if (state.truth === null) return `${reads} What did you mean? Tap it.`;
    return state.truth === best ? `${reads} That is what you meant.` : `${reads} You meant ${state.truth}: keep it, and train on it.`;
  }

  function drawYours() {
    yours.style.display = state.kept.length ? "" : "none";
    if (!state.kept.length) return;
    kept.replaceChildren(...state.kept.map(({ x, truth }) => {
      const now = answerOf(read(state.network, x));
      const alt = `your ${truth}, read as ${now}`;
      return element("figure", { class: now === truth ? "" : "wrong" },
        shape("svg", { class: "seen", viewBox: "0 0 8 8", role: "img", "aria-label": alt },
          ...grid().map((square, at) => (square.setAttribute("fill-opacity", 0.95 * x[at]), square))),
        now === truth ? `${truth}` : `${truth}, read ${now}`);
    }));
    const [count, first] = [state.kept.length, state.kept.filter((one) => one.first === one.truth).length];
    const others = (part) => `${Math.round(part * test.T.length)} of the ${test.T.length} test digits`;
    const now = state.lessons.at(-1);
    again.disabled = !now;
    teach.disabled = teaching.playing();
    school.textContent = now
      ? `After ${state.lessons.length - 1} steps it reads ${share()} of your ${count}, and ${others(now.test)}. Before the lessons `
        + `there were ${Math.round(before * test.T.length)}.`
      : `It read ${first} of your ${count} when you drew ${count > 1 ? "them" : "it"}, and reads ${others(before)}.`;
    chart.replaceChildren();
    if (now) chart.append(drawChart());
  }

  // The accuracy on one's own digits and on the test digits, lesson by lesson.
  function drawChart() {
    const [width, height, left, right] = [230, 112, 44, 44];
    const X = (at) => left + ((width - left - right) * at) / Math.max(state.lessons.length - 1, 1);
    const Y = (part) => 10 + (height - 32) * (1 - part);
    const line = (name) => shape("polyline", { class: name, points: state.lessons.map((one, at) => `${X(at)},${Y(one[name])}`).join(" ") });
    const end = state.lessons.at(-1);
    const [low, high] = [Math.min(Y(end.own), Y(end.test)), Math.max(Y(end.own), Y(end.test))];
    const apart = Math.max(0, 15 - (high - low)) / 2;
    const label = (name, text) => shape("text", { x: width - right + 5, y: (Y(end[name]) <= low && (Y(end[name]) !== high || name === "own")
      ? low - apart : high + apart) + 4 }, text);
    return shape("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `right of yours, from ${percent(state.lessons[0].own)} to ${percent(end.own)}; of the test digits, from ${percent(before)} to ${percent(end.test)}` },
      ...[0, 0.5, 1].flatMap((part) => [shape("line", { class: "axis", x1: left, x2: width - right, y1: Y(part), y2: Y(part) }),
        shape("text", { x: left - 6, y: Y(part) + 4, "text-anchor": "end" }, `${100 * part}%`)]),
      shape("text", { x: left, y: height - 4 }, "0"),
      shape("text", { x: width - right, y: height - 4, "text-anchor": "end" }, `${state.lessons.length - 1} steps`), line("own"), line("test"),
      label("own", "yours"), label("test", "test"));
  }

  draw();
  drawYours();
  return { state, draw };
}
