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
