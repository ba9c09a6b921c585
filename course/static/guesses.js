// The fields of guesses, in the book and in JupyterLab. A chapter's Markdown has a host for each guess,
// <div class="guess guess-ID">; `start` fills them. A reader's guess is put beside the answer, and stored.

const KEY = "minigrad.guesses"; // in the browser's storage: {chapter: {ID: {said, held}}}
const STYLE = `
.guess-box, .guess-count, .guess-tools { --guess-edge: var(--pst-color-primary, var(--jp-brand-color1, #63399b));
  --guess-ink: var(--pst-color-text-base, var(--jp-content-font-color1, #222));
  --guess-ground: var(--pst-color-background, var(--jp-layout-color1, #fff));
  --guess-line: var(--pst-color-text-muted, var(--jp-content-font-color2, #666)); }
.guess-box { margin: 0.9em 0; padding: 0.6em 0.9em 0.7em; border-left: 5px solid var(--guess-edge); max-width: var(--measure, 46em);
  background: color-mix(in srgb, var(--guess-edge) 9%, transparent); font-size: 0.95em; line-height: 1.45; color: var(--guess-ink);
  overflow-wrap: anywhere; }
.guess-box fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
.guess-box .guess-field { display: flex; flex-wrap: wrap; gap: 0.2em 0.7em; align-items: baseline; margin: 0.25em 0; }
.guess-box .guess-label { font-weight: 600; font-size: inherit; margin: 0; padding: 0; float: none; width: auto; }
.guess-box .guess-label em { font-weight: 400; } /* or the page would fetch another face */
.guess-mark { font: 700 1em system-ui, sans-serif; color: var(--guess-edge); margin-right: 0.15em; }
.guess-box .guess-options { display: flex; flex-wrap: wrap; gap: 0.15em 1.1em; }
.guess-box .guess-options label { display: flex; gap: 0.4em; align-items: center; margin: 0; min-height: 24px; cursor: pointer; }
.guess-box .guess-options input { flex: none; margin: 0; }
.guess-box .guess-options :is(label, span) { min-width: 0; max-width: 100%; }
.guess-box code { white-space: normal; overflow-wrap: anywhere; }
.guess-box input:is([type="text"]), .guess-box select { box-sizing: border-box; font: inherit; color: inherit;
  background: var(--guess-ground); border: 1px solid var(--guess-line); border-radius: 0.25em; padding: 0.15em 0.45em; max-width: 100%; }
:is(.guess-box, .guess-count, .guess-tools) button { font: inherit; font-weight: 600; min-height: 1.9em; padding: 0.1em 0.9em;
  border: 1px solid var(--guess-edge); border-radius: 0.3em; cursor: pointer; background: none; color: var(--guess-edge); }
.guess-box button[type="submit"] { background: var(--guess-edge); color: var(--guess-ground); }
:is(.guess-box, .guess-count) button.guess-quiet { border-color: transparent; font-weight: 400; padding: 0; text-decoration: underline;
  min-height: 24px; min-width: 24px; }
:is(.guess-box, .guess-box :is(input, select, button), .guess-count, .guess-count button, .guess-tools button):focus-visible {
  outline: 2px solid var(--guess-edge); outline-offset: 2px; }
.guess-box .guess-buttons, .guess-tools { display: flex; flex-wrap: wrap; gap: 0.4em 0.8em; margin-top: 0.5em; }
.guess-box ul.guess-found { list-style: none; margin: 0.1em 0; padding: 0; }
.guess-box ul.guess-found li { margin: 0.2em 0; max-width: none; }
.guess-box p { margin: 0.3em 0; max-width: none; }
@media (pointer: coarse) { .guess-box :is(button, select, input[type="text"], .guess-options label), .guess-tools button { min-height: 2.5em; } }
@media print { .guess-box > * { display: none !important; } .guess-box { background: none; border: 0; }
  .guess-box::before { content: "My guess: ____________________________________"; } .guess-tools { display: none !important; } }
`;

