// The picture of the table: moves its cards, chips and pawns, marks chips, and finds the chip that was clicked.

import { boxIn, draw, drawing, numbered, sign } from "../parts.js";

const NEAR = 24; // pixels around the middle of a chip that count as the chip, however small it is

/** The middle of an element's first circle or rectangle, in pixels of the page: where a chip or a field is. */
function middleOf(group) {
  const box = group.querySelector("circle, rect").getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2, width: box.width };
}

/** The suit of an unplaced chip, or the number of a place: the nearest one to the click, if it is near enough. */
export function placeAt(svg, event) {
  const near = [...svg.querySelectorAll("[data-chip], [data-place]")]
    .map((group) => ({ group, ...middleOf(group) }))
    .map((spot) => ({ ...spot, distance: Math.hypot(spot.x - event.clientX, spot.y - event.clientY) }))
    .filter(({ distance, width }) => distance <= Math.max(NEAR, width * 0.6))
    .sort((one, other) => one.distance - other.distance);
  if (!near.length) return null;
  const { place, chip } = near[0].group.dataset;
  return place ? Number(place) : chip;
}

const groupOf = (svg, place) =>
  svg.querySelector(typeof place === "number" ? `[data-place="${place}"]` : `[data-chip="${place}"]:not([data-place])`);

/** Mark the chips that can be clicked, and the chosen one. */
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

/** The middle of the field that a pawn went to, else of the table, as fractions of the picture's width and height. */
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
  /** First frame of a move: `element` is drawn at the middle of `origin`. */
  const from = (origin, element) => {
    const there = middleOf(origin), here = middleOf(element);
    return { transform: `translate(${(there.x - here.x) * scale}px,${(there.y - here.y) * scale}px)` };
  };
  const inPlace = { transform: "none" };
  if (last.card) {
    const frames = [{ transform: "translateY(70px)", opacity: 0 }, { ...inPlace, opacity: 1 }];
    start(svg.querySelector(`[data-trick="${last.player}"]`), frames, { duration: duration * 0.3 });
  }
  if (last.taker !== null) {
    const field = (number) => svg.querySelector(`[data-field="${number}"]`);
    const fields = Array.from({ length: last.target - last.origin + 1 }, (_, i) => field(last.origin + i));
    const frames = fields.map((origin) => from(origin, field(last.target)));
    start(svg.querySelector(`[data-pawn="${last.taker}"]`), frames, { duration: duration * 0.5, delay: duration * 0.4 });
  }
  if (last.suit) {
    const frames = [{ transform: "translateY(77px)", opacity: 0.2 }, { ...inPlace, opacity: 1 }];
    start(svg.querySelector(`[data-chip="${last.suit}"]`), frames, { duration: duration * 0.6 });
  }
  if (last.places) {
    const [one, other] = last.places.map((place) => groupOf(svg, place));
    start(one, [from(other, one), inPlace], { duration: duration * 0.7 });
    start(other, [from(one, other), inPlace], { duration: duration * 0.7 });
  }
  await Promise.allSettled(running);
}

/**
 * Frame the parts of a move: its card, the fields where a pawn started and ended, the chips that were placed or
 * swapped. A card that isn't on the table any more is shown with its trick.
 */
export function point(svg, where, setup) {
  svg.querySelectorAll(".pointed").forEach((element) => element.remove());
  if (!where) return;
  const { card, trick, target, origin, suit, places } = where;
  const selectors = target === null ? [] : [`[data-field="${origin}"]`, `[data-field="${target}"]`];
  if (suit) selectors.push(`[data-chip="${suit}"]`);
  for (const place of places ?? []) selectors.push(`[data-place="${place}"]`);
  const laid = card && svg.querySelector(`[data-trick="${trick.at(-1)[0]}"][data-card="${card}"]`);
  if (laid) frame(laid);
  else if (card) svg.append(pastTrick(trick, setup));
  for (const selector of selectors) {
    const group = svg.querySelector(selector);
    if (group) frame(group);
  }
}

/** Draw a frame around the first rectangle or circle of a group. */
function frame(group) {
  const shape = group.querySelector("rect, circle"), edge = shape.cloneNode();
  edge.setAttribute("class", "counted pointed");
  shape.parentNode.append(edge);
}

const AREA = { x: 116, y: 272, width: 456, height: 214 }; // where tricks lie, in units of the picture

/** A picture of the cards of `trick`; the last of them, which is framed, needn't complete the trick. */
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

/** A drawing from the server as an element within the picture; `box` has its x, y, width and height. */
function inset(svg, box) {
  const drawn = drawing(svg, "").firstElementChild;
  for (const [name, value] of Object.entries(box)) drawn.setAttribute(name, value);
  return drawn;
}

/** Mark the last moves of others: paths of pawns, chips that were placed or swapped, and the letters of players. */
export function trail(svg, entries) {
  svg.querySelectorAll(".trail-marks").forEach((element) => element.remove());
  const shown = entries.filter(({ where }) => where && (where.target !== null || where.suit || where.places));
  const group = draw("g", { class: "trail-marks", "pointer-events": "none" });
  const letters = numbered(shown.map(({ player, where }) => where.taker ?? player));
  const box = (selector) => boxIn(svg, svg.querySelector(selector).querySelector("rect, circle"));
  shown.forEach(({ where }, i) => {
    const { origin, target, suit, places } = where;
    const putLetter = (selector) => {
      const { x, y, width, height } = box(selector);
      group.append(...sign(letters[i], x + width - 4, y + height - 4));
    };
    if (target !== null) {
      const fields = Array.from({ length: target - origin + 1 }, (_, nth) => box(`[data-field="${origin + nth}"]`));
      const middles = fields.map(({ x, y, width, height }) => [x + width / 2, y + height / 2 + 24]);
      group.append(draw("polyline", { class: "trail-way", points: middles.map((middle) => middle.join(",")).join(" ") }));
      group.append(...sign(letters[i], ...middles[0]));
    }
    if (suit && svg.querySelector(`[data-chip="${suit}"][data-place]`)) putLetter(`[data-chip="${suit}"]`);
    for (const place of places ?? []) putLetter(`[data-place="${place}"]`);
  });
  svg.append(group);
}
