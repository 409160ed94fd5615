// The table: the server draws it, this lets cards, chips and pawns move, marks chips, and finds the one that was clicked.

import { boxIn, draw, drawing, numbered, sign } from "../parts.js";

const NEAR = 24; // pixels around the middle of a chip that count as the chip, however small it is

/** The middle of an element's first circle or rectangle: where a chip or a field is, on the page. */
function middleOf(group) {
  const box = group.querySelector("circle, rect").getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2, width: box.width };
}

/** Chips not placed by their suit, places by their number: what was clicked, or lies nearest to the click. */
export function placeAt(svg, event) {
  const near = [...svg.querySelectorAll("[data-chip], [data-place]")]
    .map((group) => ({ group, ...middleOf(group) }))
    .map((each) => ({ ...each, far: Math.hypot(each.x - event.clientX, each.y - event.clientY) }))
    .filter(({ far, width }) => far <= Math.max(NEAR, width * 0.6))
    .sort((one, other) => one.far - other.far);
  if (!near.length) return null;
  const { place, chip } = near[0].group.dataset;
  return place ? Number(place) : chip;
}

const groupOf = (svg, place) =>
  svg.querySelector(typeof place === "number" ? `[data-place="${place}"]` : `[data-chip="${place}"]:not([data-place])`);

/** Mark the chips that can be clicked, and the one that was. */
export function mark(svg, options, choice) {
  svg.querySelectorAll(".halo").forEach((halo) => halo.remove());
  const places = options.map(({ place }) => place).filter((place) => place !== undefined);
  for (const place of choice.place ? [...places, choice.place] : places) {
    const circle = groupOf(svg, place).querySelector("circle");
    const halo = circle.cloneNode();
    halo.setAttribute("r", Number(circle.getAttribute("r")) + 5);
    halo.setAttribute("class", place === choice.place ? "halo chosen" : "halo");
    halo.setAttribute("data-halo", place);
    circle.parentNode.append(halo);
  }
}

/** The field that a pawn went to, else the middle of the table. */
export function pointsAt(svg, { target }) {
  if (target === null) return [0.5, 0.5];
  const { x, y } = middleOf(svg.querySelector(`[data-field="${target}"]`));
  const box = svg.getBoundingClientRect();
  return [(x - box.left) / box.width, (y - box.top) / box.height];
}

export async function animate(svg, last, duration) {
  const running = [];
  const scale = svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
  const start = (element, frames, timing) => {
    const options = { fill: "backwards", easing: "ease-out", ...timing };
    if (element) running.push(element.animate(frames, options).finished);
  };
  /** From where another thing is, in the picture's units. */
  const from = (other, here) => {
    const one = middleOf(other), two = middleOf(here);
    return { transform: `translate(${(one.x - two.x) * scale}px,${(one.y - two.y) * scale}px)` };
  };
  const there = { transform: "none" };
  if (last.card) {
    const frames = [{ transform: "translateY(70px)", opacity: 0 }, { ...there, opacity: 1 }];
    start(svg.querySelector(`[data-trick="${last.player}"]`), frames, { duration: duration * 0.3 });
  }
  if (last.taker !== null) {
    const field = (number) => svg.querySelector(`[data-field="${number}"]`);
    const fields = Array.from({ length: last.target - last.origin + 1 }, (_, i) => field(last.origin + i));
    const frames = fields.map((each) => from(each, field(last.target)));
    start(svg.querySelector(`[data-pawn="${last.taker}"]`), frames, { duration: duration * 0.5, delay: duration * 0.4 });
  }
  if (last.suit) {
    const frames = [{ transform: "translateY(77px)", opacity: 0.2 }, { ...there, opacity: 1 }];
    start(svg.querySelector(`[data-chip="${last.suit}"]`), frames, { duration: duration * 0.6 });
  }
  if (last.places) {
    const [one, other] = last.places.map((place) => groupOf(svg, place));
    start(one, [from(other, one), there], { duration: duration * 0.7 });
    start(other, [from(one, other), there], { duration: duration * 0.7 });
  }
  await Promise.allSettled(running);
}

