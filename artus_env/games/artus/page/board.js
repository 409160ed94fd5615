// The round table. The server draws it; this module moves figures, marks seats, and finds the seat that was clicked.

import { draw, numbered, sign, unsigned } from "../parts.js";

const SEATS = 28;

/** Measures of the picture, in its own units: its box, its middle, and the distance of the seats from the middle. */
function measures(svg) {
  const [left, top, width] = svg.getAttribute("viewBox").split(" ").map(Number);
  const middle = left + width / 2;
  const radius = middle - Number(svg.querySelector('[data-seat="0"] .cushion').getAttribute("cy"));
  return { left, top, width, middle, radius };
}

/** Point of a seat in the picture: [x, y]. A seat may be a fraction, between two seats. */
function place({ middle, radius }, seat) {
  const angle = (2 * Math.PI * seat) / SEATS;
  return [middle + radius * Math.sin(angle), middle - radius * Math.cos(angle)];
}

/** The seat in whose direction a click went: the whole sector, so that a thumb will do. */
export function placeAt(svg, event) {
  const { left, top, width, middle, radius } = measures(svg);
  const box = svg.getBoundingClientRect();
  const scale = width / box.width;
  const x = (event.clientX - box.left) * scale + left - middle;
  const y = (event.clientY - box.top) * scale + top - middle;
  const distance = Math.hypot(x, y);
  if (distance < radius * 0.68 || distance > radius * 1.28) return null;
  return Math.round((Math.atan2(x, -y) / (2 * Math.PI)) * SEATS + SEATS) % SEATS;
}

/** Mark the seats that can be clicked, and the chosen one. */
export function mark(svg, seats, chosen) {
  const sizes = measures(svg);
  svg.querySelectorAll(".halo").forEach((halo) => halo.remove());
  for (const seat of [...seats, ...(chosen === undefined ? [] : [chosen])]) {
    const [x, y] = place(sizes, seat);
    const kind = seat === chosen ? "halo chosen" : "halo";
    svg.append(draw("circle", { cx: x, cy: y, r: 27, "data-seat": seat, class: kind }));
  }
}

/** Points rise from the seat that a figure left or that was scored, else from the middle of the round table. */
export function pointsAt(svg, last) {
  const sizes = measures(svg), seat = last.origin ?? last.target;
  if (seat === null) return [0.5, 0.5];
  const [x, y] = place(sizes, seat);
  return [(x - sizes.left) / sizes.width, (y - sizes.top) / sizes.width];
}

export async function animate(svg, last, duration) {
  const running = [], sizes = measures(svg), { middle } = sizes;
  const start = (element, frames, timing) => {
    const options = { fill: "backwards", easing: "ease-in-out", ...timing };
    if (element) running.push(element.animate(frames, options).finished);
  };
  const figure = (seat) => svg.querySelector(`[data-figure][data-seat="${seat}"]`);
  const move = duration * 0.6;
  if (last.origin !== null) {
    const steps = (((last.target - last.origin) * (last.forward ? 1 : -1)) % SEATS + SEATS) % SEATS;
    start(figure(last.target), arc(sizes, last.origin, last.forward ? steps : -steps, last.target), { duration: move });
  } else if (last.move.startsWith("@")) {
    const [x, y] = place(sizes, last.target);
    const fromMiddle = `translate(${middle - x}px,${middle - y}px)`;
    const frames = [{ transform: fromMiddle, opacity: 0 }, { transform: "none", opacity: 1 }];
    start(figure(last.target), frames, { duration: move });
  } else if (last.target !== null) {
    const [x, y] = place(sizes, last.target);
    const enlarged = `translate(${-x * 0.4}px,${-y * 0.4}px) scale(1.4)`;
    const frames = [{ transform: "none" }, { transform: enlarged }, { transform: "none" }];
    start(figure(last.target), frames, { duration: move });
  }
  if (last.refuge !== null) {
    const steps = -((((last.target - last.refuge) % SEATS) + SEATS) % SEATS);
    start(figure(last.refuge), arc(sizes, last.target, steps, last.refuge), { duration: duration * 0.4, delay: move });
  }
  if (last.king_before !== last.king_after) {
    let angle = ((last.king_before - last.king_after) * 360) / SEATS;
    angle -= 360 * Math.round(angle / 360);
    const wheel = svg.querySelector("[data-wheel]");
    wheel.style.transformOrigin = `${middle}px ${middle}px`;
    const frames = [{ transform: `rotate(${angle}deg)` }, { transform: "none" }];
    start(wheel, frames, { duration: duration * 0.5, delay: move });
  }
  await Promise.allSettled(running);
}

