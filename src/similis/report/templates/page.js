"use strict";
// Everything is readable without this script. It adds tooltips on hover, touch and arrow keys, sorting, and copying.
(() => {
  const tip = document.getElementById("tip");
  const all = (css, from = document) => [...from.querySelectorAll(css)];

  const show = (text, box) => {
    if (tip.textContent !== text) tip.textContent = text; // text only: names may hold anything
    tip.hidden = false;
    const room = document.documentElement.clientWidth;
    const x = Math.min(Math.max(8, box.left + box.width / 2 - tip.offsetWidth / 2), room - tip.offsetWidth - 8);
    const above = box.top - tip.offsetHeight - 10;
    tip.style.left = `${x + scrollX}px`;
    tip.style.top = `${(above > 4 ? above : box.bottom + 10) + scrollY}px`;
  };
  const hide = () => { tip.hidden = true; all(".m.on").forEach((m) => m.classList.remove("on")); light(null); };
  const light = (name) => all("[data-m]").forEach((e) => {
    const same = name !== null && e.dataset.m === name;
    e.classList.toggle(e.tagName === "TR" ? "on" : "lit", same);
  });
  const choose = (mark) => {
    all(".m.on").forEach((m) => m.classList.remove("on"));
    mark.classList.add("on");
    const owner = mark.closest("[data-m]");
    light(owner ? owner.dataset.m : null);
    show(mark.dataset.t, mark.getBoundingClientRect());
  };

  // Marks: the one under the pointer, or the nearest within 18 pixels; arrow keys move through them.
  const nearest = (marks, x, y) => {
    let best = null, least = 18 * 18;
    for (const mark of marks) {
      const b = mark.getBoundingClientRect();
      const dx = Math.max(b.left - x, 0, x - b.right), dy = Math.max(b.top - y, 0, y - b.bottom);
      if (dx * dx + dy * dy < least) { least = dx * dx + dy * dy; best = mark; }
    }
    return best;
  };
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  all(".plot > svg").forEach((svg) => {
    if (svg.querySelector("image.heat")) return heat(svg);
    const marks = all(".m", svg);
    let at = -1;
    const rows = new Set(marks.map((m) => m.getAttribute("y"))).size;
    const columns = svg.parentElement.classList.contains("grid-plot") ? Math.round(marks.length / rows) : 1;
    const point = (event) => {
      const mark = event.target.closest(".m") || nearest(marks, event.clientX, event.clientY);
      if (mark) { at = marks.indexOf(mark); choose(mark); } else hide();
    };
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      if (!marks.length) return;
      let to = null;
      if (event.key in step) {
        const upDown = event.key === "ArrowUp" || event.key === "ArrowDown";
        to = at < 0 ? 0 : at + step[event.key] * (upDown ? columns : 1);
      } else if (event.key === "Home") to = 0;
      else if (event.key === "End") to = marks.length - 1;
      else if (event.key === "Escape") return hide();
      if (to === null) return;
      event.preventDefault();
      at = Math.min(Math.max(to, 0), marks.length - 1);
      choose(marks[at]);
    });
  });

  // After a touch the tooltip stays until the next touch elsewhere.
  document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".plot > svg")) hide(); });

  // The heat map: values are read back from the colors of the image itself.
  function heat(svg) {
    const data = JSON.parse(svg.closest("[data-heat]").dataset.heat);
    const n = data.names.length;
    let pixels = null, i = -1, j = -1;
    const levels = () => {
      if (pixels) return Promise.resolve();
      const image = new Image();
      image.src = svg.querySelector("image").getAttribute("href");
      return image.decode().then(() => {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = n;
        const pen = canvas.getContext("2d", { willReadFrequently: true });
        pen.drawImage(image, 0, 0);
        pixels = pen.getImageData(0, 0, n, n).data;
      });
    };
    const ramp = svg.closest(".view, .similis").querySelector("img.ramp");
    let colors = null;
    const level = (r, g, b) => {
      if (!colors) {
        const canvas = document.createElement("canvas");
        canvas.width = 255; canvas.height = 1;
        const pen = canvas.getContext("2d");
        pen.drawImage(ramp, 0, 0, 255, 1);
        colors = pen.getImageData(0, 0, 255, 1).data;
      }
      let best = 0, least = 1e9;
      for (let k = 0; k < 255; k++) {
        const d = Math.abs(colors[4 * k] - r) + Math.abs(colors[4 * k + 1] - g) + Math.abs(colors[4 * k + 2] - b);
        if (d < least) { least = d; best = k; }
      }
      return best;
    };
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    cursor.setAttribute("class", "cursor");
    cursor.setAttribute("width", `${100 / n}%`);
    cursor.setAttribute("height", `${100 / n}%`);
    const tell = () => levels().then(() => {
      const p = 4 * (i * n + j);
      let words = "missing";
      if (pixels[p + 3] > 0) {
        const k = level(pixels[p], pixels[p + 1], pixels[p + 2]);
        const value = (data.low + (k / 254) * (data.high - data.low)).toPrecision(3);
        words = `${data.kind} ${k === 0 ? "at most " : k === 254 ? "at least " : "about "}${Number(value)}`;
      }
      cursor.setAttribute("x", `${(100 * j) / n}%`);
      cursor.setAttribute("y", `${(100 * i) / n}%`);
      if (!cursor.parentNode) svg.append(cursor);
      show(`${data.names[i]}\n${data.names[j]}\n${words}`, cursor.getBoundingClientRect());
    });
    const gone = () => { cursor.remove(); hide(); };
    const point = (event) => {
      const box = svg.getBoundingClientRect();
      const to = (v, size) => Math.min(Math.max(Math.floor((v / size) * n), 0), n - 1);
      i = to(event.clientY - box.top, box.height);
      j = to(event.clientX - box.left, box.width);
      tell();
    };
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") gone(); });
    svg.addEventListener("blur", gone);
    svg.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return gone();
      if (!(event.key in step)) return;
      event.preventDefault();
      if (i < 0) { i = 0; j = 0; }
      else if (event.key === "ArrowUp" || event.key === "ArrowDown") i = Math.min(Math.max(i + step[event.key], 0), n - 1);
      else j = Math.min(Math.max(j + step[event.key], 0), n - 1);
      tell();
    });
  }

  // A click on a column head sorts; numbers as numbers, empty cells last.
  all("thead button").forEach((button) => button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0];
    const column = [...head.parentNode.children].indexOf(head);
    const down = head.getAttribute("aria-sort") === "ascending";
    all("th", head.parentNode).forEach((th) => th.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => {
      const text = row.children[column].firstChild ? row.children[column].firstChild.textContent.trim() : "";
      const number = parseFloat(text.replace(/[(<]/g, ""));
      return { text, number: Number.isNaN(number) ? null : number };
    };
    const order = (a, b) => {
      if (!a.text !== !b.text) return a.text ? -1 : 1;
      const up = a.number !== null && b.number !== null ? a.number - b.number : a.text.localeCompare(b.text);
      return down ? -up : up;
    };
    [...body.rows].map((row) => [value(row), row]).sort((a, b) => order(a[0], b[0])).forEach(([, row]) => body.append(row));
  }));
  all("tbody tr[data-m]").forEach((row) => {
    row.addEventListener("pointerenter", () => light(row.dataset.m));
    row.addEventListener("pointerleave", () => light(null));
  });

  all(".code").forEach((box) => {
    if (!navigator.clipboard) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", () => navigator.clipboard.writeText(box.querySelector("code").textContent).then(
      () => { button.textContent = "copied"; }, () => { button.textContent = "not allowed"; }));
    box.append(button);
  });

  // The page of a running study reloads itself, unless paused.
  const fresh = parseFloat(document.body.dataset.fresh);
  if (fresh > 0) {
    const box = document.createElement("aside"), button = document.createElement("button");
    box.className = "live";
    box.setAttribute("aria-label", "Running study");
    box.append("running; this page reloads itself", button);
    button.type = "button";
    let timer = 0;
    const go = (on) => {
      clearTimeout(timer);
      if (on) timer = setTimeout(() => location.reload(), 1000 * fresh);
      button.textContent = on ? "pause" : "resume";
    };
    button.addEventListener("click", () => go(button.textContent !== "pause"));
    go(true);
    document.body.append(box);
  }
})();
