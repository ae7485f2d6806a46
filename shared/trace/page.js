"use strict";
// Text from the wires goes into text nodes alone: nothing here ever makes HTML of a string.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const COLOURED = 200000; // characters of a message that are coloured; a longer one is plain
  const CHUNK = 20; // rows that the browser lays out, or leaves alone, together
  const AT_ONCE = 400; // rows that are made before the page is first shown; the others follow

  // -- words -------------------------------------------------------------------------------------

  let language = data.language;
  const spoken = []; // what is said again when the language changes
  const inLanguage = (text) => (typeof text === "string" ? text : text[language]);
  const word = (name, values = {}) =>
    data.words[name][language].replace(/\{(\w+)\}/g, (_, key) => values[key]);

  function say(node, text) {
    if (typeof text === "string") node.textContent = text;
    else {
      const set = () => {
        node.replaceChildren();
        // what stands in backticks is code
        text[language].split("`").forEach((piece, index) => {
          node.append(index % 2 ? el("code", "", piece) : piece);
        });
      };
      spoken.push(set);
      set();
    }
    return node;
  }

  function el(tag, className, text) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) say(node, text);
    return node;
  }

  // -- rows --------------------------------------------------------------------------------------

  // { data, section, chunk, index, shown, text } in order; with { item, button } once it is made,
  // with { detail } once it was opened
  const rows = [];
  const chunks = []; // { list, rows, made, severalServers } in order
  const ARROWS = { agent: "◂", model: "▸", client: "▸", server: "◂" };

  function makeRow(entry, severalServers) {
    const row = entry.data;
    const item = el("li", `row wire-${row.w} from-${row.s} is-${row.k}${row.b ? " bad" : ""}${row.n ? " marked" : ""}`);
    if (row.g && row.g[1]) item.classList.add(`gap${row.g[1]}`);
    const axis = el("div", "axis");
    axis.append(el("span", "gap", row.g ? `+${row.g[0]}` : ""), el("span", "at", row.t));
    const button = el("button", "message");
    button.type = "button";
    button.tabIndex = -1;
    const line = el("span", "line");
    if (severalServers && row.c) line.append(el("b", "channel", row.c));
    if (row.h) line.append(el("b", "head", row.h));
    if (row.i) line.append(el("span", "id", `#${row.i}`));
    line.append(el("span", "words", row.l));
    button.append(el("span", "who", `${row.s} ${ARROWS[row.s]}`), line);
    if (row.d) button.append(el("span", "took", row.d));
    if (row.m) button.setAttribute("aria-expanded", "false");
    item.append(axis, button);
    item.hidden = !entry.shown;
    button.row = entry;
    Object.assign(entry, { item, button });
    if (row.n) {
      const notes = el("div", "notes");
      for (const note of row.n) notes.append(el("p", "note", note));
      item.append(notes);
      const detail = detailOf(entry); // on paper it is open, whatever runs at that moment
      if (detail) detail.hidden = true;
    }
    return item;
  }

  function make(chunk) {
    if (chunk.made) return;
    chunk.made = true;
    chunk.list.append(...chunk.rows.map((entry) => makeRow(entry, chunk.severalServers)));
  }

  const made = (entry) => {
    make(entry.chunk);
    return entry;
  };

  /** Make what is wanted at once: the first rows, and those that a check pointed at. The others
      follow while the browser has nothing to do. */
  function makeChunks() {
    let count = 0;
    for (const chunk of chunks) {
      if (count < AT_ONCE || chunk.rows.some((entry) => entry.data.n)) make(chunk);
      count += chunk.rows.length;
    }
    const left = chunks.filter((chunk) => !chunk.made);
    const later = window.requestIdleCallback || ((work) => setTimeout(() => work(null), 20));
    const goOn = (idle) => {
      do make(left.shift()); while (left.length && idle && idle.timeRemaining() > 4);
      if (left.length) later(goOn);
    };
    if (left.length) later(goOn);
    const all = () => { left.length = 0; chunks.forEach(make); };
    window.addEventListener("beforeprint", all);
    window.matchMedia("print").addEventListener("change", (print) => { if (print.matches) all(); });
  }

  /** The whole message below its line; made when it is first wanted. */
  function detailOf(row) {
    if (!row.detail && row.data.m) {
      row.detail = el("pre", row.data.n ? "detail printed" : "detail");
      row.detail.id = `detail${row.index}`;
      row.detail.append(pretty(row.data.m, row.data.n ? row.section.names : [], Boolean(row.data.n)));
      row.button.setAttribute("aria-controls", row.detail.id);
      row.item.append(row.detail);
    }
    return row.detail;
  }

  function open(row, wanted) {
    const detail = wanted ? detailOf(made(row)) : row.detail;
    if (!detail) return;
    detail.hidden = !wanted;
    row.item.classList.toggle("open", wanted);
    row.button.setAttribute("aria-expanded", String(wanted));
  }

  function isJson(text) {
    if (!/^\s*[{[]/.test(text)) return false;
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  }

  /** JSON text, indented and coloured token by token, so that every digit stays as it crossed.
      Names that the verdict speaks of are marked, where they stand by themselves; of what is no
      JSON, `strayMarked` says whether the whole is. */
  function pretty(text, names, strayMarked = false) {
    const out = document.createDocumentFragment();
    if (!isJson(text)) {
      out.append(strayMarked ? el("mark", "", text) : text);
      return out;
    }
    const quoted = new Set(names.map((name) => JSON.stringify(name)));
    let depth = 0;
    const newline = () => "\n" + "  ".repeat(Math.min(depth, 60));
    const tokens = text.match(/"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g);
    const coloured = text.length <= COLOURED;
    let plain = "";
    const put = (token, className) => {
      if (!coloured || !className) { plain += token; return; }
      if (plain) { out.append(plain); plain = ""; }
      out.append(el(quoted.has(token) ? "mark" : "span", className, token));
    };
    tokens.forEach((token, index) => {
      const after = tokens[index + 1];
      const before = tokens[index - 1];
      if (token === "{" || token === "[") {
        depth += 1;
        put(token + (after === "}" || after === "]" ? "" : newline()));
      } else if (token === "}" || token === "]") {
        depth -= 1;
        put((before === "{" || before === "[" ? "" : newline()) + token);
      } else if (token === ",") put("," + newline());
      else if (token === ":") put(": ");
      else if (token[0] === '"') put(token, after === ":" ? "key" : "string");
      else put(token, "value");
    });
    out.append(plain);
    return out;
  }

  // -- sections ----------------------------------------------------------------------------------

  function makeSection(section) {
    const node = el("section", `item ${section.state}`);
    node.id = `item${section.number}`;
    const head = el("h2");
    head.append(
      el("span", "mark", section.mark), " ", el("span", "number", String(section.number)), " ",
      el("span", "title", section.title), " ", el("span", "state", section.word),
    );
    node.append(head);
    const verdict = el("div", "verdict");
    if (section.cause.en) verdict.append(el("p", "cause", section.cause));
    if (section.step.en) verdict.append(el("p", "step", section.step));
    for (const [note, text] of section.findings) {
      const finding = el("div", "finding");
      finding.append(el("p", "note", note));
      if (text) {
        const pre = el("pre");
        pre.append(pretty(text, section.names));
        finding.append(pre);
      }
      verdict.append(finding);
    }
    for (const { expected, actual } of section.comparisons) {
      const pair = el("div", "comparison");
      for (const [kind, [title, lines]] of [["expected", expected], ["actual", actual]]) {
        const side = el("figure", kind);
        side.append(el("figcaption", "", title));
        const pre = el("pre");
        for (const [line, differs] of lines) {
          pre.append(el(differs ? "mark" : "span", "", line), "\n");
        }
        side.append(pre);
        pair.append(side);
      }
      verdict.append(pair);
    }
    if (verdict.childNodes.length) node.append(verdict);
    if (!section.parts.length) node.append(el("p", "silent", data.words.silent));
    for (const part of section.parts) node.append(makePart(part, section));
    if (section.ending.en) node.append(el("p", "silent", section.ending));
    return node;
  }

  function makePart(part, section) {
    const wires = new Set(part.rows.map((row) => row.w));
    const servers = new Set(part.rows.filter((row) => row.c).map((row) => row.c));
    const node = el("div", `part ${wires.size > 1 ? "both" : "one"}`);
    if (part.title) node.append(el("h3", "", part.title));
    const lanes = el("div", "lanes");
    const lane = (wire, ends) => {
      const name = el("div", `lane ${wire}`);
      name.append(el("b", "", data.words[wire]), " ", el("span", "", ends));
      return name;
    };
    if (wires.has("model")) lanes.append(lane("model", "model ◂▸ agent"));
    lanes.append(el("div", "axis"));
    if (wires.has("mcp")) lanes.append(lane("mcp", `client ◂▸ server${servers.size === 1 ? ` ${[...servers][0]}` : ""}`));
    node.append(lanes);
    for (let first = 0; first < part.rows.length; first += CHUNK) {
      const list = el("ol", "rows");
      list.start = first + 1;
      const chunk = { list, rows: [], made: false, severalServers: servers.size > 1 };
      for (const row of part.rows.slice(first, first + CHUNK)) {
        const entry = { data: row, section, chunk, index: rows.length, shown: true, text: null };
        rows.push(entry);
        chunk.rows.push(entry);
      }
      list.style.setProperty("--rows", chunk.rows.length);
      chunks.push(chunk);
      node.append(list);
    }
    return node;
  }

  // -- moving ------------------------------------------------------------------------------------

  let current = null;

  /** One stop for Tab among thousands of rows; arrow keys move between them. */
  function makeCurrent(row, { focus = true } = {}) {
    if (current) current.button.tabIndex = -1;
    current = row;
    if (!row) return;
    made(row).button.tabIndex = 0;
    if (focus) {
      row.button.focus({ preventScroll: true });
      row.item.scrollIntoView({ block: "nearest" });
    }
  }

  function move(from, step, matches = () => true) {
    let index = (from ? from.index : -1) + step;
    while (rows[index] && !(rows[index].shown && matches(rows[index]))) index += step;
    if (rows[index]) makeCurrent(rows[index]);
    return Boolean(rows[index]);
  }

  function nextMark() {
    const isMarked = (row) => Boolean(row.data.n);
    const from = document.activeElement.row || null;
    if (!(from && move(from, 1, isMarked))) move(null, 1, isMarked);
  }

  byId("main").addEventListener("click", (event) => {
    const button = event.target.closest("button.message");
    if (!button) return;
    makeCurrent(button.row, { focus: false });
    open(button.row, button.getAttribute("aria-expanded") === "false");
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = event.target.row;
    const typing = event.target === byId("search");
    const last = rows.length - 1;
    const actions = typing
      ? { Escape: () => { byId("search").value = ""; search(); }, ArrowDown: () => move(null, 1), Enter: () => move(null, 1) }
      : { "/": () => byId("search").focus(), m: nextMark };
    if (row) {
      Object.assign(actions, {
        ArrowDown: () => move(row, 1),
        ArrowUp: () => move(row, -1),
        ArrowRight: () => open(row, true),
        ArrowLeft: () => open(row, false),
        Escape: () => open(row, false),
        Home: () => move(null, 1),
        End: () => (rows[last].shown ? makeCurrent(rows[last]) : move(rows[last], -1)),
      });
    }
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });

  // -- search ------------------------------------------------------------------------------------

  function textOf(row) {
    if (row.text === null) {
      const { data: it } = row;
      const parts = [it.s, it.w, it.c, it.m, ...[it.h, it.l, ...(it.n || [])].flatMap(
        (text) => (typeof text === "object" ? [text.en, text.zh] : [text]))];
      row.text = parts.filter(Boolean).join("\n").toLowerCase();
    }
    return row.text;
  }

  function search() {
    const wanted = byId("search").value.trim().toLowerCase();
    let count = 0;
    for (const chunk of chunks) {
      let left = 0;
      for (const row of chunk.rows) {
        const fits = !wanted || textOf(row).includes(wanted);
        if (row.shown !== fits) {
          row.shown = fits;
          if (row.item) row.item.hidden = !fits;
        }
        left += fits;
      }
      chunk.list.hidden = !left;
      chunk.list.style.setProperty("--rows", left);
      count += left;
    }
    for (const part of document.querySelectorAll(".part")) {
      part.hidden = !part.querySelector("ol.rows:not([hidden])");
    }
    root.classList.toggle("searching", Boolean(wanted));
    for (const section of document.querySelectorAll("section.item")) {
      section.hidden = Boolean(wanted) && !section.querySelector(".part:not([hidden])");
    }
    byId("none").hidden = count > 0 || !rows.length;
    sayCount(wanted, count);
    if (!current || !current.shown) {
      makeCurrent(rows.find((row) => row.shown) || null, { focus: false });
    }
  }

  function sayCount(wanted, shown) {
    byId("count").textContent = word(wanted ? "found" : "count", { shown, all: rows.length });
  }

  // -- the page ----------------------------------------------------------------------------------

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let theme = "";
  const paint = () => { root.dataset.theme = theme || (dark.matches ? "dark" : "light"); };
  dark.addEventListener("change", paint);
  paint();

  function speak() {
    root.lang = language === "zh" ? "zh-CN" : "en";
    for (const again of spoken) again();
    document.title = inLanguage(data.heading);
    const box = byId("search");
    box.placeholder = word("search");
    box.setAttribute("aria-label", word("search"));
    byId("items").setAttribute("aria-label", word("items"));
    byId("theme").setAttribute("aria-label", word("theme"));
    byId("theme").title = word("theme");
    byId("language").lang = language === "zh" ? "en" : "zh-CN";
  }

  say(byId("heading"), data.heading);
  say(byId("below"), data.below);
  for (const name of ["language", "next", "close"]) say(byId(name), data.words[name]);
  for (const name of ["hint", "none"]) say(byId(name), data.words[name]);
  const main = document.createDocumentFragment();
  for (const section of data.sections) {
    main.append(makeSection(section));
    const link = el("a", section.state);
    link.href = `#item${section.number}`;
    link.append(el("span", "mark", section.mark), ` ${section.number} `, el("span", "", section.word));
    byId("items").append(link);
  }
  byId("main").replaceChildren(main);
  byId("next").hidden = !rows.some((row) => row.data.n);
  makeChunks();

  byId("search").addEventListener("input", search);
  byId("next").addEventListener("click", () => { makeCurrent(null); nextMark(); });
  byId("close").addEventListener("click", () => rows.forEach((row) => open(row, false)));
  byId("theme").addEventListener("click", () => {
    theme = root.dataset.theme === "dark" ? "light" : "dark";
    paint();
  });
  byId("language").addEventListener("click", () => {
    language = language === "zh" ? "en" : "zh";
    speak();
    search();
  });
  speak();
  search();
})();
