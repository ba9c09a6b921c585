// The ring: pieces of an array walk from worker to worker, and are added up on their way. Stop one of the
// workers, and see who waits.
//
// `ringStates` and `tick` compute; tests compare them with chapter 22. `mount` draws it into a host. A moment
// can be linked: #ring=4&done=3,2,1,3&stopped=2
import { calm, element, ground as groundIn, linkedTo, linkMoment, player, shape, speaker } from "./parts.js";

export const last = (count) => 2 * (count - 1); // steps until everyone has everything

// What each worker holds after 0, 1, 2 … steps: a row for each worker, a column for each piece.
export function ringStates(arrays) {
  const count = arrays.length;
  const tables = [arrays];
  for (let step = 0; step < last(count); step += 1) {
    const before = tables[step];
    const after = before.map((row) => [...row]);
    before.forEach((row, rank) => {
      const piece = comes(rank, step, count);
      const came = before[(rank - 1 + count) % count][piece];
      after[rank][piece] = step < count - 1 ? row[piece] + came : came;
    });
    tables.push(after);
  }
  return tables;
}

// Which piece comes to a worker in its next step, when it has taken so many.
export const comes = (rank, step, count) => (((rank - step - 1) % count) + count) % count;

// Who can take the next step: a worker needs the message of the one before it; what was sent is kept.
export function able({ done, stopped }) {
  const count = done.length;
  return done.map((step, rank) => {
    const before = (rank - 1 + count) % count;
    const sent = done[before] > step || (done[before] === step && !stopped.includes(before));
    return step < last(count) && !stopped.includes(rank) && sent;
  });
}

// Let everyone who can take a step: how many each has taken then.
export function tick(state) {
  const can = able(state);
  return { ...state, done: state.done.map((step, rank) => step + can[rank]) };
}

// Messages that have come to a worker and that it has not read.
export function unread({ done, stopped }, rank) {
  const count = done.length;
  const before = (rank - 1 + count) % count;
  return Math.min(last(count), done[before] + !stopped.includes(before)) - done[rank];
}

// Each worker brings its power of ten, so that the digits of a sum show who is in it.
export const powers = (count) => Array.from({ length: count }, (_, rank) => Array(count).fill(10 ** rank));

const joined = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
const times = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// Describe the state in words.
export function sentence(state) {
  const { done, stopped } = state;
  const count = done.length;
  const [fewest, most] = [Math.min(...done), Math.max(...done)];
  const tables = ringStates(powers(count));
  const ready = done.reduce(
    (sum, step, rank) => sum + complete(tables[step][rank], count).filter(Boolean).length,
    0,
  );
  const boxes = `${ready} of ${count * count} boxes hold the sum of all`;
  if (fewest === last(count)) {
    return `After ${last(count)} steps, 2 · (${count} − 1), every worker has every piece of the sum.`;
  }
  if (!stopped.length) {
    if (most === 0)
      return `${count} workers have ${count} pieces each. In a step, everyone sends one piece to the next.`;
    const words =
      fewest === most
        ? `After ${times(most, "step")}, ${boxes}.`
        : `They catch up: between ${fewest} and ${times(most, "step")} are done.`;
    if (fewest !== most) return words;
    if (most < count - 1) return `${words} Each worker has just added what came to its own.`;
    if (most === count - 1)
      return `${words} Each worker has one complete piece. From now on, pieces are passed on as they are.`;
    return `${words} Each worker has kept what came, as it came.`;
  }
  const can = able(state);
  const around = [...done.keys()].map((place) => (stopped[0] + place) % count); // from the one who stopped
  const idle = around.filter((rank) => !can[rank] && !stopped.includes(rank) && done[rank] < last(count));
  const waiting = idle.map((rank) => {
    const after = count <= 4 ? `, after ${times(done[rank], "step")}` : "";
    return `${rank} waits for ${(rank - 1 + count) % count}${after}`;
  });
  const names = joined(stopped.map(String));
  const halted = stopped.length > 1 ? `Workers ${names} are stopped.` : `Worker ${names} is stopped.`;
  if (!waiting.length)
    return `${halted} Nobody waits yet: what was sent before is still on its way. Step on.`;
  const who = `Worker ${waiting.join("; ")}.`;
  return can.some(Boolean) ? `${halted} ${who} The others go on.` : `${halted} ${who} Nobody can go on.`;
}