// Makes an element with attributes, event listeners and children.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function styled() {
  if (!document.querySelector("style.guess-style")) document.head.append(make("style", { class: "guess-style" }, STYLE));
}

// Turns `code` and *emphasis* into elements.
function marked(text) {
  const parts = (text ?? "").split(/(`[^`]+`|\*[^*\s][^*]*\*)/);
  return parts.filter(Boolean).map((part) => {
    if (/^`.+`$/.test(part)) return make("code", {}, part.slice(1, -1));
    return /^\*.+\*$/.test(part) ? make("em", {}, part.slice(1, -1)) : part;
  });
}

// ---- numbers

// Reads one number as people write it: 1,000 · 1e-3 · 10^5 · 2·10^3 · 1/3 · −4 · 50 %. Returns null if it is none.
export function readNumber(text, unit = "") {
  let words = text.trim().replace(/[−–]/g, "-").replace(/\s+/g, " ").toLowerCase();
  if (unit && words.endsWith(unit.toLowerCase())) words = words.slice(0, -unit.length).trim();
  const percent = /%$|\bpercent$/.test(words);
  words = words.replace(/\s*(%|percent)$/, "");
  words = words.replace(/(\d) (?=\d{3}\b)/g, "$1").replace(/ ?([-+·*×x/^()]) ?/g, "$1"); // but 1 2 is not 12
  if (/^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(words)) words = words.replaceAll(",", "");
  else if (/^[-+]?\d+,\d+$/.test(words)) words = words.replace(",", "."); // a decimal comma
  const plain = "[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[-+]?\\d+)?";
  const power = new RegExp(`^(?:(${plain})(?:[·*x×]))?([-+]?)10(?:\\^|\\*\\*)\\(?([-+]?\\d+)\\)?$`).exec(words);
  const ratio = new RegExp(`^(${plain})/(${plain})$`).exec(words);
  let value = null;
  if (power) value = Number(power[1] ?? 1) * (power[2] === "-" ? -1 : 1) * Number(`1e${power[3]}`);
  else if (ratio) value = Number(ratio[1]) / Number(ratio[2]);
  else if (new RegExp(`^${plain}$`).test(words)) value = Number(words);
  if (value === null || !Number.isFinite(value)) return null;
  return percent && !/percent|%/.test(unit) ? value / 100 : value;
}

// Reads numbers between spaces, commas, semicolons, brackets or "and". Returns null if anything else is among them.
export function readNumbers(text, unit = "") {
  const parts = text.replace(/\s+%/g, "%").replace(/ \/ /g, " ").split(/[\s,;()[\]]+|\b(?:and|then)\b/).filter(Boolean);
  const values = parts.map((part) => readNumber(part, unit));
  return values.length && !values.includes(null) ? values : null;
}

// Whether a guess is right, within what the question allows: "±0.5", "±10%", "×2", or exactly.
export function isRight(said, right, within = "") {
  const far = Math.abs(said - right);
  const tiny = 1e-6 * Math.max(Math.abs(right), 1e-12);
  const [, kind, size, percent] = /^([±×])([\d.]+)(%?)$/.exec(within) ?? [];
  if (kind === "±") return far <= (percent ? (Math.abs(right) * size) / 100 : Number(size)) + tiny;
  if (kind === "×") return said * right > 0 && said / right <= size * (1 + 1e-9) && right / said <= size * (1 + 1e-9);
  return far <= tiny || Number(said.toPrecision(4)) === Number(right.toPrecision(4)) && !Number.isInteger(right);
}

// A number as the book writes it: 16,384 · 0.0125 · 1e-9.
export function shown(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US").replace("-", "−");
  if (Math.abs(value) >= 1000 && Math.abs(value) < 1e6) return shown(Math.round(value));
  const short = Number(value.toPrecision(4));
  const text = Math.abs(short) >= 1e6 || Math.abs(short) < 1e-4 ? short.toExponential() : String(short);
  return text.replace("e+", "e").replace(/^-/, "−");
}

// Says by what a number is wrong.
export function byWhat(said, right) {
  if (right === 0 || said === 0) return `your guess is off by ${shown(Math.abs(said - right))}`;
  const ratio = said / right;
  if (Math.abs(ratio + 1) < 1e-6) return "only the sign is wrong";
  if (ratio < 0) return "your guess is on the other side of 0";
  const near = (value) => Math.abs(ratio - value) < 1e-3 * value;
  if (near(2)) return "your guess is twice as large";
  if (near(0.5)) return "your guess is half as large";
  if (ratio >= 1.5) return `your guess is ${shown(Number(ratio.toPrecision(2)))} times as large`;
  if (ratio <= 1 / 1.5) return `your guess is ${shown(Number((1 / ratio).toPrecision(2)))} times too small`;
  return `your guess is too ${said > right ? "large" : "small"} by ${shown(Math.abs(said - right))}`;
}

const equal = (one, other) => one.length === other.length && one.every((value, place) => isRight(value, other[place]));

const ofThem = (count, all) => (count ? `${count} of ${all} ${count === 1 ? "is" : "are"}` : "none of them is");

const joined = (words) =>
  words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : (words[0] ?? "none of them");

// ---- one field: its controls, how it reads them, and how it judges

const LIKE = {
  number: "Write one number, such as 12, 0.5 or 1e-3.",
  numbers: "Write numbers with spaces or commas between them, such as 3, 0.5, 12.",
  shape: "Write a shape, such as (128, 16).",
  choice: "Choose one.",
  choices: "Choose at least one.",
  order: "Choose each of them once.",
  text: "Write a few words.",
};

// Says what a field still needs, or nothing. How many numbers there are is no secret; which ones, is.
function lacks({ kind, is }, value) {
  if (kind === "numbers" && value === null && Array.isArray(is[0])) return LIKE[kind].replace(/\.$/, ", row by row.");
  if (value === null || (kind === "choices" && !value.length)) return LIKE[kind];
  const count = kind === "numbers" ? flat(is).length : value.length;
  return kind === "numbers" && value.length !== count ? `You wrote ${value.length}, and there are ${count} numbers.` : "";
}

const flat = (value) => (Array.isArray(value) ? value.flat(Infinity) : [value]);
const tuple = (sizes) => `(${sizes.join(", ")}${sizes.length === 1 ? "," : ""})`;

// A row of inputs for a field, and functions on them: `read` returns what was said, or null if it can't be read.
function control(field, name) {
  const label = marked(field.label || "Your guess");
  const { kind, options = [], unit = "" } = field;
  if (kind === "choice" || kind === "choices") {
    const type = kind === "choice" ? "radio" : "checkbox";
    const inputs = options.map((_, place) => make("input", { type, name, value: place }));
    const row = make("fieldset", { class: "guess-field" }, make("legend", { class: "guess-label" }, ...label),
      make("div", { class: "guess-options" }, ...inputs.map((input, place) => make("label", {}, input, make("span", {}, ...marked(options[place]))))));
    const chosen = () => inputs.filter((input) => input.checked).map((input) => Number(input.value));
    return { row, first: inputs[0], read: () => (kind === "choice" ? (chosen()[0] ?? null) : chosen()) };
  }
  if (kind === "order") {
    const selects = options.map((_, rank) =>
      make("select", { "aria-label": `Place ${rank + 1}` }, make("option", { value: "" }, `${rank + 1}.`),
        ...options.map((option, place) => make("option", { value: place }, option.replaceAll("`", "")))));
    const row = make("fieldset", { class: "guess-field" }, make("legend", { class: "guess-label" }, ...label), ...selects);
    const read = () => {
      const places = selects.map((select) => select.value);
      return places.includes("") || new Set(places).size < places.length ? null : places.map(Number);
    };
    return { row, first: selects[0], read };
  }
  const wide = { number: "7em", shape: "9em", numbers: "16em", text: "26em" }[kind];
  const input = make("input", { type: "text", name, autocomplete: "off", style: `width: ${wide}`, spellcheck: kind === "text" ? "true" : "false" });
  if (kind === "number") input.setAttribute("inputmode", "text");
  const row = make("label", { class: "guess-field" }, make("span", { class: "guess-label" }, ...label), input, ...(unit ? [make("span", {}, unit)] : []));
  const read = () => {
    const text = input.value.trim();
    if (!text) return null;
    if (kind === "number") return readNumber(text, unit);
    if (kind === "text") return text;
    if (kind === "shape" && /^[([]\s*[)\]]$/.test(text)) return []; // the shape of a single number
    return readNumbers(text, unit);
  };
  return { row, first: input, read };
}

