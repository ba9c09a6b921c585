// The cells of a page, changed and run in the page itself. Nothing is fetched until a reader runs one; then a worker
// loads Python, runs the cells above that have not run yet, and this one (worker.js, cells.py). What a reader has
// written stays in this tab, and what the course keeps for a learner in this browser.

import { painted } from "./paint.js";
import { shown } from "./outputs.js";

const SITE = new URL("../../lite/", import.meta.url);
const WRITTEN = `minigrad.live ${window.location.pathname}`; // in the tab's storage
const KEPT = "minigrad.live kept"; // in the browser's
const DRAWS = /\b(course\.(figures|widgets|style)|explore|Slider|matplotlib|PIL)\b/;
const OF_ANOTHER_EXERCISE = /^\s*(check|keep)\(/; // counts a try, and defines nothing
const INDENT = "    ";
const BUSY = "Something is running. Stop it first, or wait.";
const LONG = "This takes long: up to a few minutes in a browser. Stop ends it.";

const megabytes = (bytes) => `${Math.max(1, Math.round(bytes / 1e6))} MB`;
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

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

// Python, once somebody asks for it: a thread that can be ended at any time.
class Python {
  // Tells how much has been loaded, in bytes, and how much there is, where that is known.
  async start(draws, loading) {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    let expected = null;
    const kept = localStorage.getItem(KEPT) ?? "{}";
    await this.#ask({ load: { site: SITE.href, kept, draws } }, ({ kind, bytes }) => {
      if (kind === "expecting" && bytes) expected = bytes[0] + (draws ? bytes[1] : 0);
      else loading(kind === "loading" ? bytes : 0, expected);
    });
  }

  // Runs one cell, hands on what it shows, and tells whether it came to its end.
  async run(cell, hear) {
    const { well, kept } = await this.#ask({ run: cell }, hear);
    if (kept !== "{}") localStorage.setItem(KEPT, kept);
    return well;
  }

  stop() {
    this.worker.terminate();
    this.end({ kind: "stopped" });
  }

  #ask(question, hear) {
    return new Promise((resolve, reject) => {
      this.end = reject;
      this.worker.onerror = ({ message }) => reject({ kind: "lost", why: message || "its files are not there" });
      this.worker.onmessage = ({ data }) => {
        if (data.kind === "ready" || data.kind === "done") resolve(data);
        else if (data.kind === "lost") reject(data);
        else hear(data);
      };
      this.worker.postMessage(question);
    });
  }
}

// A cell of the page: its code, what it shows, and the controls that it gets.
class Cell {
  constructor(element, place) {
    this.element = element;
    this.number = place + 1;
    this.pre = element.querySelector(".cell_input pre");
    this.stored = { text: this.pre.textContent.replace(/\n$/, ""), html: this.pre.innerHTML };
    this.text = this.stored.text;
    this.ran = null; // the text that this page's Python has run
    this.storedOutput = element.querySelector(".cell_output"); // there may be none
    this.output = this.storedOutput; // what stands below the code
    this.opener = make(
      "button",
      { type: "button", class: "live-open", click: () => this.open().focus() },
      make("i", { class: "fa-solid fa-play", "aria-hidden": "true" }),
      "Edit and run",
      make("span", { class: "visually-hidden" }, ` cell ${this.number}`),
    );
    element.querySelector(".cell_input").append(this.opener);
  }

  get named() {
    const first = this.text.trim().split("\n")[0];
    return `cell ${this.number} (${first.length > 40 ? `${first.slice(0, 40)}…` : first})`;
  }

  get tags() {
    return this.element.classList;
  }

  // Turns the code into an editor with a bar below it, and returns the editor.
  open() {
    if (this.editor) return this.editor;
    const ids = { hint: `live-hint-${this.number}` };
    this.editor = make("textarea", {
      class: "live-editor",
      "aria-label": `Code of cell ${this.number}`,
      "aria-describedby": ids.hint,
      autocapitalize: "off",
      autocomplete: "off",
      autocorrect: "off",
      rows: "1",
      spellcheck: "false",
      wrap: "off",
      input: () => this.write(this.editor.value),
      keydown: (event) => this.#key(event),
    });
    this.editor.value = this.text;
    this.runner = make("button", { type: "button", class: "live-run", click: () => page.run(this) }, "Run");
    this.stopper = make("button", { type: "button", hidden: "", click: () => page.stop() }, "Stop");
    this.resetter = make("button", { type: "button", click: () => this.reset() }, "Reset");
    this.allResetter = make("button", { type: "button", click: () => page.reset(this) }, "Reset all cells");
    this.said = make("span", { role: "status" });
    this.progress = make("progress", { hidden: "", "aria-label": "Loaded so far" });
    this.hint = make("span", { class: "live-hint", id: ids.hint }, "Shift+Enter runs, Tab indents, Escape leaves the code");
    this.bar = make(
      "div",
      { class: "live-bar", role: "group", "aria-label": `Run cell ${this.number}` },
      this.runner,
      this.stopper,
      this.resetter,
      this.allResetter,
      this.progress,
      this.said,
      this.hint,
    );
    this.pre.removeAttribute("tabindex");
    this.pre.setAttribute("aria-hidden", "true"); // the editor says the same
    this.pre.parentElement.classList.add("live-code");
    this.pre.after(this.editor);
    this.element.querySelector(".cell_input").append(this.bar);
    this.opener.hidden = true;
    return this.editor;
  }

