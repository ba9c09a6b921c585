// Attention: tap a step and see where it looks, before and after training. A picture that moves under the hand.
//
// `look` computes the weights and the answers of chapter 16's model at each stored update; tests compare them
// with minigrad. `mount` draws them into a host. A moment can be linked: #attention=31415926&step=1&update=20
import { calm, element, ground as groundIn, linear, linkedTo, linkMoment, player, shape, softmax,
  speaker, weightsOf } from "./parts.js";

export const DATA = true; // the weights after some updates stand in attention.json
export const STEPS = 8;
const PAUSE = 260; // milliseconds between two moments that play by themselves

// Put stored numbers in the places that they have in the model.
export function modelOf(stored) {
  const all = weightsOf(stored);
  const take = () => all.shift();
  const affine = () => ({ W: take(), b: take() });
  return { embedding: take(), positions: take(), queries: affine(), keys: affine(), values: affine(), output: affine(),
    last: affine() };
}

const apply = (x, { W, b }) => linear(x, W, b);

// Let every step look at every step: A[i][j] says how much step i looks at step j; written is what the model
// answers, P how probable each answer is to it.
export function look(model, digits) {
  const { embedding, positions } = model;
  const width = embedding.shape[1];
  const row = (table, at) => table.values.subarray(at * width, (at + 1) * width);
  const X = digits.map((digit, at) => row(embedding, digit).map((one, i) => one + row(positions, at)[i]));
  const [Q, K, V] = [model.queries, model.keys, model.values].map((part) => X.map((x) => apply(x, part)));
  const A = Q.map((q) => softmax(K.map((k) => k.reduce((sum, one, i) => sum + one * q[i], 0) / Math.sqrt(width))));
  const P = A.map((weights) => {
    const answer = V[0].map((_, i) => weights.reduce((sum, weight, at) => sum + weight * V[at][i], 0));
    return softmax(apply(apply(answer, model.output), model.last));
  });
  return { A, P, written: P.map((row_) => row_.indexOf(Math.max(...row_))) };
}

export function wordsOf({ digits, step, update }, { A, written }) {
  const most = A[step].indexOf(Math.max(...A[step]));
  const right = digits[STEPS - 1 - step];
  const count = written.filter((digit, at) => digit === digits[STEPS - 1 - at]).length;
  const when = update ? `After ${update} updates` : "Before training";
  const answer = written[step] === right ? `It writes ${right}, which is right.` : `It should write ${right}, and writes ${written[step]}.`;
  return `${when}, step ${step}, which holds ${digits[step]}, looks most at step ${most}, which holds ${digits[most]}: `
    + `weight ${A[step][most].toFixed(2)}. ${answer} ${count} of ${STEPS} digits ${count === 1 ? "is" : "are"} right.`;
}

// Eight digits of what somebody types; what is missing stays.
export function digitsOf(text, before) {
  const typed = [...text].filter((letter) => /[0-9]/.test(letter)).map(Number).slice(0, STEPS);
  return before.map((digit, at) => typed[at] ?? digit);
}

// Read what a link says: #attention=31415926&step=1&update=20
export function fromLink(hash, updates) {
  const said = linkedTo("attention", hash);
  if (!said) return null;
  const step = Number(said.get("step") ?? 0);
  const update = Number(said.get("update") ?? 0);
  return {
    digits: digitsOf(said.get("attention"), new Array(STEPS).fill(0)),
    step: Number.isInteger(step) && step >= 0 && step < STEPS ? step : 0,
    update: updates.includes(update) ? update : updates[0],
  };
}

export function momentOf({ digits, step, update }) {
  return { attention: digits.join(""), step, update };
}