// An option within a sentence: words stand in quotation marks, numbers and code do not.
const quoted = (option) => (/^([\d−]|`[^`]*`$)/.test(option) ? option : `“${option}”`);

// A guess or an answer in words.
function inWords(field, value) {
  const { kind, options = [], unit } = field;
  if (kind === "text") return value;
  if (kind === "number") return shown(value) + (unit ? ` ${unit}` : "");
  if (kind === "numbers") return joined(flat(value).map(shown)) + (unit ? ` ${unit}` : "");
  if (kind === "shape") return tuple(value);
  if (kind === "choice") return quoted(options[value]);
  if (kind === "order") return value.map((place) => options[place]).join(", ");
  return joined(value.map((place) => quoted(options[place])));
}

// Judges a guess: whether it is right (null for a text), and what to say of it.
export function judged(field, said) {
  const { kind, within, others = {} } = field;
  const right = field.is;
  if (kind === "text") return { right: null, why: "" };
  let good, why = "";
  if (kind === "number") {
    good = isRight(said, right, within);
    why = good ? (isRight(said, right) ? "" : "that is close enough") : byWhat(said, right);
  } else if (kind === "numbers") {
    const all = flat(right);
    const held = said.filter((value, place) => place < all.length && isRight(value, all[place], within)).length;
    good = said.length === all.length && held === all.length;
    if (!good) why = all.length > 1 ? `${ofThem(held, all.length)} right` : byWhat(said[0], all[0]);
  } else if (kind === "choice") good = said === right;
  else {
    good = equal(kind === "choices" ? [...said].sort() : said, kind === "choices" ? [...right].sort() : right);
    if (!good && kind === "shape") {
      why = equal([...said].reverse(), right) ? "the axes are the other way round" : said.length !== right.length ? `it has ${right.length} ${right.length === 1 ? "axis" : "axes"}` : "";
    } else if (!good && kind === "choices") {
      const missed = right.filter((place) => !said.includes(place)).length;
      const more = said.filter((place) => !right.includes(place)).length;
      why = [missed && `you missed ${missed}`, more && `you chose ${more} too many`].filter(Boolean).join(", and ");
    } else if (!good) why = `${ofThem(said.filter((place, rank) => place === right[rank]).length, right.length)} in the right place`;
  }
  if (good) return { right: true, why };
  const all = flat(said);
  const met = Object.entries(others).filter(([key]) => equal(readNumbers(key) ?? [], all));
  const single = Object.entries(others).filter(([key]) => kind === "choices" && all.includes(Number(key)) && !right.includes(Number(key)));
  const more = (met[0] ?? single[0])?.[1] ?? "";
  return { right: false, why: kind === "number" && more ? "" : why, more }; // a reason says more than a ratio
}

// ---- one guess

class Guess {
  constructor(host, { id, fields }, keeper) {
    Object.assign(this, { host, id, fields, keeper });
    host.dataset.filled = "yes";
    this.status = make("div", { role: "status", id: `guess-${id}-status` });
    const attributes = { class: "guess-box", "data-lm-suppress-shortcuts": "true", role: "group", "aria-label": "Your guess", tabindex: -1 };
    this.box = make("div", attributes, this.status);
    for (const kind of ["mousedown", "click", "dblclick", "keydown", "contextmenu"]) {
      this.box.addEventListener(kind, (event) => event.stopPropagation()); // JupyterLab would select or edit the cell
    }
    host.replaceChildren(this.box);
    const known = keeper.known()[id];
    try {
      if (known?.shown) this.#opened(false);
      else if (known?.waits) this.#waits(known.said, false);
      else if (known?.said?.length === fields.length) {
        this.#compare(known.said, false);
        if (!fields[0].later) this.#openFold();
      }
      else this.ask();
    } catch {
      this.ask(); // what was stored answered an older form of the question
    }
  }

  // Shows the fields.
  ask() {
    const controls = this.fields.map((field, place) => control(field, `guess-${this.id}-${place}`));
    const keydown = (event) => {
      if (event.key === "Enter" && /^(radio|checkbox)$/.test(event.target.type)) event.preventDefault(); // Compare is a button
    };
    const form = make("form", { novalidate: "", keydown, submit: (event) => this.#submit(event, controls) }, ...controls.map(({ row }) => row),
      make("div", { class: "guess-buttons" },
        make("button", { type: "submit" }, "Compare"),
        make("button", { type: "button", click: () => this.#showMe() }, "Show me")));
    this.status.replaceChildren();
    this.#around([form], []);
    return controls[0].first;
  }

  #showMe() {
    this.keeper.keep(this.id, { shown: true });
    this.#openFold();
    this.#opened(true);
  }

  #submit(event, controls) {
    event.preventDefault();
    const said = controls.map(({ read }) => read());
    const missing = said.map((value, place) => lacks(this.fields[place], value));
    const place = missing.findIndex(Boolean);
    if (place >= 0) {
      const { label } = this.fields[place];
      const which = this.fields.length > 1 && label ? [...marked(label), ": "] : [];
      const like = which.length ? missing[place].replace(/^./, (letter) => letter.toLowerCase()) : missing[place];
      this.status.replaceChildren(make("p", {}, ...which, like));
      controls.forEach(({ first }) => first.removeAttribute("aria-describedby"));
      controls[place].first.setAttribute("aria-describedby", this.status.id);
      controls[place].first.focus();
      return;
    }
    if (this.fields[0].later) {
      this.keeper.keep(this.id, { said, held: null, waits: true });
      this.#waits(said, true);
    } else this.#settle(said);
  }

  // Compares, stores, and opens the fold.
  #settle(said) {
    if (!this.fields[0].later) this.#openFold();
    const before = this.keeper.known()[this.id];
    const held = this.#compare(said, true);
    if (!before || before.waits) this.keeper.keep(this.id, { said, held });
    else this.status.append(make("p", {}, before.shown ? "It does not count, since you had opened the answer." : "Your first guess counts."));
  }

  // Notes a guess that the chapter answers later.
  #waits(said, isNew) {
    const words = this.fields.map((field, place) => make("li", {}, ...(field.label ? [make("span", { class: "guess-label" }, ...marked(field.label)), ": "] : []), ...marked(inWords(field, said[place])), "."));
    const now = make("button", { type: "button", click: () => this.#settle(said) }, "Compare now");
    this.#finish(make("div", {}, make("p", {}, "Your guess is noted. The chapter answers it later."), make("ul", { class: "guess-found" }, ...words)), isNew, now);
  }

  // Puts a guess beside the answer, and returns whether it held: null if it is only text.
  #compare(said, isNew) {
    const lines = this.fields.map((field, place) => this.#line(field, said[place]));
    const verdicts = lines.map(({ right }) => right).filter((right) => right !== null);
    this.#finish(make("ul", { class: "guess-found" }, ...lines.map(({ line }) => line)), isNew);
    return verdicts.length ? verdicts.every(Boolean) : null;
  }

  #line(field, said) {
    const { right, why, more } = judged(field, said);
    const label = this.fields.length > 1 && field.label ? [make("span", { class: "guess-label" }, ...marked(field.label)), ": you said "] : ["You said "];
    const mark = right === null ? [] : [make("span", { class: "guess-mark" }, right ? "✓" : "≠"), " "];
    const line = make("li", {}, ...mark, ...label, ...marked(field.kind === "text" ? `“${said}”` : inWords(field, said)));
    if (right === null) line.append(". Compare it with the answer below.");
    else if (right && field.options) line.append(", and that is right.");
    else line.append(field.options ? ". The answer is " : field.within ? ". It is about " : ". It is ", ...marked(inWords(field, field.is)), why ? `; ${why}.` : ".");
    if (more) line.append(" ", ...marked(more));
    return { line, right };
  }

  #opened(isNew) {
    this.#finish(make("p", {}, "Opened without a guess."), isNew);
  }

  #finish(content, isNew, ...buttons) {
    const again = make("button", { type: "button", class: "guess-quiet", click: () => this.ask().focus() }, "Guess again");
    this.#around(isNew ? [] : [content], [make("div", { class: "guess-buttons" }, ...buttons, again)]);
    this.status.replaceChildren(...(isNew ? [content] : []));
    if (!isNew) return;
    this.box.focus({ preventScroll: true }); // not on a button that a second Enter would press
    this.box.scrollIntoView({ block: "nearest" });
  }

  // Shows something before and behind the status, which stays in the page: only so is it read out.
  #around(before, behind) {
    [...this.box.children].forEach((child) => child !== this.status && child.remove());
    this.box.prepend(...before);
    this.box.append(...behind);
  }

  // Opens the folds between this guess and the next one.
  #openFold() {
    const after = (one, other) => Boolean(one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);
    const next = [...document.querySelectorAll("div.guess")].find((host) => host !== this.host && after(this.host, host));
    for (const fold of document.querySelectorAll("details.answer")) {
      if (after(this.host, fold) && (!next || after(fold, next))) fold.open = true;
    }
  }
}

// ---- all guesses of a page

const plural = (count, word, words = `${word}es`) => `${count} ${count === 1 ? word : words}`;

// Says how many of a chapter's guesses were made, and how many held.
export function tally(asked, known) {
  const made = asked.filter(({ id }) => known[id]?.said);
  const held = made.filter(({ id }) => known[id].held === true).length;
  const judgedOnes = made.filter(({ id }) => known[id].held !== null).length;
  return { all: asked.length, made: made.length, held, judged: judgedOnes };
}

// Fills the hosts of a page; `load` and `save` keep what was guessed, `told` hears of every change.
export function start({ asked, load, save, told = () => {} }) {
  styled();
  const byId = Object.fromEntries(asked.map((one) => [one.id, one]));
  let known = load();
  const keeper = {
    known: () => known,
    keep(id, entry) {
      known = { ...known, [id]: entry };
      if (!entry) delete known[id];
      save(known);
      told(tally(asked, known));
    },
  };
  const fill = () =>
    document.querySelectorAll("div.guess:not([data-filled])").forEach((host) => {
      const name = [...host.classList].find((word) => word.startsWith("guess-"))?.slice("guess-".length);
      if (name in byId) new Guess(host, byId[name], keeper);
    });
  fill();
  told(tally(asked, known));
  const clear = () => {
    known = {};
    save(known);
    document.querySelectorAll("div.guess[data-filled]").forEach((host) => delete host.dataset.filled);
    fill();
    told(tally(asked, known));
  };
  return { fill, clear };
}

const stored = () => {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
};
const put = (all) => localStorage.setItem(KEY, JSON.stringify(all));

// Writes into an element how many guesses were made and held, and a button that clears them.
function write(counter, { all, made, held, judged: judgedOnes }, clear, explained) {
  const words = (made ? `${made} of ${plural(all, "guess")} made` : plural(all, "guess")) + (judgedOnes ? `, ${held} of ${judgedOnes} held` : "");
  counter.replaceChildren(explained ? make("a", { href: explained }, words) : words);
  if (!made) return;
  const click = () => {
    if (!window.confirm("Clear the guesses of this chapter?")) return;
    clear();
    counter.setAttribute("tabindex", -1); // its button is gone
    counter.focus();
  };
  const label = "Clear the guesses of this chapter";
  counter.append(" ", make("button", { type: "button", class: "guess-quiet", "aria-label": label, click }, "Clear"));
}

// Puts the fields behind the code that a question asks about, where only code without output stands before the answer.
function comesAfterCode(host) {
  let last = host;
  const next = () => last.nextElementSibling;
  while (next()?.matches("div.cell:not(:has(.cell_output))")) last = next();
  if (last !== host && next()?.matches("details.answer")) last.after(host);
}

// In the book: what is guessed stays in this browser, and the row under the title counts it.
export function inBook({ chapter, asked }) {
  const counter = document.querySelector(".guess-count");
  document.querySelectorAll("div.guess").forEach(comesAfterCode);
  const page = start({
    asked,
    load: () => stored()[chapter] ?? {},
    save: (known) => put({ ...stored(), [chapter]: known }),
    told: (found) => counter && write(counter, found, () => page.clear(), "../where_you_are.html"),
  });
}

// In JupyterLab: what is guessed comes from Python and goes there through a hidden widget, whose input holds it as JSON. A
// saved output runs again when its notebook is opened: only if the kernel still lives there is a widget, and then fields.
// Cells are drawn and dropped at any time. The cell that brought the fields counts.
export function inLab({ chapter, asked }) {
  const all = (window.minigradGuesses ??= {});
  all[chapter]?.disconnect();
  document.querySelectorAll("div.guess[data-filled]").forEach((host) => {
    if (asked.some(({ id }) => host.classList.contains(`guess-${id}`))) delete host.dataset.filled;
  });
  const record = () => document.querySelector(`.guesses-of-${chapter}:not(.jupyter-widgets-disconnected) input`);
  const save = (known) => {
    const input = record();
    if (!input) return;
    input.value = JSON.stringify(known);
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  let page = null;
  const told = (found) => {
    const counter = document.querySelector(`[data-guesses-of="${chapter}"]`);
    if (counter) write(counter, found, () => page.clear());
  };
  const fill = () => {
    if (page) page.fill();
    else if (record()?.value) page = start({ asked, load: () => JSON.parse(record().value), save, told });
  };
  let waiting = false;
  all[chapter] = new MutationObserver(() => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; fill(); });
  });
  all[chapter].observe(document.body, { childList: true, subtree: true });
  fill();
}

// The page "Where you are": a table of all chapters, a file to hand in, and a way to start anew.
export function course(host, chapters) {
  styled();
  const table = make("table", { class: "table" });
  const draw = () => {
    const known = stored();
    const rows = chapters.map(({ chapter, title, page, asked }) => ({ title, page, ...tally(asked.map((id) => ({ id })), known[chapter] ?? {}) }));
    const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
    const cells = (made, all, held, judgedOnes) =>
      [`${made} of ${all}`, judgedOnes ? `${held} of ${judgedOnes}` : "–"].map((text) => make("td", {}, text));
    table.replaceChildren(
      make("thead", {}, make("tr", {}, ...["Chapter", "Guesses made", "Held"].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, make("th", { scope: "row" }, make("a", { href: row.page }, row.title)),
        ...cells(row.made, row.all, row.held, row.judged)))),
      make("tfoot", {}, make("tr", {}, make("th", { scope: "row" }, "The course"), ...cells(...["made", "all", "held", "judged"].map(sum)))));
  };
  const download = () => {
    const url = URL.createObjectURL(new Blob([JSON.stringify(stored(), null, 1)], { type: "application/json" }));
    make("a", { href: url, download: "guesses.json" }).click();
    URL.revokeObjectURL(url);
  };
  const clear = () => { if (window.confirm("Clear the guesses of all chapters in this browser?")) { put({}); draw(); } };
  host.replaceChildren(table, make("p", { class: "guess-tools" },
    make("button", { type: "button", click: download }, "Download my guesses"),
    make("button", { type: "button", click: clear }, "Clear my guesses")));
  draw();
}
