// What the pictures that move share: elements, numbers, colours, the ground they stand on, and their links.

// Make an element: options beginning with "on" listen, true and false switch an attribute, the rest sets it.
export function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  give(made, options);
  made.append(...children);
  return made;
}

// The same for a drawing: shape("circle", { cx: 3, cy: 4, r: 2 }).
export function shape(tag, options = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  give(made, options);
  made.append(...children);
  return made;
}

function give(made, options) {
  for (const [name, value] of Object.entries(options)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
}

// A number as a person reads it: at most four digits, and a true minus.
export function number(value, digits = 4) {
  const text = Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(digits)));
  return text.replace("-", "\u2212");
}

// Whether the reader asked for pictures that keep still.
export function calm() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// The colours mean what they mean in every figure: see course/colours.py. A book's page has its theme's,
// a lab its own, and both may be dark.
const STYLE = `
:host { display: block; --ink: var(--pst-color-text-base, var(--jp-content-font-color1, #262626));
  --muted: var(--pst-color-text-muted, var(--jp-content-font-color2, #6b6b6b));
  --line: var(--pst-color-border, var(--jp-border-color1, #d0d0d0));
  --paper: var(--pst-color-background, var(--jp-layout-color0, #fff));
  --primary: var(--pst-color-primary, #63399b); --on-primary: var(--pst-color-primary-text, #fff);
  --forward: var(--figure-forward, #0072b2); --backward: var(--figure-backward, #b84a00); --fourth: #b8568f;
  color: var(--ink); font: inherit; line-height: 1.45; }
:host(:focus-within) .ground { outline: 2px solid var(--pst-color-accent, #63399b); outline-offset: -2px; }
* { box-sizing: border-box; }
.still { display: none; }
.ground { border: 1px solid var(--line); border-radius: 10px; padding: 1rem; margin-bottom: .5rem; }
.say { min-height: 3em; margin: .8rem 0 .4rem; }
.heard { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.handle { cursor: grab; touch-action: none; } .handle.held { cursor: grabbing; }
.bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; font-size: .9rem; }
.bar label { display: inline-flex; gap: .4rem; align-items: center; max-width: 100%; }
.bar select { min-width: 0; }
button, select, input:not([type="range"], [type="checkbox"], [type="radio"]) { font: inherit; font-size: .9rem; color: inherit;
  background: transparent; min-height: 2.2rem; border: 1px solid var(--muted); border-radius: 6px; padding: .15rem .6rem; }
select option { color: #111; background: #fff; }
input[type="range"] { accent-color: var(--primary); min-height: 2rem; }
button { cursor: pointer; } button[disabled] { opacity: .45; cursor: default; }
button.main { background: var(--primary); border-color: var(--primary); color: var(--on-primary); }
:focus-visible { outline: 3px solid var(--pst-color-accent, #b06b00); outline-offset: 2px; }
.handle:focus-visible { outline: none; } .handle:focus-visible .ring { stroke: var(--pst-color-accent, #b06b00); stroke-width: 3.5; }
svg text { fill: currentColor; font: inherit; }
@media print { .ground { display: none; } .still { display: block; } }
`;

// Return an empty ground in the host, with the module's style; the still picture stays for paper.
export function ground(host, label, style = "") {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  // data-lm-suppress-shortcuts keeps JupyterLab from taking the keys for itself.
  const made = element("div", { class: "ground", role: "group", "aria-label": label, "data-lm-suppress-shortcuts": "true" });
  host.dataset.lmSuppressShortcuts = "true";
  root.replaceChildren(element("style", {}, STYLE + style), made, element("div", { class: "still" }, element("slot")));
  return { root, ground: made };
}

// What a link says to this picture, or null: #valley=1&rate=0.3 speaks to the valley.
export function linkedTo(name, hash = window.location.hash) {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  return said.has(name) ? said : null;
}

// Put a moment on the page's address, so that it can be sent. A lab's address is left alone.
export function linkMoment(entries, linked) {
  if (linked) window.history.replaceState(null, "", `#${new URLSearchParams(entries)}`);
}

// A sentence under a picture: the eye has it at once, the ear when nothing has changed for a moment.
export function speaker() {
  const seen = element("p", { class: "say", "aria-hidden": "true" });
  const heard = element("p", { class: "heard", "aria-live": "polite" });
  let waiting = null;
  const tell = (words) => {
    seen.textContent = words;
    window.clearTimeout(waiting);
    waiting = window.setTimeout(() => (heard.textContent = words), heard.textContent ? 700 : 0);
  };
  return { seen, heard, tell };
}

// Let something be dragged, and moved by keys: move(event) while it is held, keys as { ArrowLeft: action }.
export function dragged(grip, move, keys) {
  let held = null;
  grip.addEventListener("pointerdown", (event) => {
    held = event.pointerId;
    grip.setPointerCapture(held);
    grip.classList.add("held");
    event.preventDefault();
    grip.focus({ preventScroll: true });
  });
  grip.addEventListener("pointermove", (event) => event.pointerId === held && move(event));
  for (const end of ["pointerup", "pointercancel"]) {
    grip.addEventListener(end, () => {
      held = null;
      grip.classList.remove("held");
    });
  }
  grip.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key](event);
  });
}

// Repeat a step until it returns false; pressed again, stop. `changed` is called when it begins and when it ends.
export function player(step, changed) {
  let [timer, pause] = [null, 0];
  const run = () => window.setInterval(() => step() || stop(), pause);
  function stop() {
    if (!timer) return;
    window.clearInterval(timer);
    timer = null;
    changed();
  }
  function start(every) {
    pause = every;
    timer = run();
    changed();
  }
  return {
    stop, start, playing: () => timer !== null,
    speed: (every) => {
      pause = every;
      if (!timer) return;
      window.clearInterval(timer);
      timer = run();
    },
  };
}

// The weights that `python -m authoring moving` stored: a list of { shape, values }, in the order of the model's
// parameters. A weight is its byte times the scale of its row.
export function weightsOf({ shapes, scales, bytes }) {
  const factors = new Float32Array(bytesOf(scales).buffer);
  const rounded = new Int8Array(bytesOf(bytes).buffer);
  let [row, place] = [0, 0];
  return shapes.map((shape) => {
    const values = new Float64Array(shape.reduce((product, size) => product * size, 1));
    for (let start = 0; start < values.length; start += shape.at(-1), row += 1) {
      for (let i = start; i < start + shape.at(-1); i += 1) values[i] = rounded[place + i] * factors[row];
    }
    place += values.length;
    return { shape, values };
  });
}

// The bytes that a text in base64 stands for.
export function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// The product of a row and a matrix, plus a bias: what minigrad's Linear computes for one row.
export function linear(x, W, b) {
  const [weights, y] = [W.values, Float64Array.from(b.values)];
  const width = y.length;
  for (let i = 0, at = 0; i < x.length; i += 1, at += width) {
    const one = x[i];
    if (one !== 0) for (let j = 0; j < width; j += 1) y[j] += one * weights[at + j];
  }
  return y;
}

export function softmax(scores) {
  const most = Math.max(...scores);
  const powers = Array.from(scores, (score) => Math.exp(score - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

// A percentage as a person reads it.
export function percent(share) {
  const hundredths = 100 * share;
  if (hundredths > 0 && hundredths < 1) return "under 1\u00a0%";
  return `${hundredths > 99 && hundredths < 100 ? Math.min(hundredths, 99.9).toFixed(1) : Math.round(hundredths)}\u00a0%`;
}