const STYLE = `
.views { display: grid; grid-template-columns: minmax(0, 1.75fr) minmax(0, 1fr); gap: .4rem 1.4rem; align-items: end; }
svg { display: block; width: 100%; } svg text { font-size: 15.5px; }
.looks path { fill: none; stroke: var(--muted); } .looks .now { stroke: var(--forward); }
.token { cursor: pointer; } .token:focus { outline: none; }
.token rect { fill: var(--paper); stroke: var(--muted); stroke-width: 1.3; }
.token:focus-visible rect { stroke: var(--pst-color-accent, #b06b00); stroke-width: 3.5; }
.token.now rect { stroke: var(--ink); stroke-width: 2.6; } .token text { font-size: 19px; text-anchor: middle; }
.token.wrong text { fill: var(--backward); text-decoration: line-through; }
.weight { text-anchor: middle; font-variant-numeric: tabular-nums; } .weight.most { font-weight: 700; fill: var(--forward); }
.place { text-anchor: middle; fill: var(--muted); } .side { fill: var(--muted); }
.cells rect { stroke: var(--line); stroke-width: .5; fill: var(--forward); cursor: pointer; }
.cells .frame { fill: none; stroke: var(--ink); stroke-width: 2.2; pointer-events: none; }
.cells text { text-anchor: middle; fill: var(--muted); font-size: 14px; }
.bar .long { flex: 1 1 14rem; } .bar .long input { flex: 1; } output { min-width: 5.6rem; font-weight: 600; }
.list { width: 8.2rem; font-variant-numeric: tabular-nums; letter-spacing: .15em; }
.words { grid-column: 1 / -1; }
@media (max-width: 620px) { .views { grid-template-columns: 1fr; } .cells { max-width: 14rem; margin: auto; order: 3; } }
`;
const [PITCH, TILE, TOP, BOTTOM, LEFT] = [46, 38, 50, 192, 4]; // of the drawing, in its pixels

