// Draws the charts of a page anew when they come into view, for readers to explore. Without it the pictures stay.
(() => {
  'use strict';
  const packed = document.getElementById('chart-runtime');
  const figures = [...document.querySelectorAll('figure')].filter((one) => one.querySelector('script.spec'));
  if (!packed || !figures.length || !window.DecompressionStream || !window.IntersectionObserver) return;

  const isWide = window.matchMedia('(min-width: 620px)');  // as in style.css
  const IN = 0.2, OUT = -1 / 3;  // shares of an axis that a step of zoom takes away at each end
  const drawn = new Map();
  // Vega-Lite tells readers of what only authors of charts can change.
  const quiet = () => logger;
  const logger = {level: quiet, warn: quiet, info: quiet, debug: quiet, error: (...texts) => (console.error(...texts), logger)};
  let loading;

  function runtime() {
    loading ??= (async () => {
      const bytes = Uint8Array.from(atob(packed.textContent.trim()), (one) => one.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
      const script = document.createElement('script');
      script.textContent = await new Response(stream).text();
      document.head.append(script);
      return window.chartRuntime;
    })();
    return loading;
  }

  async function draw(figure) {
    const {View, parse, compile, Handler, loader} = await runtime();
    const both = JSON.parse(figure.querySelector('script.spec').textContent);
    const layout = isWide.matches ? 'wide' : 'narrow';
    const {spec} = compile({...both[layout], datasets: both.datasets}, {logger});
    const place = document.createElement('div');
    place.className = 'live';
    const {call} = new Handler({disableDefaultStyle: true});
    const view = new View(parse(spec), {renderer: 'svg', loader, tooltip: call});
    await view.initialize(place).runAsync();
    const picture = figure.querySelector(`.${layout} svg`), chart = place.querySelector('svg');
    chart.setAttribute('role', 'img');
    chart.setAttribute('aria-label', picture.getAttribute('aria-label'));
    place.append(tools(view, spec));
    const old = drawn.get(figure);
    if (old) { old.view.finalize(); old.place.remove(); }
    drawn.set(figure, {view, place, layout});
    figure.append(place);
    figure.classList.add('is-live');
  }

  // What the pointer does, for keyboards and fingers too.
  function tools(view, spec) {
    const line = document.createElement('div');
    line.className = 'tools';
    const button = (text, title, act) => {
      const made = document.createElement('button');
      Object.assign(made, {type: 'button', textContent: text, title});
      made.addEventListener('click', act);
      line.append(made);
    };
    const axes = (spec.scales ?? []).flatMap(({name, domainRaw}) => {
      const field = /^zoom\["(.*)"\]$/.exec(domainRaw?.signal ?? '');
      return field ? [{name, signal: `zoom_${field[1].replace(/\W/g, '_')}`}] : [];
    });
    const zoom = (share) => {
      for (const {name, signal} of axes) {
        const scale = view.scale(name), [low, high] = scale.range(), step = share * (high - low);
        view.signal(signal, [scale.invert(low + step), scale.invert(high - step)]);
      }
      view.runAsync();
    };
    if (axes.length) {
      button('+', 'Zoom in (also: Ctrl and wheel; drag to move)', () => zoom(IN));
      button('\u2212', 'Zoom out (also: Ctrl and wheel)', () => zoom(OUT));
    }
    const chosen = (spec.data ?? []).some(({name}) => name === 'shown_store');
    if (axes.length || chosen) {
      button('Reset', 'Show all again (also: double-click)', () => {
        for (const {signal} of axes) view.signal(signal, null);
        if (chosen) view.data('shown_store', []);
        view.runAsync();
      });
    }
    if (chosen) line.append('Click a name in the legend to show it alone, more names to add them.');
    return line;
  }

  const failed = (error) => console.error('a chart keeps its picture:', error);
  const seen = new IntersectionObserver((entries) => {
    for (const {isIntersecting, target} of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      draw(target).catch(failed);
    }
  }, {rootMargin: '300px'});
  figures.forEach((one) => seen.observe(one));
  isWide.addEventListener('change', () => drawn.forEach((_, figure) => draw(figure).catch(failed)));
})();