// Which pieces of a worker's row have everyone's part in them.
export const complete = (row, count) => row.map((sum) => sum === (10 ** count - 1) / 9);

const parts = (sum) => [...String(sum)].filter((digit) => digit === "1").length;

// Read what a link says: a moment that the ring can come to.
export function fromLink(hash) {
  const said = linkedTo("ring", hash);
  if (!said) return null;
  const count = Number(said.get("ring"));
  const done = (said.get("done") ?? "").split(",").map(Number);
  const stopped = (said.get("stopped") || null)?.split(",").map(Number) ?? [];
  const right =
    Number.isInteger(count) &&
    count >= 2 &&
    count <= MOST &&
    done.length === count &&
    done.every(
      (step, rank) =>
        Number.isInteger(step) &&
        step >= 0 &&
        step <= last(count) &&
        step <= done[(rank - 1 + count) % count] + 1,
    ) &&
    stopped.every((rank) => Number.isInteger(rank) && rank >= 0 && rank < count);
  return right ? { done, stopped } : null;
}

export const momentOf = ({ done, stopped }) => ({
  ring: done.length,
  done: done.join(","),
  stopped: stopped.join(","),
});

const MOST = 8; // workers
const SIZE = 400; // of the drawing, in its own units
const FLIGHT = 480; // milliseconds that a piece is on its way
const STYLE = `
svg { display: block; width: calc(100% + 24px); max-width: 500px; font-size: 16px;
  position: relative; left: 50%; transform: translateX(-50%); } /* wider than the text, for a phone */
.worker { cursor: pointer; } .worker:focus { outline: none; }
.worker .frame { fill: var(--paper); stroke: var(--muted); stroke-width: 1.3; }
.worker.stopped .frame { stroke: var(--ink); stroke-width: 3.5; }
.worker.waits .frame { stroke-dasharray: 5 4; }
.worker:focus-visible .frame { stroke: var(--pst-color-accent, #b06b00); stroke-width: 4;
  stroke-dasharray: none; }
.level { fill: var(--backward); fill-opacity: .28; } .level.whole { fill-opacity: .55; }
.cell, .came { fill: none; stroke: var(--line); } .came { stroke: var(--backward); stroke-width: 2.5; }
text.whole { font-weight: 700; } .words { pointer-events: none; }
.flying rect { fill: var(--paper); stroke: var(--backward); stroke-width: 2.5; }
.label { paint-order: stroke; stroke: var(--paper); stroke-width: 6px; stroke-linejoin: round; }
.letter { fill: var(--backward); fill-opacity: .75; stroke: var(--paper); }
.arrow { fill: none; stroke: var(--muted); stroke-width: 1.5; }
.state { fill: var(--muted); }
.hint { font-size: .85rem; color: var(--muted); margin: .3rem 0 0; text-align: center; }
`;

