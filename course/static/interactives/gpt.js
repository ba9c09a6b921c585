// The tiny GPT speaks: one writes a beginning, it goes on letter by letter. A picture that moves under the hand.
//
// `Writer` computes what minigrad's model computes, step by step with the keys and values kept; tests compare
// the two. `mount` draws it into a host. A moment can be linked: #gpt=GREEK%20&temperature=0.8&top_k=29
import { calm, element, ground as groundIn, linear, linkedTo, linkMoment, number, percent, player, softmax,
  speaker, weightsOf } from "./parts.js";

export const DATA = true; // the weights, the alphabet and the names stand in gpt.json
export const KINDS = ["learned", "held out", "newer", "invented"];
const LONGEST = 40; // letters of a name
const PAUSE = 120; // milliseconds between two letters
const [FEW, HUNDRED] = [4, 100]; // names that are written at a time, and in all
const EPS = 1e-5; // of LayerNorm

// Put the stored numbers in the places that they have in the model.
export function modelOf(data) {
  const all = weightsOf(data);
  const take = () => all.shift();
  const norm = () => ({ gain: take(), shift: take() });
  const affine = () => ({ W: take(), b: take() });
  const block = () => ({
    before: norm(), queries: affine(), keys: affine(), values: affine(), output: affine(),
    between: norm(), wide: affine(), narrow: affine(),
  });
  const model = { alphabet: data.alphabet, heads: data.heads, embedding: take(), positions: take(), blocks: [] };
  while (all.length > 4) model.blocks.push(block());
  return Object.assign(model, { last: norm(), logits: affine() });
}

function normalized(x, { gain, shift }) {
  const mean = x.reduce((sum, one) => sum + one, 0) / x.length;
  const variance = x.reduce((sum, one) => sum + (one - mean) ** 2, 0) / x.length;
  const scale = 1 / Math.sqrt(variance + EPS);
  return x.map((one, i) => (one - mean) * scale * gain.values[i] + shift.values[i]);
}

const ROOT = Math.sqrt(2 / Math.PI);
const gelu = (x) => 0.5 * x * (1 + Math.tanh(ROOT * (x + 0.044715 * x * x * x)));
const apply = (x, { W, b }) => linear(x, W, b);
const sum = (x, y) => x.map((one, i) => one + y[i]);

// A model that has read some tokens. Keys and values of each step are kept, so that reading one more is cheap.
export class Writer {
  constructor(model, kept = null) {
    this.model = model;
    this.kept = kept ?? model.blocks.map(() => []);
  }

  // A reader of its own that has read the same.
  copy() {
    return new Writer(this.model, this.kept.map((steps) => [...steps]));
  }

  // Read one token, and return the logits of the next.
  read(token) {
    const { embedding, positions, blocks, last, logits } = this.model;
    const [place, width] = [this.kept[0].length, embedding.shape[1]];
    const row = (table, at) => table.values.subarray(at * width, (at + 1) * width);
    let x = sum(row(embedding, token), row(positions, place));
    blocks.forEach((block, at) => {
      x = sum(x, this.look(normalized(x, block.before), block, this.kept[at]));
      x = sum(x, apply(apply(normalized(x, block.between), block.wide).map(gelu), block.narrow));
    });
    return apply(normalized(x, last), logits);
  }

  // Attention of the newest step to itself and all before it, head by head.
  look(x, block, kept) {
    kept.push({ key: apply(x, block.keys), value: apply(x, block.values) });
    const query = apply(x, block.queries);
    const width = query.length / this.model.heads;
    const answer = new Float64Array(query.length);
    for (let from = 0; from < query.length; from += width) {
      const scores = kept.map(({ key }) => {
        let score = 0;
        for (let i = from; i < from + width; i += 1) score += query[i] * key[i];
        return score / Math.sqrt(width);
      });
      softmax(scores).forEach((weight, step) => {
        for (let i = from; i < from + width; i += 1) answer[i] += weight * kept[step].value[i];
      });
    }
    return apply(answer, block.output);
  }
}

