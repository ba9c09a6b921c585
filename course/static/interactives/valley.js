// The valley: drop the ball anywhere, turn the valley, choose the rates, and watch optimizers race down.
//
// `walk` computes; tests compare it with minigrad. `mount` draws it into a host. A moment can be linked:
// #valley=-4,1.5&degrees=20&rates=0.039,0.06&momentum=0.6&best=no&step=30
import {
  dragged,
  element,
  ground as groundIn,
  linkedTo,
  linkMoment,
  number,
  player,
  shape,
  speaker,
} from "./parts.js";

// What each optimizer remembers about one parameter, and the step it takes for a slope: as in minigrad.
const SHARES = { decay: 0.9, beta1: 0.9, beta2: 0.999, eps: 1e-8 };
export const OPTIMIZERS = {
  plain: () => (slope, rate) => rate * slope,
  momentum: ({ momentum }) => {
    let velocity = 0;
    return (slope, rate) => {
      velocity = momentum * velocity + slope;
      return rate * velocity;
    };
  },
  RMSProp: () => {
    let square = 0;
    return (slope, rate) => {
      square = SHARES.decay * square + (1 - SHARES.decay) * slope * slope;
      return (rate * slope) / (Math.sqrt(square) + SHARES.eps);
    };
  },
  Adam: () => {
    let [mean, square, zeros1, zeros2] = [0, 0, 1, 1]; // shares of the zeros at the start
    return (slope, rate) => {
      zeros1 *= SHARES.beta1;
      zeros2 *= SHARES.beta2;
      mean = SHARES.beta1 * mean + (1 - SHARES.beta1) * slope;
      square = SHARES.beta2 * square + (1 - SHARES.beta2) * slope * slope;
      return (rate * (mean / (1 - zeros1))) / (Math.sqrt(square / (1 - zeros2)) + SHARES.eps);
    };
  },
};
const LATE = 5; // places, of which the largest loss counts: a lucky landing does not win

// Turn a place around the lowest point.
export function turned([x, y], degrees) {
  const [sin, cos] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)];
  return [cos * x - sin * y, sin * x + cos * y];
}

// The matrix of a valley with these curvatures, turned: the loss at w is half of w · matrix · w.
export function valley([along, across], degrees) {
  const [sin, cos] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)];
  const mixed = cos * along * sin - sin * across * cos;
  return [
    [cos * along * cos + sin * across * sin, mixed],
    [mixed, sin * along * sin + cos * across * cos],
  ];
}

export function loss([[a, b], [, d]], [x, y]) {
  return 0.5 * (a * x * x + 2 * b * x * y + d * y * y);
}

// Return every place of a walk, from its start on.
export function walk(name, settings, rate, matrix, start, steps) {
  const [[a, b], [, d]] = matrix;
  const [strideX, strideY] = [OPTIMIZERS[name](settings), OPTIMIZERS[name](settings)];
  const path = [start];
  for (let step = 0; step < steps; step += 1) {
    const [x, y] = path[step];
    path.push([x - strideX(a * x + b * y, rate), y - strideY(b * x + d * y, rate)]);
  }
  return path;
}

// The largest loss in a walk's last places, or infinity if it left for good.
export function lateLoss(path, matrix) {
  const losses = path.slice(-LATE).map((w) => loss(matrix, w));
  return losses.every(Number.isFinite) ? Math.max(...losses) : Infinity;
}

// Above this learning rate, a walk climbs out of the valley; the others have no such limit.
export function limit(name, { momentum }, [[a, b], [, d]]) {
  const steepest = (a + d) / 2 + Math.hypot((a - d) / 2, b);
  return { plain: 2, momentum: 2 * (1 + momentum) }[name] / steepest;
}

// Of a hundred learning rates from 0.01 to 3, the one whose walk is lowest at its end.
export function bestRate(name, settings, matrix, start, steps) {
  const top = limit(name, settings, matrix);
  const rates = Array.from({ length: 101 }, (_, place) => 0.01 * 300 ** (place / 100)).filter(
    (rate) => !(rate > top),
  );
  const late = rates.map((rate) => lateLoss(walk(name, settings, rate, matrix, start, steps), matrix));
  return rates[late.indexOf(Math.min(...late))];
}

