// What a cell shows, in the form that the book gives to stored outputs: its figures are drawn in the page, in colours
// that follow day and night, and keep their numbers and the places that links lead to.

const FACES = ["text/html", "image/svg+xml", "image/png", "text/latex", "text/plain"]; // the first one is shown
const COLOUR_CODE = /\x1b\[[\d;]*m/g;
let drawings = 0;

function element(tag, name, ...children) {
  const made = document.createElement(tag);
  made.className = name;
  made.append(...children);
  return made;
}

const text = (kind) => {
  const pre = document.createElement("pre");
  return [element("div", `output ${kind} notranslate`, element("div", "highlight", pre)), pre];
};

// Replaces the image of a drawing by the drawing itself, as the book does where it is built.
function drawInPage(image, themed) {
  const [head, content] = image.src.split(/,(.*)/s);
  if (!head.startsWith("data:image/svg+xml")) return;
  const bytes = head.endsWith("base64") ? Uint8Array.from(atob(content), (sign) => sign.codePointAt(0)) : null;
  let svg = bytes ? new TextDecoder().decode(bytes) : decodeURIComponent(content);
  drawings += 1;
  svg = svg.replace(/(\bid="|\burl\(#|\bhref="#)/g, `$1live-${drawings}-`);
  for (const [colour, name] of Object.entries(themed)) {
    svg = svg.replaceAll(`: ${colour.toLowerCase()}`, `: var(${name}, ${colour})`);
  }
  const drawing = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  drawing.removeAttribute("width");
  drawing.removeAttribute("height");
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", image.alt);
  drawing.style.width = image.style.width;
  image.replaceWith(drawing);
}

// HTML whose scripts run, as they would in a page that came with them.
function fromHtml(html, themed) {
  const box = element("div", "output text_html");
  box.innerHTML = html;
  box.querySelectorAll("figure.figure img").forEach((image) => drawInPage(image, themed));
  return box;
}

function wake(box) {
  for (const script of box.querySelectorAll("script")) {
    const awake = document.createElement("script");
    for (const { name, value } of script.attributes) awake.setAttribute(name, value);
    awake.textContent = script.textContent;
    script.replaceWith(awake);
  }
}

function ofDisplay({ data, themed }) {
  const kind = FACES.find((face) => face in data);
  if (kind === "text/html") return fromHtml(data[kind], themed);
  if (kind === "image/svg+xml") return fromHtml(data[kind], themed);
  if (kind === "image/png") {
    const image = document.createElement("img");
    image.src = `data:${kind};base64,${data[kind]}`;
    image.alt = data["text/plain"] ?? "A picture that this cell drew";
    return element("div", "output image_png", image);
  }
  const [box, pre] = text("text_plain");
  pre.textContent = data[kind];
  return box;
}

// What stands between two carriage returns is written over, as in a terminal.
const written = (text) => text.replaceAll("\r\n", "\n").replace(/^.*\r(?!$)/gm, "");

// Returns the element of a cell's new outputs, and how to add to them; `stored` is the one that it stands in for.
export function shown(stored) {
  const box = element("div", "cell_output docutils container live-output");
  const mark = element("p", "live-mark", "ran in this page");
  const figures = [...(stored?.querySelectorAll(".output:has(figure.figure)") ?? [])];
  let stream = null;
  box.append(mark);

  function number(made) {
    if (!made.querySelector("figure.figure")) return;
    const before = figures.shift();
    const label = before?.querySelector(".figure-number");
    if (!label) return;
    made.querySelector("figcaption").prepend(label.cloneNode(true), " ");
    made.id = before.id;
  }

  return {
    element: box,

    add(message) {
      if (message.kind === "stream") {
        if (stream?.name !== message.name) {
          const [made, pre] = text(`stream ${message.name === "stderr" ? "stderr" : ""} highlight-myst-ansi`);
          stream = { name: message.name, pre, text: "" };
          mark.before(made);
        }
        stream.text += message.text;
        stream.pre.textContent = written(stream.text).replace(COLOUR_CODE, "");
        return;
      }
      stream = null;
      if (message.kind === "error") {
        const [made, pre] = text("traceback highlight-ipythontb");
        pre.textContent = message.text.replace(COLOUR_CODE, "");
        mark.before(made);
        return;
      }
      const made = ofDisplay(message);
      number(made);
      mark.before(made);
      wake(made);
      if (window.MathJax?.typesetPromise && /\\\(|\$/.test(made.textContent)) window.MathJax.typesetPromise([made]);
    },

    end(words) {
      mark.textContent = words;
    },
  };
}