// The logits after each token of a text; token 0, the end of the name before, comes first.
export function logitsOf(model, tokens) {
  const writer = new Writer(model);
  return tokens.map((token) => Array.from(writer.read(token)));
}

// What softmax makes of the topK largest logits at a temperature; the others get 0.
export function probabilities(logits, temperature, topK) {
  const smallest = Float64Array.from(logits).sort().at(-Math.min(topK, logits.length));
  return softmax(Array.from(logits, (one) => (one < smallest ? -Infinity : one / temperature)));
}

// Laid end to end, the probabilities fill the way from 0 to 1: return where u falls.
export function drawn(P, u) {
  let end = 0;
  const place = P.findIndex((p) => (end += p) > u);
  return place >= 0 ? place : P.findLastIndex((p) => p > 0);
}

// Random numbers from a seed: the same in every browser.
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// How many equally likely letters would leave one as unsure: 2 to the entropy in bits.
export function choices(P) {
  return Math.exp(-P.reduce((total, p) => total + (p > 0 ? p * Math.log(p) : 0), 0));
}

// The names by which the writing is judged: name -> { kind, code }.
export function dictionaryOf(lines) {
  const names = new Map();
  let before = "";
  for (const line of lines) {
    const [shared, kind, code, ...rest] = line.split(" ");
    before = before.slice(0, Number(shared)) + rest.join(" ");
    names.set(before, { kind: KINDS[kind], code: parseInt(code, 16) });
  }
  return names;
}

// Keep what the model can read: its letters, as capitals, and not too many.
export function readable(text, alphabet) {
  return [...text.toUpperCase()].filter((letter) => letter !== alphabet[0] && alphabet.includes(letter))
    .join("").slice(0, LONGEST);
}

// What the model has no letter for, each sign once.
export function unreadable(text, alphabet) {
  return [...new Set(text.toUpperCase())].filter((letter) => letter === alphabet[0] || !alphabet.includes(letter));
}

// Return the writer that has read a text, and the logits of what comes next.
export function readText(model, text) {
  const writer = new Writer(model);
  let logits = writer.read(0);
  for (const letter of text) logits = writer.read(model.alphabet.indexOf(letter));
  return { writer, logits };
}

// Write names with the same beginning, which has been read already.
export function writeMany(model, begin, count, temperature, topK, random, start = readText(model, begin)) {
  return Array.from({ length: count }, () => {
    let [writer, logits, text] = [start.writer.copy(), start.logits, begin];
    while (text.length < LONGEST) {
      const token = drawn(probabilities(logits, temperature, topK), random());
      if (token === 0) break;
      text += model.alphabet[token];
      logits = writer.read(token);
    }
    return text;
  });
}

// Count the kinds of some texts, and how many of them are different.
export function countKinds(texts, names) {
  const counts = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
  for (const text of texts) counts[names.get(text)?.kind ?? "invented"] += 1;
  return { counts, different: new Set(texts).size };
}

// Read what a link says: #gpt=LATIN%20SMALL%20&temperature=0.8&top_k=3
export function fromLink(hash, alphabet) {
  const said = linkedTo("gpt", hash);
  if (!said) return null;
  const between = (name, low, high, usual) => {
    const value = Number(said.get(name) ?? usual);
    return Number.isFinite(value) ? Math.min(Math.max(value, low), high) : usual;
  };
  return {
    text: readable(said.get("gpt"), alphabet),
    temperature: between("temperature", 0.1, 2, 1),
    topK: Math.round(between("top_k", 1, alphabet.length, alphabet.length)),
  };
}

export function momentOf({ text, temperature, topK }) {
  return { gpt: text, temperature, top_k: topK };
}