  #key(event) {
    const { key, shiftKey, ctrlKey, metaKey, isComposing } = event;
    const type = (text) => document.execCommand("insertText", false, text); // what Undo can take back
    if (isComposing) return;
    if (key === "Enter" && (shiftKey || ctrlKey || metaKey)) page.run(this);
    else if (key === "Escape") this.runner.focus();
    else if (key === "Enter") type(`\n${this.#indent()}`);
    else if (key === "Tab" && !shiftKey && !ctrlKey && !metaKey) type(INDENT);
    else return;
    event.preventDefault();
  }

  // How far the line after the cursor's is indented.
  #indent() {
    const line = this.editor.value.slice(0, this.editor.selectionStart).split("\n").at(-1);
    return line.match(/^ */)[0] + (/:\s*(#.*)?$/.test(line) ? INDENT : "");
  }

  // Takes a text that a reader has written.
  write(text) {
    this.text = text;
    this.pre.innerHTML = text === this.stored.text ? this.stored.html : painted(text);
    page.remember();
  }

  // Brings back what the page came with.
  reset() {
    if (page.running) return this.say(BUSY);
    this.restore();
    this.opener.focus();
    window.dispatchEvent(new Event("resize")); // the book looks again what scrolls
  }

  // Puts its code and its output back as the page came with them.
  restore() {
    this.#place(this.storedOutput);
    if (!this.editor) return;
    this.write(this.stored.text);
    this.pre.removeAttribute("aria-hidden");
    this.pre.parentElement.classList.remove("live-code");
    this.editor.remove();
    this.bar.remove();
    this.editor = null;
    this.opener.hidden = false;
  }

  // Says something in the bar; `aloud` is only for ears: what everybody else sees in the output.
  say(words, aloud = "") {
    const heard = aloud ? [make("span", { class: "visually-hidden" }, ` ${aloud}`)] : [];
    if (this.said.textContent !== `${words}${heard[0]?.textContent ?? ""}`) this.said.replaceChildren(words, ...heard);
    this.hint.hidden = words !== "";
  }

  // What its output says to ears: the beginning of what it prints, or the last line of an error.
  get aloud() {
    const error = this.output?.querySelector(".traceback");
    if (error) return error.textContent.trim().split("\n").at(-1);
    return (this.output?.querySelector(".output")?.textContent ?? "").trim().slice(0, 200);
  }

  // Shows how far something has come; nothing when it is over.
  measure(value, whole) {
    this.progress.hidden = value === undefined;
    if (whole) Object.assign(this.progress, { max: whole, value: Math.min(value, whole) });
    else this.progress.removeAttribute("value");
  }

  // Puts an output, or none, below the code, in place of what stands there.
  #place(output) {
    if (output === this.output) return;
    if (!output) this.output.remove();
    else if (this.output) this.output.replaceWith(output);
    else this.element.querySelector(".cell_input").after(output);
    this.output = output;
  }

  // Runs, and puts what it shows where the stored output stands.
  async execute(python) {
    const outputs = shown(this.storedOutput);
    const text = this.text;
    this.ran = null;
    const well = await python.run({ source: text, number: this.number, draws: DRAWS.test(text) }, (message) => {
      if (!["stream", "display", "error"].includes(message.kind)) return;
      this.#place(outputs.element); // only now, so that the page does not jump
      outputs.add(message);
    });
    this.#place(outputs.element);
    if (well && this.tags.contains("tag_proof")) outputs.end("ran in this page, and holds");
    if (well || this.tags.contains("tag_raises-exception")) this.ran = text;
    window.dispatchEvent(new Event("resize"));
    return this.ran !== null;
  }
}

// All cells of this page, and what they share: one Python.
class Page {
  cells = [];
  python = null;
  running = null; // the cell that somebody asked for

  // The cells above one that have to run before it.
  above(cell) {
    const box = (one) => one.element.closest("section.exercise");
    const passed = (one) => box(one) && box(one) !== box(cell) && OF_ANOTHER_EXERCISE.test(one.text);
    return this.cells.slice(0, this.cells.indexOf(cell)).filter((one) => one.ran !== one.text && !passed(one));
  }

