// What is wrong with the look of a page, as texts; an empty list when nothing is. Run in a browser by test_pages_in_browser.py.
() => {
  const wrong = [];
  const near = 2;  // pixels by which boxes of text, which are larger than their ink, may touch
  const isSeen = (one) => one.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const name = (one) => one.closest('figure')?.querySelector('figcaption b')?.textContent ?? '(no figure)';
  const boxed = (one) => ({text: one.textContent.trim(), box: one.getBoundingClientRect(), isLevel: isLevel(one)});
  // The box of a slanted text is larger than the text.
  const isLevel = (one) => { const turn = one.getScreenCTM(); return Math.abs(turn.a * turn.b) < 0.01; };

  const root = document.documentElement;
  if (root.scrollWidth > window.innerWidth) wrong.push(`page: ${root.scrollWidth} px wide on a screen of ${window.innerWidth}`);
  for (const one of document.querySelectorAll('main *')) {
    if (one.closest('svg, .scroll, .tl-scroll, script') || !isSeen(one)) continue;
    const box = one.getBoundingClientRect();
    if (box.right > window.innerWidth + 1) wrong.push(`beyond the screen: <${one.localName}> ${one.textContent.slice(0, 60)}`);
    if (one.matches('.card, td, th, button, p, li') && one.scrollWidth > one.clientWidth + 1 && one.clientWidth)
      wrong.push(`beyond its box: <${one.localName}> ${one.textContent.slice(0, 60)}`);
  }

  for (const chart of document.querySelectorAll('figure svg')) {
    if (!isSeen(chart) || chart.closest('.tl')) continue;
    const figure = chart.closest('figure').getBoundingClientRect();
    const texts = [...chart.querySelectorAll('text')].filter((one) => isSeen(one) && one.textContent.trim()).map(boxed);
    for (const {text, box} of texts) {
      if (box.left < figure.left - near || box.right > figure.right + near)
        wrong.push(`${name(chart)}: '${text}' leaves the figure`);
    }
    texts.forEach((one, place) => texts.slice(place + 1).forEach((other) => {
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (one.isLevel && other.isLevel && across > near && down > 2 * near) wrong.push(`${name(chart)}: '${one.text}' lies on '${other.text}'`);
    }));
    for (const axis of chart.querySelectorAll('.role-axis')) {
      const labels = [...axis.querySelectorAll('.role-axis-label text')].map((one) => one.textContent.trim()).filter(Boolean);
      const counts = labels.some((one) => /\d/.test(one)) && labels.every((one) => /^[^a-z]*\d[^a-z]*[a-zµ%]?$/i.test(one));
      const title = axis.querySelector('.role-axis-title')?.textContent.trim();
      if (counts && !title) wrong.push(`${name(chart)}: an axis of numbers has no title (${labels.slice(0, 4).join(', ')})`);
    }
  }
  return [...new Set(wrong)];
}
