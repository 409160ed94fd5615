// The ring. The server draws it; this module moves knights, marks what can be clicked, and finds what was clicked.

import { boxIn, draw, numbered, sign } from "../parts.js";

const NEAR = 22; // pixels; a click up to half as many beside a card or quest still counts for it
const GAP = 4; // between a shape and the mark around it, in units of the picture

const SORTS = ["place", "quest", "display", "pile"];

const groupOf = (svg, target) => {
  const [sort, name] = target.split(":");
  return svg.querySelector(`[data-${sort}="${name}"]`);
};

const shapeOf = (group) => group.querySelector("rect");

function middleOf(group) {
  const box = shapeOf(group).getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
}

/** Target of a click: the smallest shape there, else the nearest one: `place:lake`, `quest:lake-1`, ... */
export function placeAt(svg, { clientX, clientY }) {
  const all = SORTS.flatMap((sort) =>
    [...svg.querySelectorAll(`[data-${sort}]`)].map((group) => ({ target: `${sort}:${group.dataset[sort]}`, group })),
  ).filter(({ group }) => shapeOf(group));
  const sized = all.map((each) => {
    const box = shapeOf(each.group).getBoundingClientRect();
    const aside = Math.max(box.left - clientX, clientX - box.right, 0);
    const above = Math.max(box.top - clientY, clientY - box.bottom, 0);
    return { ...each, area: box.width * box.height, far: Math.hypot(aside, above) };
  });
  const hit = sized.filter(({ far }) => far === 0).sort((one, other) => one.area - other.area);
  const near = sized.filter(({ far }) => far <= NEAR / 2).sort((one, other) => one.far - other.far);
  return (hit[0] ?? near[0])?.target ?? null;
}

/** Mark what can be clicked. */
export function mark(svg, options) {
  svg.querySelectorAll(".halo").forEach((halo) => halo.remove());
  const targets = options.flatMap(({ place, targets: more }) => more ?? (place ? [place] : []));
  for (const target of new Set(targets)) {
    const shape = shapeOf(groupOf(svg, target));
    const halo = shape.cloneNode();
    for (const [name, by] of [["x", -GAP], ["y", -GAP], ["width", 2 * GAP], ["height", 2 * GAP]]) {
      halo.setAttribute(name, Number(shape.getAttribute(name) ?? 0) + by);
    }
    halo.setAttribute("class", "halo");
    halo.setAttribute("data-halo", target);
    shape.parentNode.append(halo);
  }
}

/** Points rise from the knight of the player who has moved. */
export function pointsAt(svg, { player }) {
  const knight = svg.querySelector(`[data-knight="${player}"]`).getBoundingClientRect();
  const box = svg.getBoundingClientRect();
  return [(knight.left + knight.width / 2 - box.left) / box.width, (knight.top - box.top) / box.height];
}

export async function animate(svg, last, duration) {
  const running = [];
  const scale = svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
  const start = (element, frames, timing) => {
    const options = { fill: "backwards", easing: "ease-in-out", ...timing };
    if (element) running.push(element.animate(frames, options).finished);
  };
  if (last.way.length) {
    const middles = last.way.map((place) => middleOf(groupOf(svg, `place:${place}`)));
    const end = middles.at(-1);
    const frames = middles.map(({ x, y }) => ({
      transform: `translate(${(x - end.x) * scale}px,${(y - end.y) * scale}px)`,
    }));
    start(svg.querySelector(`[data-knight="${last.player}"]`), frames, { duration: duration * 0.7 });
  }
  const pulse = [{ opacity: 0.1 }, { opacity: 1 }, { opacity: 0.4 }, { opacity: 1 }];
  const touched = { take: `display:${last.action}`, artus: `quest:${last.quest}`, exercise: `pile:${last.card}` };
  touched.court = `pile:${last.card}`;
  const fresh = last.news.map((quest) => `quest:${quest}`);
  for (const target of [touched[last.kind], ...fresh].filter(Boolean)) {
    start(groupOf(svg, target), pulse, { duration: duration * 0.6 });
  }
  await Promise.allSettled(running);
}

/** Targets of a move other than its ride: its quest, its pile, its action card on display. */
const touchedBy = ({ quest, card, action }) =>
  [quest && `quest:${quest}`, card && `pile:${card}`, action && `display:${action}`].filter(Boolean);

/** Frame the places of a ride, a quest, a pile or an action card. */
export function point(svg, where) {
  svg.querySelectorAll(".counted").forEach((each) => each.remove());
  for (const target of where ? [...where.way.map((place) => `place:${place}`), ...touchedBy(where)] : []) {
    const group = groupOf(svg, target);
    if (!group) continue; // a quest that has been done is gone
    const frame = shapeOf(group).cloneNode();
    frame.setAttribute("class", "counted");
    shapeOf(group).parentNode.append(frame);
  }
}

/** Draw other players' rides, and signs where they took a card or did a quest, with their letters. */
export function trail(svg, entries) {
  svg.querySelectorAll(".trail-ways").forEach((each) => each.remove());
  const shown = entries.filter(({ where }) => where && (where.way.length > 1 || touchedBy(where).length));
  const letters = numbered(shown.map(({ player }) => player));
  const group = draw("g", { class: "trail-ways", "pointer-events": "none" });
  shown.forEach(({ where }, i) => {
    if (where.way.length < 2) {
      const touched = groupOf(svg, touchedBy(where)[0]);
      if (touched) group.append(...sign(letters[i], ...lowerEdge(svg, touched))); // a quest that has been done is gone
      return;
    }
    const shift = 10 * (i % 3) - 10; // rides along the same places are drawn side by side
    const middles = where.way.map((place) => {
      const shape = shapeOf(groupOf(svg, `place:${place}`));
      const number = (name) => Number(shape.getAttribute(name));
      return [number("x") + number("width") / 2 + shift, number("y") + number("height") - 12 + shift];
    });
    group.append(draw("polyline", { class: "trail-way", points: middles.map((each) => each.join(",")).join(" ") }));
    group.append(...sign(letters[i], ...middles.at(-1)));
  });
  svg.append(group);
}

/** The middle of a shape's lower edge, in units of the picture. */
function lowerEdge(svg, group) {
  const { x, y, width, height } = boxIn(svg, shapeOf(group));
  return [x + width / 2, y + height];
}