// Draw the ring into a host.
export function mount(host, { workers = 4, linked = true } = {}) {
  const fresh = (count) => ({ done: Array(count).fill(0), stopped: [] });
  const sent = linked ? fromLink(window.location.hash) : null;
  let state = sent ?? fresh(workers);
  const past = [];
  let flights = [];

  const { ground } = groundIn(host, "Workers in a ring, who add up their pieces", STYLE);
  const { seen, heard, tell } = speaker();
  const svg = shape("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": "The ring" });
  const button = (words, action, options = {}) =>
    element("button", { type: "button", onclick: action, ...options }, words);
  const change = (next) => {
    land();
    state = next;
    linkMoment(momentOf(state), linked);
    draw();
  };
  const { stop, start, playing } = player(
    () => {
      step();
      return able(flights.next ?? state).some(Boolean);
    },
    () => flights.next || draw(),
  );
  const forward = button(
    "Step",
    () => {
      stop();
      step();
    },
    { class: "main" },
  );
  const backward = button("Step back", () => {
    stop();
    change(past.pop());
  });
  const play = button("Play", () => (playing() ? stop() : start(1000)));
  const again = button("Start again", () => restart(state.done.length));
  const many = element(
    "select",
    { "aria-label": "how many workers", onchange: () => restart(Number(many.value)) },
    ...Array.from({ length: MOST - 1 }, (_, at) => element("option", { value: at + 2 }, `${at + 2} workers`)),
  );
  const hint = element("p", { class: "hint" });
  ground.append(
    svg,
    hint,
    seen,
    element("div", { class: "bar" }, forward, backward, play, again, many),
    heard,
  );

  function restart(count) {
    stop();
    past.length = 0;
    change(fresh(count));
  }

  // Take a step: pieces fly first, unless pictures should keep still.
  function step() {
    land();
    const can = able(state);
    if (!can.some(Boolean)) return;
    past.push(state);
    const next = tick(state);
    if (calm()) return change(next);
    const { place } = layout();
    const count = state.done.length;
    const tables = ringStates(powers(count));
    flights = [...can.keys()]
      .filter((rank) => can[rank])
      .map((rank) => {
        const piece = comes(rank, state.done[rank], count);
        const [[x1, y1], [x2, y2]] = [place((rank - 1 + count) % count, piece), place(rank, piece)];
        const sum = String(tables[state.done[rank]][(rank - 1 + count) % count][piece]);
        const wide = count <= 4 ? 44 : 16;
        const made = shape(
          "g",
          { class: "flying" },
          shape("rect", { x: -wide / 2, y: -11, width: wide, height: 22, rx: 4 }),
          ...(count <= 4 ? [shape("text", { y: 6, "text-anchor": "middle" }, sum)] : []),
        );
        svg.append(made);
        made.animate(
          [{ transform: `translate(${x1}px, ${y1}px)` }, { transform: `translate(${x2}px, ${y2}px)` }],
          { duration: FLIGHT, easing: "ease-in-out", fill: "forwards" },
        );
        return made;
      });
    flights.next = next;
    flights.timer = window.setTimeout(land, FLIGHT);
  }

  // End a flight at once, and show what came of it.
  function land() {
    if (!flights.next) return;
    const { next, timer } = flights;
    window.clearTimeout(timer);
    flights.forEach((made) => made.remove());
    flights = [];
    change(next);
  }

  function toggle(rank) {
    land();
    past.push(state);
    const stopped = state.stopped.includes(rank)
      ? state.stopped.filter((one) => one !== rank)
      : [...state.stopped, rank].sort();
    change({ ...state, stopped });
  }

  // Where everything stands: boxes around a circle, and in each a cell for each piece.
  function layout() {
    const count = state.done.length;
    // Up to four workers, a cell has room for four digits, and the ring is narrow, so that two rows of four
    // cells stand side by side.
    const [cell, high, wide, tall] = count <= 4 ? [46, 38, 102, 118] : [Math.floor(88 / count), 40, 148, 148];
    const at = (angle) => [SIZE / 2 + wide * Math.cos(angle), SIZE / 2 + tall * Math.sin(angle)];
    const centre = (rank) => at(((rank / count) * 2 - 0.5) * Math.PI);
    const corner = (rank) => centre(rank).map((middle, axis) => middle - (axis ? high : cell * count) / 2);
    const place = (rank, piece) => [corner(rank)[0] + (piece + 0.5) * cell, centre(rank)[1]];
    return { count, cell, high, wide, tall, at, centre, corner, place };
  }

  // An arrow in the middle of the way to a worker, and inside the ring the messages that it has not read.
  function arrow(rank, { count, wide, tall, at: along }) {
    const angle = (((rank - 0.5) / count) * 2 - 0.5) * Math.PI;
    const [x, y] = along(angle);
    const degrees = (Math.atan2(tall * Math.cos(angle), -wide * Math.sin(angle)) * 180) / Math.PI;
    const pile = state.stopped.includes(rank) ? Math.max(0, unread(state, rank)) : 0;
    return shape(
      "g",
      { transform: `translate(${x} ${y}) rotate(${degrees})` },
      shape("path", { class: "arrow", d: "M-5 -6L3 0L-5 6" }),
      ...Array.from({ length: pile }, (_, at) =>
        shape("rect", { class: "letter", x: -8, y: 10 + 9 * at, width: 15, height: 15, rx: 3 }),
      ),
    );
  }

  function worker(rank, where, tables, can) {
    const { count, cell, high, corner } = where;
    const [x, y] = corner(rank);
    const step = state.done[rank];
    const row = tables[step][rank];
    const whole = complete(row, count);
    const stopped = state.stopped.includes(rank);
    const waits = !stopped && !can[rank] && step < last(count);
    const before = (rank - 1 + count) % count;
    const status = stopped ? "stopped" : waits ? `waits for ${before}` : "";
    // A bar in each cell is as high as the share of workers whose part is in it; complete ones are darker.
    const bar = (sum, piece) => {
      const level = (high * parts(sum)) / count;
      return `M${piece * cell} ${high}v${-level}h${cell}v${level}z`;
    };
    const bars = (wanted) =>
      row.map((sum, piece) => (whole[piece] === wanted ? bar(sum, piece) : "")).join("");
    const box = (piece) => `M${piece * cell + 1} 1h${cell - 2}v${high - 2}h${2 - cell}z`;
    const wide = cell * count;
    const button = shape(
      "g",
      {
        class: `worker ${stopped ? "stopped" : ""} ${waits ? "waits" : ""}`,
        role: "button",
        tabindex: 0,
        "aria-pressed": String(stopped),
        "aria-label": `Worker ${rank}${status && `, ${status}`}: ${row.join(", ")}. Stop it`,
        onclick: () => toggle(rank),
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          toggle(rank);
        },
      },
      shape("rect", { x: 0, y: -24, width: wide, height: high + 48, fill: "transparent" }), // for a thumb
      shape("rect", { class: "frame", x: -3, y: -3, width: wide + 6, height: high + 6, rx: 5 }),
      shape("path", { class: "level", d: bars(false) }),
      shape("path", { class: "level whole", d: bars(true) }),
      shape("path", { class: "cell", d: row.map((_, piece) => box(piece)).join("") }),
      shape("path", { class: "came", d: step > 0 ? box(comes(rank, step - 1, count)) : "" }),
    );
    const words = (text, at, down, kind) =>
      shape("text", { class: kind, x: at, y: down, "text-anchor": "middle" }, text);
    return shape(
      "g",
      { transform: `translate(${x} ${y})` },
      button,
      shape(
        "g",
        { class: "words", "aria-hidden": "true" },
        words(count <= 4 ? `worker ${rank}` : String(rank), wide / 2, -9, "label"),
        words(status, wide / 2, high + 21, "state label"),
        ...(count <= 4 ? row : []).map((sum, piece) =>
          words(String(sum), (piece + 0.5) * cell, high / 2 + 6, whole[piece] ? "whole" : ""),
        ),
      ),
    );
  }

  function draw() {
    const where = layout();
    const { count, wide, tall } = where;
    // Two rows of four cells leave no room in the middle.
    const [middle, line] = count === 4 ? [48, 66] : [SIZE / 2, SIZE / 2 - 2];
    const tables = ringStates(powers(count));
    const can = able(state);
    const focused = [...svg.querySelectorAll(".worker")].indexOf(svg.getRootNode().activeElement);
    const most = Math.max(...state.done);
    svg.setAttribute("viewBox", count <= 4 ? `0 35 ${SIZE} 330` : `0 0 ${SIZE} ${SIZE}`);
    svg.replaceChildren(
      shape("ellipse", { class: "arrow", cx: SIZE / 2, cy: SIZE / 2, rx: wide, ry: tall }),
      ...[...can.keys()].map((rank) => arrow(rank, where)),
      ...[...can.keys()].map((rank) => worker(rank, where, tables, can)),
      shape(
        "text",
        { x: middle, y: line, "text-anchor": "middle", style: "font-size:24px;font-weight:600" },
        String(most),
      ),
      shape(
        "text",
        { x: middle, y: line + 21, "text-anchor": "middle" },
        most === 1 ? "step" : "steps",
      ),
    );
    if (focused >= 0) svg.querySelectorAll(".worker")[focused]?.focus();
    hint.textContent = `Tap a worker to stop it, and again to let it go on.${
      count > 4 ? " A bar is as high as the share of workers whose part is in it." : ""
    }`;
    forward.disabled = !can.some(Boolean);
    backward.disabled = !past.length;
    play.disabled = forward.disabled;
    play.textContent = playing() ? "Stop" : "Play";
    many.value = count;
    tell(sentence(state));
  }

  draw();
  return {
    get state() {
      return state;
    },
    draw,
  };
}
