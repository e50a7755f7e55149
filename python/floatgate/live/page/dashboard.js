// The dashboard: takes the events of the drive, keeps the latest ones, and shows what has changed between them.
"use strict";

const $ = (id) => document.getElementById(id);
const NOW_S = 5;
const BEHIND = 4096; // requests under way that no host would have at a time
let setup = null, source = null, latest = null, drawn = 0;
const seen = []; // events of the last seconds, for differences
const charts = {};

function bytes(n) {
  if (n == null) return "-";
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let i = 0;
  while (n >= 1000 && i < units.length - 1) { n /= 1000; i += 1; }
  return `${digits(n)} ${units[i]}`;
}
function digits(n) {
  return n == null || !isFinite(n) ? "-" : Number(n.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
}
function ratio(n) {
  return n == null || !isFinite(n) ? "-" : n.toFixed(n < 10 ? 2 : 1);
}
function time(us) {
  if (us == null) return "-";
  return us < 1000 ? `${digits(us)} us` : us < 1e6 ? `${digits(us / 1e3)} ms` : `${digits(us / 1e6)} s`;
}
function span(s) {
  if (s < 120) return `${Math.floor(s)} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min`;
  return s < 172800 ? `${digits(s / 3600)} h` : `${digits(s / 86400)} days`;
}
function years(y) {
  return y >= 1000 ? "over 1,000 years" : y >= 1 ? `${digits(y)} years` : y * 365.25 >= 2 ? `${digits(y * 365.25)} days` : `${digits(y * 8766)} hours`;
}
function el(tag, text, more = {}) {
  return Object.assign(document.createElement(tag), { textContent: text }, more);
}

function cards(list) {
  const place = $("cards");
  list.forEach(([id, value, text], i) => {
    let card = $("card-" + id);
    if (!card) {
      card = el("div", "", { className: "card", id: "card-" + id });
      card.append(el("b", ""), el("span", ""));
      place.insertBefore(card, place.children[i] || null);
    }
    if (card.firstChild.textContent !== value) card.firstChild.textContent = value;
    if (card.lastChild.textContent !== text) card.lastChild.textContent = text;
  });
}

function lifeText(life) {
  if (life.years == null) return ["too early to say", `life at this rate: needs a minute of writes (${span(life.observed_s)} seen)`];
  const ends = life.high == null ? `at least ${years(life.low)}` : `${years(life.low)} to ${years(life.high)}`;
  return [years(life.years), `life of a new drive at this rate; ${ends}, if all years are like the ${span(life.observed_s)} seen`];
}

// The change over the last seconds: of counts, bytes by cause, and time.
function change(now) {
  const before = seen.find((one) => now.uptime_s - one.uptime_s <= NOW_S) || now;
  const s = now.uptime_s - before.uptime_s;
  return { s, written: now.host.write_bytes - before.host.write_bytes, read: now.host.read_bytes - before.host.read_bytes,
    flash: now.flash_bytes - before.flash_bytes, requests: now.requests - before.requests,
    of: (cause) => (now.programs[cause] - before.programs[cause]) * now.page_bytes };
}

function showCards(now, d) {
  const life = lifeText(now.life), e = now.erases, waf = now[setup.waf_key];
  const list = [
    ["waf", ratio(waf), "WAF since the drive was new"],
    ["waf-now", d.written > 0 ? ratio(d.flash / d.written) : "-", "WAF of the last 5 s"],
    ["life", ...life],
    ["written", bytes(now.host.write_bytes), `written by the host; ${bytes(now.host.read_bytes)} read`],
    ["flash", bytes(now.flash_bytes), "programmed by the flash"],
    ["requests", now.requests.toLocaleString("en"), `requests in ${span(now.uptime_s)}`],
    ["erases", digits(e.units ? e.total / e.units : 0), `erases of the mean block; most ${e.max.toLocaleString("en")}, rated ${digits(now.rated_erases)}`],
    ["free", now.free_units.toLocaleString("en"), `free blocks of ${e.units.toLocaleString("en")}`],
  ];
  if (now.latency_us) {
    const [r, w] = [now.latency_us.read, now.latency_us.write];
    list.push(["read-p99", time(r && r.p99), "p99 of reads, simulated"], ["write-p99", time(w && w.p99), "p99 of writes, simulated"]);
  }
  if (now.late_us) list.push(["late", time(now.late_us.p99), "p99 by which replies left late"]);
  if (now.disturb) list.push(["disturb", `${digits(100 * now.disturb.largest_share)} %`,
    `of what a block bears in reads, worst block; mean ${digits(100 * now.disturb.mean_share)} %, ${now.disturb.reclaims} reclaims`]);
  if (now.throttle) list.push(["throttle", `${digits(now.throttle.delay_s)} s`, "writes held back by the throttle, summed"]);
  cards(list);
}

function showCauses(now, d) {
  const total = now.flash_bytes || 1;
  const rows = setup.causes.filter((c) => now.programs[c.name] > 0).map((c) => {
    const share = now.programs[c.name] * now.page_bytes / total;
    const recent = d.flash > 0 ? `${digits(100 * d.of(c.name) / d.flash)} %` : "-";
    const row = document.createElement("tr");
    row.append(el("td", c.label), el("td", `${digits(100 * share)} %`, { className: "n" }), el("td", recent, { className: "n" }));
    const bar = el("td", "", { className: "bar" }), fill = document.createElement("i");
    fill.style.width = `${100 * share}%`; fill.style.background = c.color;
    bar.append(fill); row.append(bar);
    return row;
  });
  $("causes").tBodies[0].replaceChildren(...rows);
  $("advice").hidden = now.advice == null;
  if (now.advice != null && $("advice").textContent !== now.advice) $("advice").textContent = now.advice;
}

function add(now) {
  const d = change(now), waf = now[setup.waf_key], x = now.uptime_s;
  charts.waf.add(x, [d.written > 0 ? d.flash / d.written : null, waf]);
  const rate = (n) => (d.s > 0 ? n / d.s / 1e6 : null);
  charts.rate.add(x, [rate(d.written), rate(d.read), rate(d.flash)]);
  charts.iops.add(x, [d.s > 0 ? d.requests / d.s : null]);
  charts.free.add(x, [now.free_units]);
  if (charts.latency) {
    const q = (of, p) => (now.latency_us && now.latency_us[of] ? now.latency_us[of][p] : null);
    charts.latency.add(x, [q("read", "p50"), q("read", "p99"), q("write", "p50"), q("write", "p99")]);
  }
  return d;
}

function show(now) {
  if (now.uptime_s == null) return;
  latest = now;
  seen.push(now);
  while (seen.length > 1 && now.uptime_s - seen[0].uptime_s > NOW_S + 1) seen.shift();
  const d = add(now);
  document.body.dataset.looks = String(Number(document.body.dataset.looks || 0) + 1);
  if (now.pins && !$("pins-figure").hidden) drawPins($("pins"), now.pins, now.pins_from_s, Number($("width").value) / 1e3);
  // Text five times a second would be a blur; charts cost time.
  if (now.uptime_s - drawn < 0.5) return;
  drawn = now.uptime_s;
  const behind = now.outstanding > BEHIND ? ` Requests come faster than the simulated drive serves them: ${now.outstanding.toLocaleString("en")} are under way, and latencies grow (--delay holds replies back).` : "";
  $("state").textContent = now.ended ? `The drive takes no more writes: ${now.ended}` : `Serving.${behind}`;
  $("state").className = now.ended ? "bad" : "";
  showCards(now, d);
  showCauses(now, d);
  Object.values(charts).forEach((chart) => chart.draw());
  const e = now.erases;
  charts.wear.set(e.width, e.histogram);
  $("wear-text").textContent = `${e.units.toLocaleString("en")} blocks by their erases; a block is rated for ${digits(now.rated_erases)}`;
}

function listen() {
  if (source) source.close();
  const pins = setup.pins ? `?dies=${encodeURIComponent($("dies").value)}&ms=${$("width").value}` : "";
  source = new EventSource("events" + pins);
  source.onmessage = (e) => show(JSON.parse(e.data));
  source.addEventListener("end", () => { source.close(); $("state").textContent = "The drive has stopped; its report is in its folder."; });
  source.onerror = () => { $("state").textContent = "No connection to the drive. It may have stopped; trying again..."; };
}

async function post(path, body) {
  const reply = await fetch(path, { method: "POST", headers: { "X-Floatgate-Token": setup.token, "Content-Type": "application/json" }, body: JSON.stringify(body) });
  return reply.json();
}

async function measure() {
  $("measured").textContent = "Measuring...";
  const m = await (await fetch(`measure?dies=${encodeURIComponent($("dies").value)}`)).json();
  if (m.error) { $("measured").textContent = m.error; return; }
  const said = m.wa == null ? `no estimate (${m.withheld.join("; ")}); between ${ratio(m.wa_low)} and ${ratio(m.wa_high)}`
    : `WAF ${ratio(m.wa)}, ${ratio(m.wa_low)} to ${ratio(m.wa_high)}`;
  $("measured").textContent = `Die ${m.die}, the last ${span(m.span_s)}: rb measure says ${said}. The drive counted ${ratio(m.counted)}.`;
}

async function cut() {
  if (!confirm("Cut the power now? All connections end.")) return;
  const done = await post("power-cut", {});
  $("cut-done").textContent = done && done.error ? done.error
    : `Power cut: ${done.connections} connections ended, ${done.lost_blocks} blocks of 4 KiB were not flushed` + (setup.volatile ? "; about half of them are lost." : ".");
}

function trialNode(t) {
  const node = document.createElement("div");
  const when = t.minutes == null ? "all that was recorded" : `the last ${t.minutes} min`;
  node.append(el("p", `${t.key}: ${t.values.join(" against ")}, ${when}: ${t.state === "running" ? "running..." : t.state}`));
  if (t.state === "failed") node.append(el("p", t.message, { className: "bad" }));
  for (const r of t.rows) {
    const ends = r.interval ? ` (${ratio(r.interval[0])} to ${ratio(r.interval[1])})` : "";
    node.append(el("p", `${r.value}: WAF ${ratio(r.amplification)}${ends}`));
  }
  if (t.state === "done") node.append(el("a", "Report", { href: `trials/${t.number}/report.html`, target: "_blank" }));
  node.append(el("pre", t.command));
  return node;
}

async function showTrials() {
  const trials = await (await fetch("trials")).json();
  $("trials").replaceChildren(...trials.map(trialNode));
  document.body.dataset.trials = trials.map((t) => t.state).join(",");
  if (trials.some((t) => t.state === "running")) setTimeout(showTrials, 1000);
}

async function compare(event) {
  event.preventDefault();
  const minutes = $("minutes").value;
  const begun = await post("trials", { key: $("key").value, value: $("value").value, minutes: minutes === "" ? null : Number(minutes) });
  if (begun.error) { $("trials").replaceChildren(el("p", begun.error, { className: "bad" })); return; }
  showTrials();
}

function fillValues() {
  const { own, values } = setup.tried[$("key").value];
  $("value").replaceChildren(...values.map((v) => el("option", v, { value: v })));
  $("own").textContent = `the drive has ${own}`;
}

function prepareActs() {
  $("acts").hidden = false;
  $("key").replaceChildren(...Object.keys(setup.tried).map((key) => el("option", key, { value: key })));
  $("key").onchange = fillValues;
  fillValues();
  $("trial").onsubmit = compare;
  $("cut").onclick = cut;
  $("cut-text").textContent = setup.volatile ? "Connections end; blocks that were not flushed are lost, about half of them."
    : "Connections end. Nothing else is lost: every write is in the file at once (--cache volatile keeps writes in a cache).";
  showTrials();
}

async function begin() {
  setup = await (await fetch("setup")).json();
  $("preset").textContent = setup.preset || "";
  $("about").textContent = `${setup.mode} mode${setup.delay ? ", replies wait for the drive" : ""}; clients connect to ${setup.socket}`;
  $("footer").textContent = `floatgate ${setup.version}. This page loads nothing from other machines.`;
  charts.waf = new Moving("waf", ["last 5 s", "since new"]);
  charts.rate = new Moving("rate", ["host writes", "host reads", "flash programs"], { digits: 1 });
  charts.iops = new Moving("iops", ["requests"], { digits: 0 });
  charts.free = new Moving("free", ["free blocks"], { zero: false, digits: 0 });
  if (setup.mode === "timed") {
    $("latency-figure").hidden = false;
    charts.latency = new Moving("latency", ["read p50", "read p99", "write p50", "write p99"], { text: time });
  }
  charts.wear = new Bars("wear");
  if (setup.pins) {
    $("pins-figure").hidden = false;
    $("dies").value = setup.dies > 1 ? "0,1" : "0";
    $("dies").title = `numbers from 0 to ${setup.dies - 1}, up to four`;
    $("dies").onchange = $("width").onchange = listen;
    $("measure").onclick = measure;
  }
  if (setup.token) prepareActs();
  listen();
}

begin();