  async run(cell) {
    if (this.running) {
      const which = this.running === cell ? "This cell" : this.running.named;
      return cell.say(`${which} is running. Stop it first, or wait.`);
    }
    this.running = cell;
    cell.stopper.hidden = false;
    cell.runner.setAttribute("aria-disabled", "true");
    try {
      cell.say(...(await this.#runAll(cell)));
    } catch (end) {
      if (!end?.kind) throw end;
      this.python = null;
      this.cells.forEach((one) => (one.ran = null));
      const missing = `Python could not be loaded from ${end.from}. Are you online? If you are, a firewall may block this address: ask your teacher for a site that carries Python itself, or download the course and open it with make lab.`;
      const why = end.from ? missing : `Python cannot go on here: ${end.why}.`;
      cell.say(end.kind === "stopped" ? "Stopped. What had run is gone; the next run starts Python again." : why);
    } finally {
      this.running = null;
      cell.measure();
      if (document.activeElement === cell.stopper) cell.runner.focus();
      cell.stopper.hidden = true;
      cell.runner.removeAttribute("aria-disabled");
    }
  }

  // Does what somebody asked for, and returns what to say in the end: in the bar, and to ears.
  async #runAll(cell) {
    const above = this.above(cell);
    const first = above.length ? `Running the ${plural(above.length, "cell")} above first` : "";
    if (!this.python) {
      const python = (this.python = new Python());
      cell.say("Loading Python …");
      const draws = [...above, cell].some((one) => DRAWS.test(one.text));
      await python.start(draws, (bytes, whole) => {
        const size = whole ? `about ${megabytes(whole)}` : `${megabytes(bytes)} so far`;
        cell.say(`Loading Python into this page, ${size} …`);
        cell.measure(bytes, whole);
      });
    }
    const long = [...above, cell].filter((one) => one.tags.contains("tag_slow"));
    const warning = long.length ? ` ${LONG}` : "";
    if (first) cell.say(`${first} …${warning}`);
    const broken = [];
    for (const [place, one] of above.entries()) {
      cell.measure(place, above.length);
      if (await one.execute(this.python)) continue;
      const elsewhere = one.element.closest("section.exercise") !== cell.element.closest("section.exercise");
      if (one.tags.contains("tag_proof")) broken.push(one);
      else if (!elsewhere) {
        const changed = one.text === one.stored.text ? "" : ", which you changed,";
        return [`${one.named} above${changed} does not run: this cell would need what it makes.`];
      }
    }
    cell.measure();
    cell.say(`Running …${long.includes(cell) ? ` ${LONG}` : ""}`);
    const well = await cell.execute(this.python);
    if (broken.length) return [`With your change, ${plural(broken.length, "proof")} above no longer hold${broken.length === 1 ? "s" : ""}.`];
    return [well ? "Ran." : "It raised an error.", cell.aloud];
  }

  stop() {
    this.python?.stop();
  }

  // Brings back all that the page came with, and ends Python: the next run starts anew.
  reset(cell) {
    if (this.running) return cell.say(BUSY);
    this.python?.worker.terminate();
    this.python = null;
    for (const one of this.cells) {
      one.ran = null;
      one.restore();
    }
    cell.opener.focus();
    window.dispatchEvent(new Event("resize"));
  }

  // Keeps what a reader has written as long as the tab lives, beside what it was written over.
  remember() {
    const written = this.cells
      .filter((cell) => cell.text !== cell.stored.text)
      .map((cell) => [cell.number, cell.stored.text, cell.text]);
    if (written.length) sessionStorage.setItem(WRITTEN, JSON.stringify(written));
    else sessionStorage.removeItem(WRITTEN);
  }

  recall() {
    for (const [number, over, text] of JSON.parse(sessionStorage.getItem(WRITTEN) ?? "[]")) {
      const cell = this.cells[number - 1];
      if (cell?.stored.text !== over) continue;
      cell.open().value = text;
      cell.write(text);
    }
  }
}

const page = new Page();

// Beside each heading, a link opens the notebook there, in the lab of the browser; JupyterLab names headings so.
function leadToTheLab() {
  const run = document.querySelector('.chapter-tools a[href*="lite/lab/"]');
  for (const headerlink of document.querySelectorAll("article :is(h2, h3) > a.headerlink")) {
    const words = headerlink.parentElement.textContent.slice(0, -headerlink.textContent.length);
    const link = make(
      "a",
      {
        class: "headerlink live-lab",
        href: `${run.href}#${encodeURIComponent(words.replaceAll(" ", "-"))}`,
        title: "Run from here in the browser lab",
        "aria-label": `Run from “${words}” in the browser lab`,
      },
      make("i", { class: "fa-solid fa-play", "aria-hidden": "true" }),
    );
    headerlink.after(link);
  }
}

// A page that was opened from a folder cannot start a worker, and promises nothing.
if (window.location.protocol.startsWith("http")) {
  const elements = document.querySelectorAll("article div.cell:has(> .cell_input, > details > .cell_input)");
  page.cells = [...elements].map((element, place) => new Cell(element, place));
  page.recall();
  leadToTheLab();
}