const STYLE = `
.page { position: relative; font: 500 1.25rem/1.5 var(--pst-font-family-monospace, ui-monospace, monospace); }
.page textarea, .page .text { display: block; width: 100%; height: 4.6rem; margin: 0; padding: .6rem .7rem; font: inherit;
  letter-spacing: 0; border: 1.5px solid var(--muted); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere;
  word-break: break-all; overflow: hidden; resize: none; }
.page .text { position: absolute; inset: 0; border-color: transparent; pointer-events: none; color: var(--ink); }
.page textarea { background: transparent; color: transparent; caret-color: var(--ink); position: relative; }
.page textarea::placeholder { color: var(--muted); opacity: 1; font-size: 1rem; }
.page textarea::selection { background: color-mix(in srgb, var(--primary) 35%, transparent); color: transparent; }
.text .model { color: var(--forward); }
.text .newest { background: color-mix(in srgb, var(--forward) 22%, transparent); border-radius: 3px; }
.label { font-size: .875rem; color: var(--muted); margin: .8rem 0 .3rem; }
.letters { display: grid; grid-template-columns: repeat(15, 1fr); gap: 3px; margin: .2rem 0 .6rem; }
.letter { position: relative; padding: 0; min-height: 5.1rem; border: 0; border-radius: 4px; overflow: hidden;
  background: color-mix(in srgb, var(--line) 40%, transparent); display: block; }
.letter .rise { position: absolute; inset: auto 0 1.6rem; height: 3.5rem; background: var(--forward); opacity: .85;
  transform-origin: bottom; transform: scaleY(0); transition: transform .15s; }
.letter b { position: absolute; inset: auto 0 0; height: 1.6rem; line-height: 1.6rem; font-weight: 600;
  font-size: .95rem; background: var(--paper); border-top: 1.5px solid var(--ink); text-align: center; }
.letter i { position: absolute; inset: .1rem 0 auto; font-style: normal; font-size: .82rem; text-align: center; }
.letter.high i { color: var(--paper); }
.letter.out { opacity: .35; } .letter.newest b { background: var(--forward); color: var(--paper); }
.knobs { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.4rem; margin: .5rem 0; font-size: .95rem; }
.knobs label { display: grid; grid-template-columns: auto 1fr; gap: 0 .6rem; align-items: center; }
.knobs input { grid-column: 1 / -1; width: 100%; margin: 0; } .knobs output { text-align: right; font-weight: 600; }
.verdict { display: flex; gap: .8rem; align-items: center; min-height: 3.4rem; margin: .6rem 0 .2rem; }
.glyph { flex: none; width: 3.2rem; height: 3.2rem; border: 1.5px solid var(--line); border-radius: 8px; font-size: 2rem;
  display: grid; place-content: center; line-height: 1; }
.verdict .say { margin: 0; min-height: 0; }
.runs { margin-top: 1.1rem; display: grid; gap: .55rem; font-size: .9rem; } .runs p { margin: 0; line-height: 1.35; }
.shares { display: flex; height: 1.1rem; border: 1.5px solid var(--ink); border-radius: 3px; overflow: hidden; }
.shares span { flex: 0 0 auto; transition: width .2s; } .shares .learned { background: var(--muted); }
.shares .unread { background: var(--forward); border-inline: 1px solid var(--paper); }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1rem; color: var(--muted); font-size: .875rem; }
.key i { display: inline-block; width: .9rem; height: .9rem; border: 1.5px solid var(--ink); margin-right: .35rem; vertical-align: -.1rem; }
.key .learned { background: var(--muted); } .key .unread { background: var(--forward); }
.finds { margin: .8rem 0 0; font-size: .9rem; } .finds p { margin: 0 0 .3rem; }
.finds div { display: flex; flex-wrap: wrap; gap: .35rem; }
.finds button { font-size: .85rem; text-align: left; line-height: 1.2; }
@media (max-width: 620px) {
  .letters { grid-template-columns: repeat(10, 1fr); gap: 2px; } .letter { min-height: 4.3rem; }
  .letter .rise { height: 2.7rem; } .page { font-size: 1.1rem; } .knobs { gap: 0 .9rem; font-size: .875rem; }
  .verdict { min-height: 6.2rem; } .bar { gap: .35rem; } .bar button { padding: .1rem .45rem; }
}
@media (prefers-reduced-motion: reduce) { .letter .rise, .shares span { transition: none; } }
`;