// The learning rates of a slider: 0.0010, 0.0011 … 0.0099, 0.010 …: two digits each.
function ratesOfSlider([low, high]) {
  const all = [];
  for (let power = -4; power < 1; power += 1) {
    for (let digits = 10; digits < 100; digits += 1) all.push(Number(`${digits}e${power}`));
  }
  return all.filter((rate) => rate >= low && rate <= high);
}

// A loss in two digits or more: 0.83, 4.4e−6.
function low(value, digits = 2) {
  if (!Number.isFinite(value)) return "infinity";
  const text =
    value !== 0 && (value < 0.001 || value >= 1e5) ? value.toExponential(digits - 1) : number(value, digits);
  return text.replace("e-", "e\u2212").replace("e+", "e").replace(".0e", "e");
}

// Describe the state of the race in words.
export function sentence(state, runs) {
  const at = runs.map(({ name, losses }) => ({ name, loss: losses[state.step] }));
  const order = [...at].sort((one, other) => (Number.isFinite(one.loss) ? one.loss : Infinity) - other.loss);
  const when =
    state.step === 0 ? "At the start" : `After ${state.step} ${state.step === 1 ? "step" : "steps"}`;
  const where = state.degrees ? ` in the valley turned by ${number(state.degrees)}°` : "";
  if (state.step === 0) return `${when}${where}, the loss is ${low(at[0].loss)}. Step, or play.`;
  const [first, ...others] = order;
  const rest = others.map((one) => `${one.name} at ${low(one.loss)}`);
  const said = others.length
    ? `${when}${where}, ${first.name} is lowest, at ${low(first.loss)}; ${rest.join(", ")}.`
    : `${when}${where}, the loss is ${low(first.loss, 3)}.`;
  return [said, ...runs.map((run) => remark(state, run)).filter(Boolean)].join(" ");
}

function remark({ step, alone }, { name, rate, top, losses }) {
  const plain = name === "plain";
  const subject = plain ? "Plain steps" : name[0].toUpperCase() + name.slice(1);
  const its = plain ? "their" : "its";
  const part = rate / top;
  const climbs = Math.max(...losses.slice(-5)) >= Math.max(...losses.slice(-10, -5));
  if (part > 1 + 1e-9 && climbs) {
    return `${subject} ${plain ? "climb" : "climbs"} out: ${its} rate is above ${its} limit here, ${number(top, 2)}.`;
  }
  if (plain && part > 1 - 1e-9) return `Plain steps jump to and fro forever: ${number(rate)} is their limit.`;
  if (alone && plain && part > 0.5 + 1e-9) return "Each step jumps across the floor, to the other side.";
  if (alone && plain && part > 0.5 - 1e-9)
    return "The first step lands on the floor, and the rest follow it.";
  const lowest = Math.min(...losses.slice(0, step + 1));
  if (name === "RMSProp" && losses[step] > 50 * lowest) {
    return `RMSProp was down at ${low(lowest)} after ${losses.indexOf(lowest)} steps, and was thrown out again.`;
  }
  return "";
}

// Read what a link says, for a race between so many.
export function fromLink(hash, count) {
  const said = linkedTo("valley", hash);
  if (!said) return null;
  const numbers = (key) => (said.get(key) ?? "").split(",").map(Number);
  const [place, rates] = [numbers("valley"), numbers("rates")];
  const [degrees, momentum, step] = ["degrees", "momentum", "step"].map((key) => Number(said.get(key) ?? 0));
  const right =
    place.length === 2 &&
    place.every((one) => Math.abs(one) <= REACH) &&
    rates.length === count &&
    rates.every((one) => one > 0 && one <= 10) &&
    Math.abs(degrees) <= 90 &&
    momentum >= 0 &&
    momentum < 1 &&
    Number.isInteger(step) &&
    step >= 0;
  return right ? { place, degrees, rates, momentum, best: said.get("best") === "yes", step } : null;
}

export function momentOf({ place, degrees, rates, momentum, best, step }) {
  const short = (value) => Number(value.toPrecision(4));
  return {
    valley: place.map(short).join(","),
    degrees,
    rates: rates.map(short).join(","),
    momentum,
    best: best ? "yes" : "no",
    step,
  };
}

