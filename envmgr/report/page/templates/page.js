"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const cells = data.cells;
  const byId = new Map(cells.map((cell) => [cell.id, cell]));
  const state = { words: [], outcome: "", column: "", sort: "median", down: false, shown: 200 };
  document.documentElement.classList.add("scripted");

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "onclick") element.addEventListener("click", value);
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function draw(tag, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function digits(value) {
    return value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0);
  }

  function seconds(value) {
    if (value === undefined || value === null) return "";
    if (value === 0) return "0 s";
    if (value < 0.9995e-3) return digits(value * 1e6) + " us";
    if (value < 0.9995) return digits(value * 1e3) + " ms";
    if (value < 120) return digits(value) + " s";
    return Math.floor(Math.round(value) / 60) + ":" + String(Math.round(value) % 60).padStart(2, "0") + " min";
  }

  function ratio(value) {
    if (value === undefined || value === null) return "";
    return (value < 0.1 ? String(Number(value.toPrecision(2))) : digits(value)) + "x";
  }

  function between(interval) {
    return interval ? seconds(interval[0]) + " to " + seconds(interval[1]) : "";
  }

  function link(cell, text) {
    return make("a", { href: "#cell-" + cell.id }, text);
  }

  /* Filter */
  function fits(cell) {
    if (state.outcome === "unexpected" ? !cell.unexpected : state.outcome && cell.outcome !== state.outcome) return false;
    if (state.column !== "" && cell.column !== Number(state.column)) return false;
    return !state.words.length || state.words.every((word) => words(cell).includes(word));
  }

  function words(cell) {
    return cell.text ??= [cell.label, cell.host, data.columns[cell.column], cell.device, cell.physical, cell.outcome, cell.reason]
      .filter(Boolean).join(" ").toLowerCase();
  }

  /* The matrix: rows are elements once they have been shown, text until then */
  const matrix = find("grid").tBodies[0];
  const rows = [...matrix.rows];
  const atOnce = rows.length;
  if (find("later")) {
    const text = find("later").textContent;
    const [begin, end] = [text.indexOf("<tbody>") + 7, text.lastIndexOf("</tbody>")];
    rows.push(...text.slice(begin, end).split("</tr>").filter((row) => row.includes("<tr")));
  }
  const places = new Map();
  for (const cell of cells) {
    const name = cell.host + " " + cell.label;
    if (!places.has(name)) places.set(name, places.size);
    cell.row = places.get(name);
  }
  let wanted = rows.map((_, place) => place);

  function element(place) {
    if (typeof rows[place] === "string") {
      const made = document.createElement("tbody");
      made.innerHTML = rows[place];
      rows[place] = made.firstElementChild;
    }
    return rows[place];
  }

  function show(from, to, fitting) {
    const more = wanted.slice(from, to).map(element);
    for (const square of more.flatMap((row) => [...row.querySelectorAll(".square")])) {
      square.classList.toggle("dim", Boolean(fitting) && !fitting.has(square.dataset.id));
    }
    matrix.append(...more);
    find("more-rows").hidden = matrix.rows.length >= wanted.length;
    find("rows-shown").textContent = matrix.rows.length + " of " + wanted.length + " rows.";
  }

  function more(count) {
    if (matrix.rows.length < wanted.length) show(matrix.rows.length, matrix.rows.length + count, state.fitting);
  }

  function filter() {
    const fitting = new Set();
    for (const cell of cells) if (fits(cell)) fitting.add(cell.id);
    wanted = [...new Set(cells.filter((cell) => fitting.has(cell.id)).map((cell) => cell.row))].sort((one, other) => one - other);
    state.fitting = fitting;
    matrix.replaceChildren();
    show(0, atOnce, fitting);
    for (const bar of document.querySelectorAll(".bars li")) bar.hidden = !fitting.has(bar.dataset.id);
    for (const dot of document.querySelectorAll(".dot")) dot.classList.toggle("dim", !fitting.has(dot.dataset.id));
    find("status").textContent = fitting.size + " of " + cells.length + " cells";
    state.shown = 200;
    list();
    pairs();
  }

  /* All cells */
  const columns = [
    ["version set", "label", (cell) => cell.label, false],
    ["runner and device", "place", (cell) => data.columns[cell.column], false],
    ["outcome", "outcome", (cell) => cell.sign + " " + cell.outcome, false],
    ["first call", "first", (cell) => seconds(cell.first), true],
    ["median", "median", (cell) => seconds(cell.median), true],
    ["95 % interval", "low", (cell) => between(cell.interval), true],
    ["speed", "speed", (cell) => ratio(cell.speed), true],
    ["parity", "error", (cell) => cell.error || "", true],
    ["memory", "memory", (cell) => cell.memory || "", true],
    ["doubts", "marks", (cell) => cell.marks || "", false],
  ];
  if (data.severalHosts) columns.unshift(["host", "host", (cell) => cell.host || "", false]);

  function key(cell) {
    if (state.sort === "place") return data.columns[cell.column];
    if (state.sort === "low") return cell.interval && cell.interval[0];
    if (state.sort === "error") return { reference: 0, none: undefined, inf: Infinity }[cell.error] ?? (isNaN(cell.error) ? undefined : Number(cell.error));
    if (state.sort === "memory") return size(cell.memory);
    return cell[state.sort];
  }

  function size(text) {
    if (!text) return undefined;
    const [amount, unit] = text.split(" ");
    return Number(amount) * { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }[unit];
  }

  function ordered(chosen) {
    const sign = state.down ? -1 : 1;
    return chosen.map((cell) => [key(cell), cell]).sort(([one], [other]) => {
      if (one === undefined || other === undefined) return (one === undefined) - (other === undefined);
      return sign * (one < other ? -1 : one > other ? 1 : 0);
    }).map(([, cell]) => cell);
  }

  function list() {
    const chosen = ordered(cells.filter(fits));
    const head = make("tr", {});
    for (const [title, name, , number] of columns) {
      const sorted = state.sort === name ? (state.down ? "descending" : "ascending") : "none";
      const arrow = sorted === "none" ? "" : state.down ? " ▼" : " ▲";
      const press = () => { state.down = state.sort === name && !state.down; state.sort = name; list(); find("list").querySelector("[data-sort=" + name + "]").focus(); };
      head.append(make("th", { scope: "col", "aria-sort": sorted, class: number ? "number" : "" },
        make("button", { type: "button", "data-sort": name, onclick: press }, title + arrow)));
    }
    const body = make("tbody", {});
    for (const cell of chosen.slice(0, state.shown)) {
      const row = make("tr", {});
      for (const [, name, text, number] of columns) {
        row.append(name === "label" ? make("th", { scope: "row" }, link(cell, text(cell)))
          : make("td", { class: number ? "number" : "" }, text(cell)));
      }
      body.append(row);
    }
    find("list").replaceChildren(make("thead", {}, head), body);
    find("more").hidden = chosen.length <= state.shown;
  }

  /* Two columns */
  function pairs() {
    const [one, other] = [find("first-column"), find("second-column")].map((select) => Number(select.value));
    const couples = new Map();
    for (const cell of cells) {
      if (cell.column !== one && cell.column !== other) continue;
      const name = (data.severalHosts ? cell.host + " " : "") + cell.label;
      const row = couples.get(name) || {};
      if (cell.column === one) row.one = cell;
      if (cell.column === other) row.other = cell;
      couples.set(name, row);
    }
    const alike = data.runners[one] === data.runners[other];
    const body = make("tbody", {});
    let left = 0;
    for (const [name, row] of couples) {
      if (!row.one || !row.other || !(fits(row.one) || fits(row.other))) continue;
      if (body.rows.length >= 200 && ++left) continue;
      const timed = row.one.median && row.other.median && row.one.outcome === "passed" && row.other.outcome === "passed";
      const apart = timed && row.one.interval && row.other.interval &&
        (row.one.interval[1] < row.other.interval[0] || row.other.interval[1] < row.one.interval[0]);
      const told = !timed || !alike ? "" : !row.one.interval || !row.other.interval ? "one process: no interval" : apart ? "intervals apart" : "intervals overlap";
      const shown = (cell) => cell.sign + " " + (cell.median ? seconds(cell.median) : cell.outcome);
      body.append(make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number" }, link(row.one, shown(row.one))),
        make("td", { class: "number" }, link(row.other, shown(row.other))),
        make("td", { class: "number" }, timed && alike ? ratio(row.other.median / row.one.median) : ""), make("td", {}, told)));
    }
    if (left) body.append(make("tr", {}, make("td", { colspan: "5" }, left + " more; filter to see them.")));
    if (!body.rows.length) body.append(make("tr", {}, make("td", { colspan: "5" }, "No version set has a cell in both columns.")));
    const heads = ["version set", data.columns[one], data.columns[other], "second by first", ""];
    const head = make("tr", {}, ...heads.map((text, place) => (text ? make("th", { scope: "col", class: place ? "number" : "" }, text) : make("td", {}))));
    find("pairs").replaceChildren(make("thead", {}, head), body);
  }

  /* Over the runs */
  const signs = { slower: "▼", faster: "▲" };

  function line(points) {
    const timed = points.map((point, place) => [place, point]).filter(([, point]) => point.median);
    const picture = draw("svg", { viewBox: "0 0 240 48", width: "240", height: "48", role: "img", "aria-label": points.length + " runs" });
    if (!timed.length) return picture;
    const values = timed.flatMap(([, point]) => point.interval || [point.median]).map(Math.log);
    const low = Math.min(...values) - 0.02, high = Math.max(...values) + 0.02;
    const x = (place) => 10 + 220 * (points.length > 1 ? place / (points.length - 1) : 0.5);
    const y = (value) => 42 - 30 * (Math.log(value) - low) / (high - low);
    picture.append(draw("path", { d: timed.map(([place, point], at) => (at ? "L" : "M") + x(place) + " " + y(point.median)).join("") }));
    for (const [place, point] of timed) {
      if (point.interval) picture.append(draw("line", { x1: x(place), x2: x(place), y1: y(point.interval[0]), y2: y(point.interval[1]) }));
      const dot = draw("circle", { cx: x(place), cy: y(point.median), r: 3 });
      dot.append(draw("title", {}, point.run + ": " + seconds(point.median)));
      picture.append(dot);
      if (signs[point.change]) picture.append(draw("text", { x: x(place) - 5, y: 12, class: "changed" }, signs[point.change]));
    }
    return picture;
  }

  function changes(points) {
    return points.filter((point) => signs[point.change]).map((point) => signs[point.change] + " " + point.change + " (" + ratio(point.ratio) + ") in " + point.run);
  }

  function ends(points) {
    const timed = points.filter((point) => point.median);
    return seconds(timed[0].median) + " → " + seconds(timed[timed.length - 1].median);
  }

  function past() {
    const told = cells.filter((cell) => cell.history && cell.history.filter((point) => point.median).length > 1);
    find("changes").hidden = !told.length;
    const count = (cell) => changes(cell.history).length;
    const head = make("tr", {}, ...["cell", "medians", "first and last", "changes"].map((text) => make("th", { scope: "col" }, text)));
    const body = make("tbody", {}, ...told.sort((one, other) => count(other) - count(one)).slice(0, 60).map((cell) => make("tr", {},
      make("th", { scope: "row" }, link(cell, cell.name)), make("td", {}, line(cell.history)), make("td", {}, ends(cell.history)), make("td", {}, changes(cell.history).join("; ") || "none"))));
    find("past").replaceChildren(make("thead", {}, head), body);
  }

  /* One cell */
  function strip(samples) {
    const all = samples.flat();
    const low = Math.min(...all), high = Math.max(...all), height = 16 * samples.length + 22;
    const x = (value) => 8 + 584 * (high > low ? (value - low) / (high - low) : 0.5);
    const picture = draw("svg", { viewBox: "0 0 600 " + height, width: "600", height, role: "img", "aria-label": all.length + " samples of " + samples.length + " processes, from " + seconds(low) + " to " + seconds(high) });
    samples.forEach((row, at) => {
      for (const sample of row) picture.append(draw("circle", { cx: x(sample), cy: 10 + 16 * at, r: 3.5, "fill-opacity": "0.6" }));
      const middle = [...row].sort((one, other) => one - other)[Math.floor(row.length / 2)];
      if (row.length) picture.append(draw("line", { x1: x(middle), x2: x(middle), y1: 3 + 16 * at, y2: 17 + 16 * at, "stroke-width": 2 }));
    });
    picture.append(draw("text", { x: 4, y: height - 4 }, seconds(low)), draw("text", { x: 596, y: height - 4, "text-anchor": "end" }, seconds(high)));
    return picture;
  }

  function facts(rows) {
    const shown = make("dl", {});
    for (const [name, value] of rows) if (value) shown.append(make("dt", {}, name), make("dd", {}, value));
    return shown;
  }

  function part(title, ...content) {
    return [make("h3", {}, title), ...content.filter(Boolean)];
  }

  function parity(cell) {
    return { reference: "this is the reference", unchecked: "its numbers were compared with nothing" }[cell.numbers] || cell.parity ||
      (cell.error && (Number(cell.error) ? "largest relative error " + cell.error : "no difference from the reference"));
  }

  function finding(found) {
    const fix = found.fix ? JSON.stringify(found.fix, null, 1) : "";
    return part("Finding", facts([["cause", found.causes.map((each) => (each.kind + " " + each.name).trim() + ": " + each.why).join("; ")], ["phase", found.phase],
      ["confirmed", found.confirmed ? "yes: the check failed before and holds after" : "no"], ["next", found.next], ["impossible", found.impossible]]),
      ...found.evidence.map((each) => make("blockquote", {}, each.quote + " (" + each.where + ")")), fix ? make("pre", { tabindex: "0", "aria-label": "Fix" }, fix) : null);
  }

  function detail() {
    const cell = byId.get(decodeURIComponent(location.hash.replace("#cell-", "")));
    const place = find("detail");
    place.hidden = !cell;
    if (!cell) return;
    const env = data.envs[cell.env];
    place.replaceChildren(
      make("h2", { id: "detail-title", tabindex: "-1" }, cell.sign + " " + cell.name),
      facts([["outcome", cell.outcome + (cell.observed ? ", observed " + cell.observed : "") + (cell.unexpected ? ", unexpected" : "")], ["phase", cell.phase],
        ["why", cell.reason], ["host", cell.host], ["device", [cell.device, cell.physical].filter(Boolean).join(", ")], ["parameters", cell.parameters],
        ["interpreter", env && env.python + ", " + env.executable], ["first call", seconds(cell.first)],
        ["median", seconds(cell.median) + (cell.interval ? " (95 % interval " + between(cell.interval) + ")" : "")], ["spread", seconds(cell.spread)],
        ["speed", ratio(cell.speed)], ["memory", cell.memory], ["parity", parity(cell)], ["measured under", cell.doubts], ["machine", cell.machine], ["notes", (cell.notes || []).join("; ")], ["id", cell.id]]),
      ...(cell.finding === undefined ? [] : finding(data.findings[cell.finding])),
      ...(cell.samples && cell.samples.flat().length ? part("Samples, a row a process", strip(cell.samples)) : []),
      ...(cell.history && cell.history.filter((point) => point.median).length > 1 ? part("Over the runs", line(cell.history), make("p", {}, changes(cell.history).join("; ") || "no change beyond doubt")) : []),
      ...(env ? part("Resolved packages", make("ul", { class: "packages" }, ...Object.entries(env.resolved).sort().map(([name, version]) => make("li", {}, name + " " + version)))) : []),
      ...(cell.log ? part("End of its log", make("pre", { tabindex: "0", "aria-label": "End of its log" }, cell.log)) : []),
      make("p", {}, make("a", { href: "#matrix" }, "Back to the matrix")),
    );
    find("detail-title").focus();
    place.scrollIntoView({ block: "start" });
  }

  /* Keyboard in the matrix */
  function move(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const from = event.target.closest("td");
    if (!step || !from) return;
    let row = from.parentElement.sectionRowIndex, column = from.cellIndex;
    for (;;) {
      row += step[0];
      column += step[1];
      if (row === matrix.rows.length) more(atOnce);
      const target = matrix.rows[row] && matrix.rows[row].cells[column];
      if (!target) return;
      const square = target.querySelector(".square");
      if (square) { event.preventDefault(); square.focus(); return; }
    }
  }

  const names = data.columns.map((name, place) => [name, place]);
  for (const id of ["column", "first-column", "second-column"]) {
    find(id).append(...names.map(([name, place]) => make("option", { value: place }, name)));
  }
  const filled = names.map(([, place]) => new Set(cells.filter((cell) => cell.column === place && cell.median).map((cell) => cell.host + " " + cell.label)));
  const alike = names.flatMap(([, one]) => names.slice(one + 1).map(([, other]) =>
    [data.runners[one] === data.runners[other], [...filled[one]].filter((name) => filled[other].has(name)).length, one, other]));
  const best = alike.sort((one, other) => other[0] - one[0] || other[1] - one[1])[0] || [true, 0, 0, 0];
  find("first-column").value = best[2];
  find("second-column").value = best[3];
  find("two").hidden = !best[1];
  find("words").addEventListener("input", (event) => { state.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean); filter(); });
  find("outcome").addEventListener("change", (event) => { state.outcome = event.target.value; filter(); });
  find("column").addEventListener("change", (event) => { state.column = event.target.value; filter(); });
  find("controls").addEventListener("submit", (event) => event.preventDefault());
  find("controls").addEventListener("reset", () => { Object.assign(state, { words: [], outcome: "", column: "" }); filter(); });
  for (const id of ["first-column", "second-column"]) find(id).addEventListener("change", pairs);
  const region = find("grid").parentElement;
  region.addEventListener("scroll", () => { if (region.scrollTop + 2 * region.clientHeight > region.scrollHeight) more(atOnce); }, { passive: true });
  find("more-rows").querySelector("button").addEventListener("click", () => more(atOnce));
  addEventListener("beforeprint", () => more(Infinity));
  find("more").addEventListener("click", () => { state.shown += 500; list(); });
  find("grid").addEventListener("keydown", move);
  find("theme").addEventListener("click", () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  });
  const fit = () => { find("sideways").hidden = region.scrollWidth <= region.clientWidth + 1; };
  addEventListener("resize", fit);
  addEventListener("hashchange", detail);
  find("status").textContent = cells.length + " cells";
  show(rows.length, rows.length);
  fit();
  list();
  pairs();
  past();
  detail();
})();
