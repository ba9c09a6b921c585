// Starts a chapter's slides. Formulas are set first; then what is too large for its slide shrinks until it fits.

window.MathJax = {
  tex: { inlineMath: [["$", "$"]], displayMath: [["$$", "$$"]], processEscapes: true },
  options: { enableMenu: false, ignoreHtmlClass: "notes|output|highlight" },
  startup: { pageReady: () => MathJax.startup.defaultPageReady().then(fitAll) },
};

const SMALLEST = 60; // percent

function fit(slide) {
  const body = slide.querySelector(".body");
  body.style.fontSize = "";
  const spills = () =>
    slide.scrollHeight > slide.clientHeight + 1 ||
    body.scrollHeight > body.clientHeight + 1 ||
    body.scrollWidth > body.clientWidth + 1 ||
    [...body.querySelectorAll("pre")].some((code) => code.scrollWidth > code.clientWidth + 1);
  for (let size = 95; size >= SMALLEST && spills(); size -= 5) body.style.fontSize = `${size}%`;
}

// Slides that are not shown have no size: each is fitted when it comes, and all of them on paper.
function fitAll() {
  const onPaper = Reveal.isPrintView();
  (onPaper ? Reveal.getSlides() : [Reveal.getCurrentSlide()]).forEach(fit);
}

// On paper, a guess is asked on one page, and answered on the next.
if (/print-pdf|view=print/i.test(location.search)) {
  for (const answered of document.querySelectorAll(".slides section:has(.asked .fragment)")) {
    const question = answered.cloneNode(true);
    question.querySelectorAll(".fragment").forEach((answer) => answer.classList.replace("fragment", "unseen"));
    answered.before(question);
  }
}

Reveal.initialize({
  width: 1280,
  height: 720,
  margin: 0,
  center: false,
  display: "flex",
  hash: true,
  slideNumber: "c/t",
  transition: "none",
  pdfSeparateFragments: false,
  plugins: [RevealNotes],
});
Reveal.on("ready", fitAll);
Reveal.on("pdf-ready", fitAll);
Reveal.on("slidechanged", (event) => fit(event.currentSlide));