const REACH = 5; // how far to each side the picture goes
const SIZE = 320; // of the picture from above, in its own units
const UNIT = SIZE / (2 * REACH);
const LOOKS = {
  plain: {
    colour: "var(--forward)",
    dash: "",
    marker: (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
  },
  momentum: {
    colour: "var(--backward)",
    dash: "6 3",
    marker: (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  },
  RMSProp: {
    colour: "var(--ink)",
    dash: "6 2 1.5 2",
    marker: (x, y, r) => `M${x} ${y - 1.3 * r}l${1.2 * r} ${2.2 * r}h${-2.4 * r}z`,
  },
  Adam: {
    colour: "var(--fourth)",
    dash: "1.5 2.5",
    marker: (x, y, r) =>
      `M${x} ${y - 1.4 * r}l${1.4 * r} ${1.4 * r}l${-1.4 * r} ${1.4 * r}l${-1.4 * r} ${-1.4 * r}z`,
  },
};
const STYLE = `

.race { container-type: inline-size; }
.parts { display: grid; gap: .7rem 1.2rem;
  grid-template: "map" "bar" "say" "losses" "runners" / minmax(0, 1fr); }
@container (min-width: 560px) {
  .parts { grid-template: "map losses" auto "map runners" 1fr "bar bar" "say say" / 53% minmax(0, 1fr); }
}
.map { grid-area: map; } .losses { grid-area: losses; } .runners { grid-area: runners; }
.parts > .bar { grid-area: bar; } .parts > .say { grid-area: say; margin: 0; min-height: 4.5em; }
@container (min-width: 560px) { .parts > .say { min-height: 3em; } }
svg { display: block; width: 100%; height: auto; font-size: 14px; }
.map svg { max-width: 420px; margin: auto; border-radius: 8px; cursor: crosshair; }
.hint { font-size: .85rem; color: var(--muted); margin: .4rem 0 0; text-align: center; }
.runner { display: grid; grid-template-columns: 7.4rem minmax(4rem, 1fr) 3.1rem; gap: 0 .5rem;
  align-items: center; font-size: .9rem; font-variant-numeric: tabular-nums; }
.runner label { display: flex; gap: .4rem; align-items: center; min-height: 2rem; }
.runner svg { width: 26px; flex: none; } .runner input[type="range"] { width: 100%; margin: 0; }
.runner output { text-align: right; }
.runner.head { color: var(--muted); font-size: .85rem; }
.steps { flex: 1 1 8rem; } .steps input { flex: 1; min-width: 5rem; }
`;

// Draw the race into a host.
export function mount(
  host,
  {
    curvatures = [1, 50],
    start = [-4, 1.5],
    runners = ["plain", "momentum", "RMSProp", "Adam"],
    rates = [0.039, 0.06, 0.1, 0.1],
    momentum = 0.6,
    best = false,
    judged = 30,
    degrees = 0,
    steps = 60,
    step = 0,
    turns = true,
    range = [0.001, 3],
    lowest = -17,
    linked = true,
  } = {},
) {
  const sent = linked ? fromLink(window.location.hash, runners.length) : null;
  const state = {
    place: start,
    rates: [...rates],
    momentum,
    best,
    degrees,
    step,
    alone: runners.length === 1,
  };
  Object.assign(state, sent);
  state.step = Math.min(state.step, steps);
  const choices = ratesOfSlider(range);
  const pauses = { slowly: 600, steadily: 250, quickly: 90 };

  const { ground } = groundIn(host, "A valley from above, and a race down to its lowest point", STYLE);
  const { seen: say, heard, tell } = speaker();
  const {
    stop,
    start: begin,
    playing,
    speed,
  } = player(
    () => {
      changed({ step: state.step + 1 });
      return state.step < steps;
    },
    () => draw(),
  );

  // The valley from above: lines of equal loss, the paths, the ball, and a knob that turns it all.
  const contours = shape("g");
  for (let place = 9; place >= 0; place -= 1) {
    const height = 0.3 * 4000 ** (place / 9);
    const [rx, ry] = curvatures.map((curvature) => UNIT * Math.sqrt((2 * height) / curvature));
    contours.append(
      shape("ellipse", {
        rx,
        ry,
        fill: "var(--ink)",
        "fill-opacity": 0.022,
        stroke: "var(--muted)",
        "stroke-width": 0.7,
      }),
    );
  }
  const lines = runners.map((name) =>
    shape("path", {
      fill: "none",
      stroke: LOOKS[name].colour,
      "stroke-width": 1.6,
      "stroke-dasharray": LOOKS[name].dash,
      "stroke-linejoin": "round",
    }),
  );
  const marks = runners.map((name) => shape("path", { fill: LOOKS[name].colour }));
  const heads = runners.map((name) =>
    shape("path", { fill: LOOKS[name].colour, stroke: "var(--paper)", "stroke-width": 1.5 }),
  );
  const ball = handle("The ball: drag it where the race should start", 11, {
    "aria-roledescription": "ball",
    "aria-valuemin": -REACH,
    "aria-valuemax": REACH,
  });
  ball.append(shape("circle", { r: 4, fill: "var(--primary)" }));
  const knob = handle("Turn the valley", 9, { "aria-valuemin": -90, "aria-valuemax": 90 });
  knob.append(
    shape("path", {
      d: "M-4 -2A4.5 4.5 0 0 1 4 -2M4 -5V-2H1M4 2A4.5 4.5 0 0 1 -4 2M-4 5V2H-1",
      fill: "none",
      stroke: "var(--primary)",
      "stroke-width": 1.3,
    }),
  );
  const map = shape(
    "svg",
    {
      viewBox: `${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`,
      role: "group",
      "aria-label": "The valley from above",
      onclick: dropped,
    },
    shape("rect", { x: -SIZE / 2, y: -SIZE / 2, width: SIZE, height: SIZE, fill: "transparent" }),
    contours,
    shape("path", { d: "M-7 0H7M0 -7V7", stroke: "var(--ink)", "stroke-width": 1.6 }),
    text(SIZE / 2 - 6, SIZE / 2 - 8, "first parameter →", "end"),
    shape(
      "text",
      { transform: `translate(${16 - SIZE / 2} ${8 - SIZE / 2}) rotate(-90)`, "text-anchor": "end", fill: "currentColor" },
      "second parameter →",
    ),
    ...lines,
    ...marks,
    ...heads,
    ...(turns ? [knob] : []),
    ball,
  );

  // The losses beside it, on a logarithmic scale.
  const [wide, high, left, top] = [320, 216, 52, 22];
  const highest = 3;
  const across = (at) => left + (at / steps) * (wide - left - 12);
  const down = (value) => top + ((highest - Math.log10(value)) / (highest - lowest)) * (high - top - 42);
  const powers = lowest < -8 ? [0, -5, -10, -15] : [2, 0, -2, -4];
  const curves = lines.map((line) => line.cloneNode());
  const tips = heads.map((head) => head.cloneNode());
  const clip = `clip-${Math.random().toString(36).slice(2)}`;
  const plot = shape(
    "svg",
    {
      viewBox: `0 0 ${wide} ${high}`,
      role: "img",
      "aria-label": "The loss of each optimizer by step, on a logarithmic scale",
    },
    shape(
      "clipPath",
      { id: clip },
      shape("rect", { x: left, y: top - 4, width: wide - left - 4, height: high - top - 34 }),
    ),
    ...powers.flatMap((power) => [
      shape("line", {
        x1: left,
        x2: wide - 12,
        y1: down(10 ** power),
        y2: down(10 ** power),
        stroke: "var(--line)",
      }),
      text(left - 8, down(10 ** power) + 5, power ? `1e${number(power)}` : "1", "end"),
    ]),
    ...[0, steps / 2, steps].map((at) => text(across(at), high - 24, String(at), "middle")),
    text(left - 8, 12, "loss", "end"),
    text(across(steps / 2), high - 4, "steps", "middle"),
    shape("g", { "clip-path": `url(#${clip})` }, ...curves, ...tips),
  );

  // What can be chosen.
  const rows = runners.map((name, place) => {
    const slider = element("input", {
      type: "range",
      min: 0,
      max: choices.length - 1,
      "aria-label": `learning rate of ${name}`,
      oninput: () =>
        changed({
          rates: state.rates.map((rate, at) => (at === place ? choices[slider.value] : rate)),
          best: false,
        }),
    });
    const value = element("output");
    const sample = shape(
      "svg",
      { viewBox: "0 0 26 14", "aria-hidden": "true" },
      shape("path", {
        d: "M0 7H26",
        stroke: LOOKS[name].colour,
        "stroke-width": 1.8,
        "stroke-dasharray": LOOKS[name].dash,
      }),
      shape("path", { d: LOOKS[name].marker(13, 7, 4), fill: LOOKS[name].colour }),
    );
    return {
      slider,
      value,
      row: element(
        "div",
        { class: "runner" },
        element("label", {}, sample, state.alone ? "learning rate" : name),
        slider,
        value,
      ),
    };
  });
  const share = element("input", {
    type: "range",
    min: 0,
    max: 0.99,
    step: 0.01,
    "aria-label": "the share that momentum keeps",
    oninput: () => changed({ momentum: Number(share.value) }),
  });
  const shareValue = element("output");
  const bests = element("input", { type: "checkbox", onchange: () => changed({ best: bests.checked }) });
  const settings = element(
    "div",
    { class: "runners" },
    ...(state.alone ? [] : [element("div", { class: "runner head" }, element("span"), "learning rate")]),
    ...rows.flatMap(({ row }, place) =>
      runners[place] === "momentum"
        ? [
            row,
            element("div", { class: "runner" }, element("label", {}, "share it keeps"), share, shareValue),
          ]
        : [row],
    ),
  );
  if (judged) {
    settings.append(
      element(
        "div",
        { class: "bar" },
        element("label", {}, bests, `each at its best rate for ${judged} steps`),
      ),
    );
  }
  const scrub = element("input", {
    type: "range",
    min: 0,
    max: steps,
    "aria-label": "steps taken",
    oninput: () => byHand({ step: Number(scrub.value) }),
  });
  const counted = element("output");
  const forward = element(
    "button",
    { type: "button", class: "main", onclick: () => byHand({ step: state.step + 1 }) },
    "Step",
  );
  const backward = element(
    "button",
    { type: "button", onclick: () => byHand({ step: state.step - 1 }) },
    "Step back",
  );
  const playButton = element("button", { type: "button", onclick: play }, "Play");
  const pace = element(
    "select",
    { "aria-label": "how fast it plays", onchange: () => speed(pauses[pace.value]) },
    ...Object.keys(pauses).map((name) =>
      element("option", { value: name, selected: name === "steadily" }, name),
    ),
  );
  ground.append(
    element(
      "div",
      { class: "race" },
      element(
        "div",
        { class: "parts" },
        element(
          "div",
          { class: "map" },
          map,
          element(
            "p",
            { class: "hint" },
            `Drag the ball, or tap where it should start.${turns ? " The knob turns the valley." : ""}`,
          ),
        ),
        element(
          "div",
          { class: "bar" },
          forward,
          backward,
          playButton,
          pace,
          element("label", { class: "steps" }, scrub, counted),
        ),
        say,
        element("div", { class: "losses" }, plot),
        settings,
      ),
    ),
    heard,
  );

  function text(x, y, words, anchor) {
    return shape("text", { x, y, "text-anchor": anchor, fill: "currentColor" }, words);
  }

  // Something that is dragged, or moved with the arrow keys.
  function handle(label, r, options) {
    return shape(
      "g",
      { class: "handle", role: "slider", tabindex: 0, "aria-label": label, ...options },
      shape("circle", { r: 23, fill: "transparent" }),
      shape("circle", {
        class: "ring",
        r,
        fill: "var(--paper)",
        "fill-opacity": 0.75,
        stroke: "var(--primary)",
        "stroke-width": 2,
      }),
    );
  }

  function placeOf(event) {
    const box = map.getBoundingClientRect();
    const within = (value) => Math.max(-REACH, Math.min(REACH, Math.round(value * 20) / 20));
    return [
      within(((event.clientX - box.left) / box.width - 0.5) * 2 * REACH),
      within((0.5 - (event.clientY - box.top) / box.height) * 2 * REACH),
    ];
  }

  function dropped(event) {
    if (!event.target.closest(".handle")) changed({ place: placeOf(event) });
  }

  // The ball turns with the valley, and each angle stands for two: a floor has two ends.
  function turnTo(angle) {
    const degrees = Math.round(angle - 180 * Math.round(angle / 180));
    const place = turned(state.place, degrees - state.degrees);
    changed({ degrees, place: place.every((one) => Math.abs(one) <= REACH) ? place : state.place });
  }

  const by = (dx, dy) => () =>
    changed({
      place: [state.place[0] + dx, state.place[1] + dy].map((value) =>
        Math.max(-REACH, Math.min(REACH, Math.round(value * 20) / 20)),
      ),
    });
  dragged(ball, (event) => changed({ place: placeOf(event) }), {
    ArrowLeft: by(-0.25, 0),
    ArrowRight: by(0.25, 0),
    ArrowUp: by(0, 0.25),
    ArrowDown: by(0, -0.25),
  });
  const turnBy = (degrees) => () => turnTo(state.degrees + degrees);
  dragged(
    knob,
    (event) => {
      const [x, y] = placeOf(event);
      turnTo((Math.atan2(y, x) * 180) / Math.PI);
    },
    {
      ArrowLeft: turnBy(5),
      ArrowUp: turnBy(5),
      ArrowRight: turnBy(-5),
      ArrowDown: turnBy(-5),
      Home: () => turnTo(0),
    },
  );

  function byHand(change) {
    stop();
    changed(change);
  }
  function changed(change) {
    Object.assign(state, change);
    state.step = Math.max(0, Math.min(steps, state.step));
    linkMoment(momentOf(state), linked);
    draw();
  }
  function play() {
    if (playing()) return stop();
    if (state.step === steps) state.step = 0;
    begin(pauses[pace.value]);
  }

  let chosen = ""; // for what the best rates were chosen
  function race() {
    const matrix = valley(curvatures, state.degrees);
    const choosing = state.best ? [state.degrees, state.place, state.momentum].join() : "";
    if (choosing && choosing !== chosen) {
      state.rates = runners.map((name) => bestRate(name, state, matrix, state.place, judged));
    }
    chosen = choosing;
    return runners.map((name, place) => {
      const path = walk(name, state, state.rates[place], matrix, state.place, steps);
      return {
        name,
        rate: state.rates[place],
        top: limit(name, state, matrix),
        path,
        losses: path.map((w) => loss(matrix, w)),
      };
    });
  }

  function draw() {
    const runs = race();
    contours.setAttribute("transform", `rotate(${-state.degrees})`);
    const far = (value) => Math.round(Math.max(-9999, Math.min(9999, UNIT * value)) * 100) / 100;
    runs.forEach(({ path, losses, rate }, place) => {
      const seen = path
        .slice(0, state.step + 1)
        .filter((w) => w.every((x) => Math.abs(x) < 1e6))
        .map(([x, y]) => [far(x), far(-y)]);
      const { marker } = LOOKS[runners[place]];
      lines[place].setAttribute("d", `M${seen.map((w) => w.join(" ")).join("L")}`);
      marks[place].setAttribute(
        "d",
        seen
          .slice(1, -1)
          .map(([x, y]) => marker(x, y, 2.6))
          .join(""),
      );
      heads[place].setAttribute("d", seen.length > 1 ? marker(...seen.at(-1), 5) : "");
      const points = losses
        .slice(0, state.step + 1)
        .map((value, at) => [across(at), down(Math.min(1e9, Math.max(1e-30, value || 0)))])
        .map((point) => point.map((one) => Math.round(one * 100) / 100));
      curves[place].setAttribute("d", `M${points.map((point) => point.join(" ")).join("L")}`);
      tips[place].setAttribute("d", marker(...points.at(-1), 4.5));
      const { slider, value } = rows[place];
      const nearest = choices.reduce(
        (near, one, at) => (Math.abs(one - rate) < Math.abs(choices[near] - rate) ? at : near),
        0,
      );
      slider.value = nearest;
      slider.setAttribute("aria-valuetext", number(rate, 2));
      value.textContent = number(rate, 2);
    });
    const [x, y] = state.place;
    ball.setAttribute("transform", `translate(${far(x)} ${far(-y)})`);
    ball.setAttribute("aria-valuenow", number(x).replace("\u2212", "-"));
    ball.setAttribute("aria-valuetext", `first parameter ${number(x, 3)}, second ${number(y, 3)}`);
    const [knobX, knobY] = turned([4.5, 0], state.degrees);
    knob.setAttribute("transform", `translate(${far(knobX)} ${far(-knobY)})`);
    knob.setAttribute("aria-valuenow", state.degrees);
    knob.setAttribute("aria-valuetext", `turned by ${number(state.degrees)} degrees`);
    share.value = state.momentum;
    shareValue.textContent = number(state.momentum);
    bests.checked = state.best;
    scrub.value = state.step;
    scrub.setAttribute("aria-valuetext", `${state.step} of ${steps} steps`);
    counted.textContent = `${state.step} of ${steps}`;
    forward.disabled = state.step === steps;
    backward.disabled = state.step === 0;
    playButton.textContent = playing() ? "Stop" : "Play";
    tell(sentence(state, runs));
  }

  draw();
  return { state, draw };
}
