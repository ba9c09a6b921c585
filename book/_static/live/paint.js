// Colours Python as the book does, with the classes of Pygments: enough for a cell that somebody is writing.

const KEYWORDS = new Set(
  ("as assert async await break class continue def del elif else except finally for global if lambda nonlocal pass " +
    "raise return try while with yield").split(" "),
);
const CONSTANTS = new Set(["True", "False", "None"]);
const OPERATORS = new Set(["and", "in", "is", "not", "or"]);
const BUILTINS = new Set(
  ("abs all any bool dict enumerate float int isinstance len list map max min next object open print range repr " +
    "reversed round set sorted str sum super tuple type zip NotImplementedError ValueError TypeError").split(" "),
);
const TOKEN = new RegExp(
  [
    /(?<c1>#[^\n]*)/,
    /(?<s2>\b[rbfu]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))/,
    /(?<quoted>"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/,
    /(?<mf>\b\d[\d_]*(?:\.\d*)?(?:e[-+]?\d+)?j?|\.\d+(?:e[-+]?\d+)?)/,
    /(?<word>[\p{L}_][\p{L}\p{N}_]*)/,
    /(?<o>[-+*/%@=<>!&|^~]+)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "giu",
);

const escaped = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

function kindOf(word, before) {
  if (word === "import" || word === "from") return "kn";
  if (KEYWORDS.has(word)) return "k";
  if (CONSTANTS.has(word)) return "kc";
  if (OPERATORS.has(word)) return "ow";
  if (word === "self") return "bp";
  if (/\bdef\s+$/.test(before)) return "nf";
  if (/\bclass\s+$/.test(before)) return "nc";
  if (BUILTINS.has(word) && !before.endsWith(".")) return "nb";
  return "n";
}

// Returns the HTML of a text.
export function painted(text) {
  let html = "";
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [kind] = Object.entries(match.groups).find(([, part]) => part !== undefined);
    const before = text.slice(Math.max(0, match.index - 12), match.index);
    const name = kind === "word" ? kindOf(match[0], before) : kind === "quoted" ? "s2" : kind;
    html += `${escaped(text.slice(end, match.index))}<span class="${name}">${escaped(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return `${html}${escaped(text.slice(end))}\n`;
}