// Draw where the steps look into a host.
export function mount(host, { digits = [3, 1, 4, 1, 5, 9, 2, 6], step = 1, update = 0, linked = true, data }) {
  const models = data.models.map(() => null); // each is made when it is first shown
  const sent = linked ? fromLink(window.location.hash, data.updates) : null;
  const state = { digits: [...digits], step, update, ...sent };
  const train = player(() => host.isConnected && later(), () => draw());

  const { ground } = groundIn(host, "Where each step looks", STYLE);
  const middle = (at) => LEFT + PITCH * at + TILE / 2;
  const paths = all((i, j) => shape("path", { d: `M ${middle(i)} ${BOTTOM} C ${middle(i)} ${BOTTOM - 62} ${middle(j)} ${TOP + TILE + 62} ${middle(j)} ${TOP + TILE}` }));
  const weights = each((at) => shape("text", { class: "weight", x: middle(at), y: TOP - 9 }));
  const read = each((at) => token(at, TOP));
  const answers = each((at) => token(at, BOTTOM));
  const looks = shape("g", { class: "looks" }, ...paths.flat());
  const width = LEFT * 2 + PITCH * STEPS - (PITCH - TILE);
  const drawing = shape("svg", { viewBox: `0 0 ${width} ${BOTTOM + TILE + 44}`, role: "group", "aria-label": "the steps: above what they read, below what they write" },
    looks, ...read.map(({ group }) => group), ...answers.map(({ group }) => group), ...weights,
    ...each((at) => shape("text", { class: "place", x: middle(at), y: BOTTOM + TILE + 18 }, String(at))),
    shape("text", { class: "side", x: LEFT, y: 14 }, "the list, below the framed step's weights"),
    shape("text", { class: "side", x: LEFT, y: BOTTOM + TILE + 40 }, "what each step writes"));
  const cells = all((i, j) => shape("rect", { x: 18 + 24 * j, y: 22 + 24 * i, width: 24, height: 24, onclick: () => byHand({ step: i }) }));
  const frame = shape("rect", { class: "frame", x: 18, width: 24 * STEPS, height: 24 });
  const table = shape("svg", { class: "cells", viewBox: "0 0 212 240", role: "img" },
    ...each((at) => shape("text", { x: 30 + 24 * at, y: 15 }, String(at))), ...each((at) => shape("text", { x: 8, y: 39 + 24 * at }, String(at))),
    ...cells.flat(), frame, shape("text", { class: "side", x: 114, y: 233 }, "a row looks at the columns"));
  const { seen, heard, tell } = speaker();
  const value = element("output", {});
  const time = element("input", { type: "range", min: 0, max: data.updates.length - 1, step: 1,
    oninput: () => byHand({ update: data.updates[Number(time.value)] }) });
  const list = element("input", { class: "list", type: "text", inputmode: "numeric", maxlength: STEPS, autocomplete: "off",
    "aria-label": "the list: eight digits", oninput: () => list.value.length === STEPS && byHand({ digits: digitsOf(list.value, state.digits) }),
    onchange: () => {
      const typed = list.value.replace(/[^0-9]/g, "").length;
      byHand({ digits: digitsOf(list.value, state.digits) });
      if (typed < STEPS) tell(`A list has eight digits, and you typed ${typed}: the others are as before.`);
    } });
  const button = (text, act, options = {}) => element("button", { type: "button", onclick: act, ...options }, text);
  const start = button("Train", () => play(), { class: "main" });
  ground.append(element("div", { class: "views" }, drawing, table, element("div", { class: "words" }, seen, heard,
    element("div", { class: "bar" }, start, element("label", { class: "long" }, "updates", time, value)),
    element("div", { class: "bar" }, element("label", {}, "list", list),
      button("Another list", () => byHand({ digits: state.digits.map(() => Math.floor(10 * Math.random())) }))))));

  function each(make) {
    return Array.from({ length: STEPS }, (_, at) => make(at));
  }

  function all(make) {
    return each((i) => each((j) => make(i, j)));
  }

  function token(at, y) {
    const text = shape("text", { x: middle(at), y: y + TILE / 2 + 7 });
    const isRead = y === TOP;
    const group = shape("g", { class: "token", ...(isRead ? { role: "button", tabindex: "-1", onkeydown: (event) => press(event, at) } : { "aria-hidden": "true" }),
      onclick: () => byHand({ step: at }) },
      shape("rect", { x: LEFT + PITCH * at, y, width: TILE, height: TILE, rx: 6 }), text);
    return { group, text };
  }

  // The arrow keys go from step to step and from digit to digit; a digit is written where one is.
  function press(event, at) {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: STEPS - 1 }[event.key];
    const by = { ArrowUp: 1, ArrowDown: 9 }[event.key];
    const digit = by ? (state.digits[at] + by) % 10 : /^[0-9]$/.test(event.key) ? Number(event.key) : null;
    if (to === undefined && digit === null) return;
    event.preventDefault();
    if (digit !== null) return byHand({ digits: state.digits.map((one, place) => (place === at ? digit : one)) });
    byHand({ step: Math.min(Math.max(to, 0), STEPS - 1) });
    read[state.step].group.focus();
  }

  function byHand(by) {
    train.stop();
    Object.assign(state, by);
    draw();
    linkMoment(momentOf(state), linked);
  }

  // Go to the next of the stored updates, and say whether there are more.
  function later() {
    state.update = data.updates[data.updates.indexOf(state.update) + 1];
    const done = state.update === data.updates.at(-1);
    if (done) linkMoment(momentOf(state), linked);
    draw();
    return !done;
  }

  function play() {
    const [first, last] = [data.updates[0], data.updates.at(-1)];
    if (train.playing()) return byHand({});
    if (calm()) return byHand({ update: last });
    if (state.update === last) state.update = first;
    return train.start(PAUSE);
  }

  function draw() {
    const at = data.updates.indexOf(state.update);
    models[at] ??= modelOf(data.models[at]);
    const { A, written } = look(models[at], state.digits);
    const most = A[state.step].indexOf(Math.max(...A[state.step]));
    paths.forEach((row, i) => row.forEach((path, j) => {
      const now = i === state.step;
      path.setAttribute("class", now ? "now" : "");
      path.setAttribute("stroke-width", ((now ? 9 : 4) * A[i][j]).toFixed(2));
      path.setAttribute("stroke-opacity", now ? 0.85 : 0.35);
      path.style.display = A[i][j] < 0.01 ? "none" : "";
    }));
    looks.append(...paths[state.step]); // in front of the others
    cells.forEach((row, i) => row.forEach((cell, j) => cell.setAttribute("fill-opacity", A[i][j].toFixed(3))));
    frame.setAttribute("y", 22 + 24 * state.step);
    table.setAttribute("aria-label", `the table of weights: step ${state.step} looks at the steps with ${A[state.step].map((one) => one.toFixed(2)).join(", ")}`);
    weights.forEach((text, j) => {
      text.textContent = A[state.step][j].toFixed(2).replace(/^0/, "");
      text.setAttribute("class", j === most ? "weight most" : "weight");
    });
    state.digits.forEach((digit, place) => {
      const now = place === state.step ? " now" : "";
      read[place].text.textContent = digit;
      read[place].group.setAttribute("class", `token${now}`);
      read[place].group.setAttribute("tabindex", now ? "0" : "-1");
      read[place].group.setAttribute("aria-pressed", String(Boolean(now)));
      read[place].group.setAttribute("aria-label", `step ${place} holds ${digit}`);
      answers[place].text.textContent = written[place];
      answers[place].group.setAttribute("class", `token${now}${written[place] === state.digits[STEPS - 1 - place] ? "" : " wrong"}`);
    });
    if (ground.getRootNode().activeElement !== list) list.value = state.digits.join("");
    tell(wordsOf(state, { A, written }));
    time.value = at;
    time.setAttribute("aria-valuetext", `${state.update} updates`);
    value.textContent = state.update ? `${state.update} updates` : "untrained";
    start.textContent = train.playing() ? "Stop" : state.update === data.updates.at(-1) ? "Train again" : "Train";
  }

  draw();
  return { state, draw };
}
