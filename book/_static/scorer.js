// How the search orders what it finds: as Sphinx does, but the chapter that teaches the word comes first. What the
// word means, and where it is taught, stands above the list. TAUGHT is made from the glossary and the curriculum
// (terms.py).
const taughtTerm = () => {
  const query = (new URLSearchParams(location.search).get("q") ?? "").trim().toLowerCase();
  const terms = typeof TAUGHT === "undefined" ? {} : TAUGHT;
  return terms[query] ?? terms[query.replace(/s$/, "")];
};

var Scorer = { // careful: var, since Sphinx declares it again
  score: ([page, title, anchor, description, score]) => score + (page === taughtTerm()?.page ? 100 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

document.addEventListener("DOMContentLoaded", () => {
  const found = taughtTerm();
  const results = document.getElementById("search-results");
  if (!found || !results) return;
  const place = document.createElement("a");
  place.href = `${found.page}.html${found.anchor ? `#${found.anchor}` : ""}`;
  place.textContent = found.title;
  const term = document.createElement("strong");
  term.textContent = found.term;
  const words = document.createElement("p");
  words.className = "taught";
  words.append(term, `: ${found.meaning} ${found.how} `, place, ".");
  results.before(words);
});

// A page that is found says where the words stand in it, and leads there. What stands in a page is fetched when its
// line comes into view, from the files that passages.py writes; a script may be fetched from a disk, too.
const [passagesOf, telling] = [new Map(), new Map()];
const tellPassages = ([page, passages]) => telling.get(page)(passages);
const fetchPassages = (page) => passagesOf.get(page) ?? keep(page, new Promise((done, failed) => {
  telling.set(page, done);
  const script = document.createElement("script");
  script.onerror = failed;
  script.src = `passages/${page.replaceAll("/", ".")}.js`;
  document.head.append(script);
}));
const keep = (page, coming) => {
  passagesOf.set(page, coming);
  return coming;
};

// The words of a search, each as what begins with it: "closures" also finds "closure".
const searched = () => (new URLSearchParams(location.search).get("q") ?? "").toLowerCase()
  .match(/[\p{L}\p{N}_.]+/gu)?.filter((word) => word.length > 1)
  .map((word) => word.replace(/(?<=..)e?s$/, "").replace(/[.]/g, "\\.")) ?? [];
const beginning = (words, flags = "iu") => new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})[\\p{L}\\p{N}]*`, flags);
const count = (text, words) => words.filter((word) => beginning([word]).test(text)).length;

// The section and the sentence that hold most of the words, the first of equals; a section that is named stays.
function bestPassage(passages, words, named) {
  let best = null;
  for (const [place, title, text] of passages) {
    if (named && place !== named) continue;
    for (const sentence of text.split(/\n|(?<=[.?!:]) +(?=\p{Lu})/u)) {
      const worth = 2 * count(sentence, words) + count(title, words);
      if (count(sentence, words) && (!best || worth > best.worth)) best = { place, title, sentence, worth };
    }
  }
  return best;
}

// A sentence of at most so many letters around the first word that was searched.
function shortened(sentence, words, most = 220) {
  if (sentence.length <= most) return sentence;
  const middle = sentence.search(beginning(words));
  const start = Math.max(0, Math.min(middle - most / 3, sentence.length - most));
  const [from, to] = [start && sentence.indexOf(" ", start) + 1, sentence.lastIndexOf(" ", start + most)];
  return `${from ? "… " : ""}${sentence.slice(from, to)}${to < sentence.length - 1 ? " …" : ""}`;
}

async function tellWhere(line) {
  const link = line.querySelector("a");
  const [address, named] = link.getAttribute("href").split("#");
  const words = searched();
  const passages = await fetchPassages(address.replace(/\.html$/, ""));
  const known = passages.some(([place]) => place === named);
  const found = bestPassage(passages, words, known && named) ?? bestPassage(passages, words);
  if (!found || !words.length) return;
  const said = document.createElement("p");
  said.className = "passage";
  if (!named) link.href = `${address}#${found.place}`;
  if (found.place !== passages[0][0]) said.append(`${found.title}: `);
  const text = shortened(found.sentence, words);
  let done = 0;
  for (const { 0: word, index } of text.matchAll(beginning(words, "giu"))) {
    const mark = document.createElement("mark");
    mark.textContent = word;
    said.append(text.slice(done, index), mark);
    done = index + word.length;
  }
  said.append(text.slice(done));
  line.append(said);
}

// Sphinx searches as soon as the page is there, so this stands ready before.
if (typeof Search !== "undefined") {
  // What only holds the word inside another, as "property" holds "rope", is not found.
  const search = Search.performTermsSearch;
  Search.performTermsSearch = (words, excluded) => {
    const index = Search._index;
    const { terms, titleterms } = index;
    const begins = ([term]) => [...words].some((word) => term.startsWith(word)) || excluded.has(term);
    const few = (all) => Object.fromEntries(Object.entries(all).filter(begins));
    Object.assign(index, { terms: few(terms), titleterms: few(titleterms) });
    try {
      return search(words, excluded);
    } finally {
      Object.assign(index, { terms, titleterms });
    }
  };

  const coming = new IntersectionObserver((entries) =>
    entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
      coming.unobserve(target);
      tellWhere(target).catch(() => {}); // a page of the code has no passages
    }));
  new MutationObserver((changes) =>
    changes.flatMap((change) => [...change.addedNodes]).filter((node) => node.matches?.("#search-results li"))
      .forEach((line) => coming.observe(line)))
    .observe(document.documentElement, { childList: true, subtree: true });
}