/**
 * Frame what a move was about: its card, the fields between which a pawn went, the chips that were placed or swapped. A
 * card that doesn't lie on the table any more is shown with its trick.
 */
export function point(svg, where, setup) {
  svg.querySelectorAll(".pointed").forEach((each) => each.remove());
  if (!where) return;
  const { card, trick, target, origin, suit, places } = where;
  const found = target === null ? [] : [`[data-field="${origin}"]`, `[data-field="${target}"]`];
  if (suit) found.push(`[data-chip="${suit}"]`);
  for (const place of places ?? []) found.push(`[data-place="${place}"]`);
  const laid = card && svg.querySelector(`[data-trick="${trick.at(-1)[0]}"][data-card="${card}"]`);
  if (laid) frame(laid);
  else if (card) svg.append(pastTrick(trick, setup));
  for (const each of found) {
    const group = svg.querySelector(each);
    if (group) frame(group);
  }
}

/** A frame around the first shape of something. */
function frame(group) {
  const shape = group.querySelector("rect, circle"), edge = shape.cloneNode();
  edge.setAttribute("class", "counted pointed");
  shape.parentNode.append(edge);
}

const AREA = { x: 116, y: 272, width: 456, height: 214 }; // where tricks lie, in units of the picture

/** A trick up to one of its cards, which is framed. */
function pastTrick(trick, { cards, players }) {
  const group = draw("g", { class: "pointed past" });
  group.append(draw("rect", { ...AREA, rx: 14, class: "veil" }));
  const width = Math.min(92, (AREA.width - 20) / trick.length - 10), height = (width * 64) / 46;
  const left = AREA.x + (AREA.width - trick.length * (width + 10) + 10) / 2, top = AREA.y + 20;
  trick.forEach(([player, card], i) => {
    const x = left + i * (width + 10);
    group.append(inset(cards[card].face, { x, y: top, width, height }));
    group.append(inset(players[player].badge, { x: x + width / 2 - 17, y: top + height + 6, width: 34, height: 34 }));
    if (i === trick.length - 1) group.append(draw("rect", { x, y: top, width, height, rx: 9, class: "counted" }));
  });
  return group;
}

/** A drawing of the server's within the picture. */
function inset(svg, box) {
  const drawn = drawing(svg, "").firstElementChild;
  for (const [name, value] of Object.entries(box)) drawn.setAttribute(name, value);
  return drawn;
}

/** What others have done: ways of pawns, and chips that were placed or swapped, each with the letter of who did it. */
export function trail(svg, entries) {
  svg.querySelectorAll(".trail-marks").forEach((each) => each.remove());
  const shown = entries.filter(({ where }) => where && (where.target !== null || where.suit || where.places));
  const group = draw("g", { class: "trail-marks", "pointer-events": "none" });
  const letters = numbered(shown.map(({ player, where }) => where.taker ?? player));
  const box = (found) => boxIn(svg, svg.querySelector(found).querySelector("rect, circle"));
  shown.forEach(({ where }, i) => {
    const { origin, target, suit, places } = where;
    const at = (found) => {
      const { x, y, width, height } = box(found);
      group.append(...sign(letters[i], x + width - 4, y + height - 4));
    };
    if (target !== null) {
      const fields = Array.from({ length: target - origin + 1 }, (_, nth) => box(`[data-field="${origin + nth}"]`));
      const middles = fields.map(({ x, y, width, height }) => [x + width / 2, y + height / 2 + 24]);
      group.append(draw("polyline", { class: "trail-way", points: middles.map((each) => each.join(",")).join(" ") }));
      group.append(...sign(letters[i], ...middles[0]));
    }
    if (suit && svg.querySelector(`[data-chip="${suit}"][data-place]`)) at(`[data-chip="${suit}"]`);
    for (const place of places ?? []) at(`[data-place="${place}"]`);
  });
  svg.append(group);
}