/** Frames that move a figure, which is drawn on `target`, from `origin` to there along the round table's edge. */
function arc(sizes, origin, steps, target) {
  const [endX, endY] = place(sizes, target);
  const number = Math.max(2, Math.abs(steps) * 2);
  return Array.from({ length: number + 1 }, (_, i) => {
    const [x, y] = place(sizes, origin + (steps * i) / number);
    return { transform: `translate(${x - endX}px,${y - endY}px)` };
  });
}

/** Circle the figures that are scored, each with its points, and draw the path of a figure that was moved. */
export function point(svg, where) {
  svg.querySelectorAll(".pointed").forEach((each) => each.remove());
  if (!where) return;
  const sizes = measures(svg), group = draw("g", { class: "pointed" });
  for (const { seat, value } of where.marks) {
    const [x, y] = place(sizes, seat), [inX, inY] = place({ ...sizes, radius: sizes.radius - 46 }, seat);
    group.append(draw("circle", { class: "counted", cx: x, cy: y, r: 28, "data-counted": seat }));
    group.append(draw("circle", { class: "worth", cx: inX, cy: inY, r: 19 }));
    group.append(draw("text", { x: inX, y: inY + 6 }, unsigned(value)));
  }
  const { origin = null, target = null } = where;
  if (origin !== null) group.append(...way(sizes, where));
  else if (!where.marks.length && target !== null) {
    const [x, y] = place(sizes, target);
    group.append(draw("circle", { class: "counted", cx: x, cy: y, r: 28, "data-counted": target }));
  }
  svg.append(group);
}

/** Draw arrows for figures that were moved, and signs where one was placed or got a ring, with the players' letters. */
export function trail(svg, entries) {
  svg.querySelectorAll(".trail").forEach((each) => each.remove());
  const moved = entries.filter(({ where }) => where && where.target !== null);
  if (!moved.length) return;
  const sizes = measures(svg), group = draw("g", { class: "trail" });
  const letters = numbered(moved.map(({ player }) => player));
  moved.forEach(({ where }, i) => {
    const inward = { ...sizes, radius: sizes.radius - 34 - 9 * (i % 4) };
    if (where.origin !== null) group.append(...way(inward, where));
    const [x, y] = place(inward, where.origin ?? where.target);
    group.append(...sign(letters[i], x, y));
  });
  const halo = svg.querySelector(".halo");
  if (halo) svg.insertBefore(group, halo); // what can be clicked stays on top
  else svg.append(group);
}

/** An arrow along the round table's edge. */
function way(sizes, { origin, target, forward }) {
  const steps = ((((target - origin) * (forward ? 1 : -1)) % SEATS) + SEATS) % SEATS;
  const number = Math.max(2, steps * 3), stepLength = ((forward ? 1 : -1) * (steps - 0.3)) / number;
  const seats = Array.from({ length: number + 1 }, (_, i) => origin + stepLength * i);
  const points = seats.map((seat) => place(sizes, seat).map((x) => x.toFixed(1)));
  const end = origin + (forward ? 1 : -1) * steps, back = forward ? -0.42 : 0.42;
  const tip = place(sizes, end), left = place({ ...sizes, radius: sizes.radius + 9 }, end + back);
  const right = place({ ...sizes, radius: sizes.radius - 9 }, end + back);
  const head = [tip, left, right].map((each) => each.map((x) => x.toFixed(1)).join(",")).join(" ");
  return [
    draw("polyline", { class: "trail-way", points: points.map((each) => each.join(",")).join(" ") }),
    draw("polygon", { class: "trail-head", points: head }),
  ];
}
