// Shows the numbers of a chart under the pointer.
"use strict";
for (const figure of document.querySelectorAll("figure.chart")) {
  const about = JSON.parse(figure.querySelector("script").textContent);
  const svg = figure.querySelector("svg");
  const pointer = svg.querySelector(".pointer");
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const least = 64, most = width - 14, top = 12, bottom = height - 34; // as in svg.py
  const levels = about.levels && Uint8Array.from(atob(about.levels), (c) => c.charCodeAt(0));
  let tip = null;

  const nearest = (x) => {
    let best = 0;
    about.at.forEach((at, n) => {
      if (Math.abs(at - x) < Math.abs(about.at[best] - x)) best = n;
    });
    return best;
  };

  const seriesText = (x) => {
    const n = nearest(x);
    pointer.setAttribute("d", `M${about.at[n]},${top}V${bottom}`);
    const rows = about.series
      .filter((each) => each.values[n] !== null)
      .map((each) => `<i class="${each.kind}"></i>${each.name} <b>${each.values[n]}</b>`);
    return [`${about.label} <b>${+about.x[n].toFixed(1)}</b>, in ${about.unit}`, ...rows];
  };

  const mapText = (x, y) => {
    const across = Math.min(0.999999, Math.max(0, (x - least) / (most - least)));
    const up = Math.min(0.999999, Math.max(0, (bottom - y) / (bottom - top)));
    const column = Math.floor(across * about.columns), row = Math.floor(up * about.rows);
    const value = (levels[row * about.columns + column] / 255) * about.top;
    const place = ([first, last], share) => Math.floor(first + share * (last - first + 1));
    return [
      `step <b>${place(about.x, across)}</b>, rank <b>${place(about.y, up)}</b>`,
      `about <b>${value.toPrecision(3)}</b> ${about.unit}`,
    ];
  };

  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width;
    const y = ((event.clientY - box.top) / box.height) * height;
    if (!tip) {
      tip = figure.appendChild(document.createElement("div"));
      tip.className = "tip";
    }
    tip.innerHTML = (levels ? mapText(x, y) : seriesText(x)).join("<br>");
    const here = event.clientX - box.left, wide = tip.offsetWidth;
    const left = here < box.width / 2 ? here + 14 : here - wide - 14;
    tip.style.left = `${Math.max(0, Math.min(left, box.width - wide))}px`;
  });
  svg.addEventListener("pointerleave", () => {
    if (tip) tip.remove();
    tip = null;
    pointer.setAttribute("d", "");
  });
}
document.documentElement.dataset.ready = "yes";
