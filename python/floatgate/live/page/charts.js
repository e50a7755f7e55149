// The moving charts of the dashboard: uPlot over columns that grow at the right.
"use strict";

const POINTS_MAX = 1200; // two minutes of ten looks a second

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A chart of series over the seconds since the drive was started.
class Moving {
  constructor(id, names, { zero = true, digits = 2, text = null } = {}) {
    this.place = document.getElementById(id);
    this.names = names;
    this.columns = [[], ...names.map(() => [])];
    this.zero = zero;
    this.digits = digits;
    this.text = text; // of a value, where it is no plain number
    this.plot = null;
    new ResizeObserver(() => this.fit()).observe(this.place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.make());
    this.make();
  }

  options() {
    const axis = { stroke: color("--soft"), grid: { stroke: color("--edge"), width: 1 }, ticks: { stroke: color("--edge") } };
    const colors = [color("--one"), color("--two"), color("--soft"), color("--ink")];
    const plain = (v) => (v == null ? "-" : Number(v.toFixed(this.digits)).toLocaleString("en"));
    const value = (_, v) => (this.text ? this.text(v) : plain(v));
    const ticks = this.text ? { values: (_, all) => all.map(this.text) } : {};
    const series = this.names.map((label, i) => ({
      label, stroke: colors[i], width: 1.6, dash: i % 2 ? [6, 3] : undefined, value, points: { show: false },
    }));
    return {
      width: Math.max(200, this.place.clientWidth), height: 180, series: [{ label: "s", value: (_, v) => plain(v) }, ...series],
      scales: { x: { time: false }, y: { range: (_, low, high) => this.range(low, high) } },
      axes: [{ ...axis, label: "seconds since the start", labelSize: 18, size: 34 }, { ...axis, ...ticks, size: 58 }],
      cursor: { drag: { x: false, y: false } },
    };
  }

  range(low, high) {
    if (low == null) return [0, 1];
    const from = this.zero ? 0 : low - (high - low) * 0.1;
    return [from, high > from ? high + (high - from) * 0.08 : from + 1];
  }

  make() {
    if (this.plot) this.plot.destroy();
    this.plot = new uPlot(this.options(), this.columns, this.place);
  }

  fit() {
    const width = Math.max(200, this.place.clientWidth);
    if (width !== this.plot.width) this.plot.setSize({ width, height: 180 });
  }

  add(x, values) {
    const columns = this.columns;
    columns[0].push(x);
    values.forEach((v, i) => columns[i + 1].push(v));
    if (columns[0].length > POINTS_MAX) columns.forEach((c) => c.splice(0, c.length - POINTS_MAX));
  }

  draw() {
    this.plot.setData(this.columns);
  }
}

// A histogram whose bars are set as a whole.
class Bars extends Moving {
  constructor(id) {
    super(id, ["blocks"], { digits: 0 });
  }

  options() {
    const made = super.options();
    made.series[1] = { ...made.series[1], fill: color("--one"), paths: uPlot.paths.bars({ size: [0.95, 64], align: 1 }), dash: undefined };
    made.series[0].label = "erases from";
    made.axes[0].label = "erases of a block";
    made.axes[0].incrs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];
    return made;
  }

  set(width, counts) {
    let last = counts.length;
    while (last > 1 && counts[last - 1] === 0) last -= 1;
    this.columns[0] = Array.from({ length: last + 1 }, (_, i) => i * width);
    this.columns[1] = [...counts.slice(0, last), 0];
    this.draw();
  }
}

// Draws low phases as waveforms, one row per die.
function drawPins(canvas, pins, fromS, widthS) {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  const dies = Object.keys(pins), left = 46, step = height / Math.max(1, dies.length);
  const kinds = [color("--soft"), color("--one"), color("--two")]; // read, program, erase
  c.font = "12px system-ui, sans-serif";
  dies.forEach((die, row) => {
    const high = row * step + step * 0.2, low = row * step + step * 0.8;
    const x = (ns) => left + Math.min(1, Math.max(0, (ns / 1e9 - fromS) / widthS)) * (width - left - 4);
    c.fillStyle = color("--ink");
    c.fillText("die " + die, 4, (high + low) / 2 + 4);
    c.lineWidth = 1.4;
    let at = left;
    const phases = pins[die] ? pins[die].phases : [];
    for (const [from, to, work] of phases) {
      const a = x(from), b = Math.max(x(to), a + 0.5);
      c.strokeStyle = color("--soft");
      c.beginPath(); c.moveTo(at, high); c.lineTo(Math.max(a, at), high); c.stroke();
      c.strokeStyle = kinds[work];
      c.beginPath(); c.moveTo(a, high); c.lineTo(a, low); c.lineTo(b, low); c.lineTo(b, high); c.stroke();
      at = b;
    }
    c.strokeStyle = color("--soft");
    c.beginPath(); c.moveTo(at, high); c.lineTo(width - 4, high); c.stroke();
  });
}
