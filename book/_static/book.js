// What the book adds to the theme's own scripts: previews that can be sent away and hold formulas, scrolling
// by keys, a switch for all answers, and paper on which nothing is folded.
const script = document.currentScript.src;
document.addEventListener("DOMContentLoaded", () => {
  const previews = document.querySelectorAll('a[data-bs-custom-class="preview"]');
  const tooltip = (link) => window.bootstrap?.Tooltip.getInstance(link);

  // A preview goes at Escape; one with formulas is drawn when it comes.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") previews.forEach((link) => tooltip(link)?.hide());
  });
  previews.forEach((link) =>
    link.addEventListener("inserted.bs.tooltip", () => {
      const words = document.querySelector(`#${link.getAttribute("aria-describedby")} .tooltip-inner`);
      if (!link.dataset.formulas || !words) return;
      words.innerHTML = link.dataset.formulas;
      tooltip(link)?.update();
    }),
  );

  // What is wider than the page scrolls inside itself, also by the arrow keys, in every browser.
  const wide = ".highlight pre, div.cell_output .output, figure.figure, .pst-scrollable-table-container, .math.notranslate";
  const reachable = () =>
    document.querySelectorAll(wide).forEach((box) => {
      const scrolls = box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible";
      if (scrolls) box.tabIndex = 0;
      else if (box.tabIndex === 0) box.removeAttribute("tabindex");
    });
  reachable();
  window.addEventListener("resize", reachable);
  window.addEventListener("load", reachable);

  // What opens a branch of the list of pages says which.
  document.querySelectorAll("nav li details > summary").forEach((summary) => {
    const page = summary.closest("li").querySelector("a")?.textContent.trim();
    if (page && !summary.textContent.trim()) summary.setAttribute("aria-label", `The pages of ${page}`);
  });

  // One switch shows the answers of every chapter, and this browser remembers it.
  const KEY = "minigrad.show-answers";
  document.querySelectorAll("input.show-answers").forEach((box) => {
    const show = () => document.querySelectorAll("details.answer").forEach((fold) => (fold.open = box.checked));
    box.checked = localStorage.getItem(KEY) === "yes";
    if (box.checked) show();
    box.addEventListener("change", () => {
      localStorage.setItem(KEY, box.checked ? "yes" : "no");
      show();
    });
  });

  // A picture that moves, and a slider, start when they come into view; what they need is fetched only then.
  const folder = new URL("interactives/", script);
  const start = async (host) => {
    const name = host.dataset.interactive;
    const begun = performance.now();
    const module = await import(new URL(`${name}.js`, folder));
    const data = module.DATA ? await (await fetch(new URL(`${name}.json`, folder))).json() : null;
    module.mount(host, { ...JSON.parse(host.dataset.options), data, linked: true });
    performance.measure(`interactive ${name}`, { start: begun });
  };
  const loaded = (host) => {
    const more = document.createElement("script");
    more.src = new URL(`sliders/${host.dataset.slider}`, script);
    document.head.append(more);
  };
  const coming = new IntersectionObserver(
    (entries) =>
      entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
        coming.unobserve(target);
        (target.dataset.slider ? loaded : start)(target);
      }),
    { rootMargin: "300px" },
  );
  document.querySelectorAll("[data-interactive], [data-slider]").forEach((host) => coming.observe(host));

  // A chapter's guesses get their fields when the first of them comes near, or at once where this reader has guessed
  // before; one page counts those of all chapters.
  const guesses = document.querySelector("script.guesses");
  const everywhere = document.querySelector(".where-you-are");
  const bring = async () => {
    const module = await import(new URL("guesses.js", script));
    const data = JSON.parse(guesses.textContent);
    if (everywhere) module.course(everywhere, data);
    else module.inBook({ chapter: guesses.dataset.chapter, asked: data });
  };
  if (guesses && (everywhere || localStorage.getItem("minigrad.guesses")?.includes(`"${guesses.dataset.chapter}"`))) bring();
  else if (guesses) {
    const near = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        near.disconnect();
        bring();
      },
      { rootMargin: "300px" },
    );
    document.querySelectorAll("div.guess").forEach((host) => near.observe(host));
  }

  // On paper every fold is open; afterwards each is as it was.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((fold) => (fold.open = true));
  });
  window.addEventListener("afterprint", () => opened.forEach((fold) => (fold.open = false)));
});