const END_SIGN = "■"; // the sign for the end of a name
const shown = (letter) => (letter === "\n" ? END_SIGN : letter === " " ? "␣" : letter);
const spoken = (letter) => (letter === "\n" ? "the end" : letter === " " ? "a space" : letter === "-" ? "a hyphen" : letter);
const codeOf = (code) => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;

// Draw the writer into a host.
export function mount(host, { begin = "", temperature = 1, topK = null, linked = true, data }) {
  const model = modelOf(data);
  const { alphabet } = model;
  const learned = data.names.filter((line) => line.split(" ", 2)[1] === "0").length;
  let dictionary = null; // made when it is first asked
  const names = () => (dictionary ??= dictionaryOf(data.names));

  const random = randomFrom(Date.now());
  const usual = { text: readable(begin, alphabet), temperature, topK: topK ?? alphabet.length };
  const state = (linked ? fromLink(window.location.hash, alphabet) : null) ?? usual;
  Object.assign(state, { byModel: 0, ended: false, newest: -1, runs: [], finds: [] });
  let [reading, readOf] = [null, null]; // what has read the text, and which text that was
  let action = null; // what is done again and again while something plays
  const play = player(() => host.isConnected && action(), () => draw());

  const { ground } = groundIn(host, "A tiny GPT that writes names", STYLE);
  const box = element("textarea", { rows: 2, maxlength: LONGEST, spellcheck: "false", autocapitalize: "characters",
    autocomplete: "off", "aria-label": "the name so far: type its beginning", placeholder: "Type a beginning, or let it write",
    oninput: () => typed(box.value), onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      writeName();
    } });
  const text = element("div", { class: "text", "aria-hidden": "true" });
  const letters = alphabet.split("").map((letter, token) => {
    const rise = element("span", { class: "rise" });
    const share = element("i", {});
    const tile = element("button", { type: "button", class: "letter", tabindex: token === 1 ? "0" : "-1",
      onclick: () => choose(token), onkeydown: (event) => walk(event, token) }, rise, element("b", {}, shown(letter)), " ", share);
    return { tile, rise, share };
  });
  const glyph = element("div", { class: "glyph", "aria-hidden": "true" });
  const { seen, heard, tell } = speaker();
  const slider = (name, options, act) => {
    const value = element("output", {});
    const input = element("input", { type: "range", "aria-label": name, ...options, oninput: () => act(Number(input.value)) });
    return { input, value, label: element("label", {}, element("span", {}, name), value, input) };
  };
  const heat = slider("temperature", { min: 0.1, max: 2, step: 0.1 }, (value) => turned({ temperature: value }));
  const few = slider("top-k", { min: 1, max: alphabet.length, step: 1 }, (value) => turned({ topK: value }));
  const button = (name, act, options = {}) => element("button", { type: "button", onclick: act, ...options }, name);
  const write = button("Write", () => writeName(), { class: "main" });
  const hundred = button("Write 100", () => writeHundred());
  const bar = element("div", { class: "bar" }, write, button("One letter", () => byHand(oneLetter)), hundred,
    button("Clear", () => byHand(() => typed(""))));
  const runs = element("div", { class: "runs" });
  const finds = element("div", { class: "finds" });
  const letterBox = element("div", { class: "letters", role: "group",
    "aria-label": "how likely each letter is to come next; press one to write it" }, ...letters.map(({ tile }) => tile));
  ground.append(element("div", { class: "page" }, text, box), element("div", { class: "verdict" }, glyph, seen, heard), bar,
    element("p", { class: "label" }, `What comes next, in per cent. Tap a letter to write it yourself; ${END_SIGN} ends the name.`),
    letterBox, element("div", { class: "knobs" }, heat.label, few.label), runs, finds);

  let leftOut = ""; // what was typed and cannot be read, to be said once

  // What the text so far makes likely.
  function next() {
    if (readOf !== state.text) [reading, readOf] = [readText(model, state.text), state.text];
    return probabilities(reading.logits, state.temperature, state.topK);
  }

  function byHand(act) {
    play.stop();
    act();
    draw();
    link();
  }

  function link() {
    linkMoment(momentOf(state), linked);
  }

  function typed(value) {
    play.stop();
    const fresh = readable(value, alphabet);
    const lost = unreadable(value, alphabet);
    leftOut = lost.length ? `The names it learned from have no ${lost.map((sign) => `“${sign}”`).join(" and no ")}: left out. ` : "";
    const begun = state.text.length - state.byModel;
    // What the model wrote stays its own as long as only its end is taken away.
    const byModel = state.text.startsWith(fresh) ? Math.max(fresh.length - begun, 0) : 0;
    Object.assign(state, { text: fresh, byModel, ended: false, newest: -1 });
    draw();
    link();
  }

  function turned(by) {
    Object.assign(state, by);
    draw();
    link();
  }

  // Write a letter, or the end. The model's are counted: they stand behind the reader's.
  function append(token, byModel) {
    if (state.ended) restart();
    state.newest = token;
    if (token === 0 || state.text.length === LONGEST) state.ended = true;
    else {
      const reader = readOf === state.text ? reading.writer : null;
      state.text += alphabet[token];
      if (reader) [reading, readOf] = [{ writer: reader, logits: reader.read(token) }, state.text];
      state.byModel = byModel ? state.byModel + 1 : 0;
    }
    draw();
  }

  function restart() {
    Object.assign(state, { text: state.text.slice(0, state.text.length - state.byModel), byModel: 0, ended: false, newest: -1 });
  }

  function oneLetter() {
    if (state.ended) restart();
    append(state.text.length === LONGEST ? 0 : drawn(next(), random()), true);
  }

  function choose(token) {
    byHand(() => append(token, false));
  }

  function writeName() {
    if (play.playing()) return byHand(() => {});
    if (state.ended) restart();
    if (calm()) {
      return byHand(() => {
        while (!state.ended) oneLetter();
      });
    }
    action = () => {
      oneLetter();
      if (state.ended) link();
      return !state.ended;
    };
    return play.start(PAUSE);
  }

  // A few at a time, so that the page stays at hand.
  function writeHundred() {
    play.stop();
    if (state.ended) restart();
    const run = { begin: state.text, temperature: state.temperature, topK: state.topK, texts: [] };
    const start = readText(model, run.begin);
    state.runs = [run, ...state.runs].slice(0, 6);
    action = () => {
      run.texts.push(...writeMany(model, run.begin, FEW, run.temperature, run.topK, random, start));
      const isNewer = (find) => Number(names().get(find).kind === "newer");
      const unread = run.texts.filter((one) => ["held out", "newer"].includes(names().get(one)?.kind));
      state.finds = [...new Set([...unread, ...state.finds])].sort((a, b) => isNewer(b) - isNewer(a)).slice(0, 6);
      drawRuns();
      return run.texts.length < HUNDRED;
    };
    play.start(0);
  }

  // The arrow keys go from letter to letter.
  function walk(event, token) {
    const across = window.getComputedStyle(letterBox).gridTemplateColumns.split(" ").length;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[event.key];
    if (!step) return;
    event.preventDefault();
    const to = letters[Math.min(Math.max(token + step, 0), letters.length - 1)].tile;
    letters.forEach(({ tile }) => tile.setAttribute("tabindex", tile === to ? "0" : "-1"));
    to.focus();
  }

  function judgement() {
    const name = names().get(state.text);
    if (!name) return `${state.text || "Nothing"}: no character has this name. ${state.byModel ? "The model made it up." : "It is new."}`;
    const real = `${state.text} is the name of ${String.fromCodePoint(name.code)}, ${codeOf(name.code)}.`;
    if (name.kind === "learned") return `${real} The model has read it.`;
    return name.kind === "newer"
      ? `${real} It came into Unicode after 2002: the model cannot have read it.`
      : `${real} It was kept from the model, which has never read it.`;
  }

  function expectation(P) {
    const order = [...P.keys()].sort((a, b) => P[b] - P[a]);
    const [first, second] = order;
    if (!state.text) {
      return `This model has read ${learned.toLocaleString("en")} names of characters, and nothing else. To it, a name begins with `
        + `${spoken(alphabet[first])} (${percent(P[first])}) or ${spoken(alphabet[second])} (${percent(P[second])}).`;
    }
    const after = `After “${state.text.length > 14 ? "…" : ""}${state.text.slice(-14)}”`;
    if (P[first] > 0.995) return `${after} the model is sure of ${spoken(alphabet[first])}.`;
    return `${after} the likeliest is ${spoken(alphabet[first])} (${percent(P[first])}), then ${spoken(alphabet[second])} `
      + `(${percent(P[second])}). The model is as unsure as among ${number(choices(P), 2)} equally likely letters.`;
  }

  function draw() {
    const P = next();
    const begun = state.text.length - state.byModel;
    if (box.value !== state.text) box.value = state.text;
    const written = state.text.slice(begun);
    const fresh = written && state.newest > 0 ? written.slice(-1) : "";
    text.replaceChildren(state.text.slice(0, begun), element("span", { class: "model" },
      written.slice(0, written.length - fresh.length), fresh ? element("span", { class: "newest" }, fresh) : "",
      state.ended ? END_SIGN : ""));
    letters.forEach(({ tile, rise, share }, token) => {
      const p = P[token];
      rise.style.transform = `scaleY(${p})`;
      share.textContent = p >= 0.005 ? String(Math.round(100 * p)) : "";
      tile.className = `letter${p > 0.8 ? " high" : ""}${p === 0 ? " out" : ""}${token === state.newest ? " newest" : ""}`;
      tile.setAttribute("aria-label", `${spoken(alphabet[token])} ${percent(p)}`);
    });
    const name = state.ended ? names().get(state.text) : null;
    glyph.textContent = name ? String.fromCodePoint(name.code) : state.ended ? "?" : "…";
    tell(leftOut + (state.ended ? judgement() : expectation(P)));
    leftOut = "";
    write.textContent = play.playing() ? "Stop" : state.ended ? "Again" : "Write";
    heat.input.value = state.temperature;
    heat.value.textContent = number(state.temperature, 2);
    few.input.value = state.topK;
    few.value.textContent = state.topK === alphabet.length ? `all ${alphabet.length} letters` : `${state.topK} likeliest`;
    few.input.setAttribute("aria-valuetext", few.value.textContent);
  }

  function drawRuns() {
    const key = (name, text) => element("span", {}, element("i", { class: name }), text);
    const row = ({ begin: start, temperature: heat_, topK: top, texts }) => {
      const { counts, different } = countKinds(texts, names());
      const unread = counts["held out"] + counts.newer;
      const letters_ = top === alphabet.length ? "all letters" : `top-k ${top}`;
      return element("div", {},
        element("p", {}, element("b", {}, `temperature ${number(heat_, 2)}, ${letters_}${start ? `, after “${start}”` : ""}`
          + (texts.length < HUNDRED ? `: ${texts.length} so far` : ""))),
        element("div", { class: "shares", "aria-hidden": "true" }, element("span", { class: "learned", style: `width:${counts.learned}%` }),
          element("span", { class: "unread", style: `width:${unread}%` })),
        element("p", {}, `${KINDS.map((kind) => `${counts[kind]} ${kind}`).join(", ")}; ${different} different`));
    };
    runs.replaceChildren(element("div", { class: "key" }, key("learned", "learned by reading"),
      key("unread", "real, and never read"), key("invented", "invented")), ...state.runs.map(row));
    finds.replaceChildren();
    if (!state.finds.length) return;
    finds.append(element("p", {}, "Names that it wrote, had never read, and that exist:"), element("div", {},
      ...state.finds.map((find) => button(`${String.fromCodePoint(names().get(find).code)}  ${find}${names().get(find).kind === "newer" ? ", newer than 2002" : ""}`,
        () => byHand(() => {
          Object.assign(state, { text: find, byModel: find.length, ended: true, newest: 0 });
          draw();
        })))));
  }

  draw();
  return { state, draw };
}
