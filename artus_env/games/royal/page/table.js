// The table: the server draws it, this lets cards, chips and pawns move, marks chips, and finds the one that was clicked.

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

/** Frame the fields between which a pawn went, or the chip that was placed. */
export function point(svg, where) {
  svg.querySelectorAll(".counted").forEach((each) => each.remove());
  if (!where) return;
  const { origin, target, suit } = where;
  const fields = target === null || target === undefined ? [] : [origin, target].map((field) => `[data-field="${field}"]`);
  for (const found of [...fields, suit && `[data-chip="${suit}"]`].filter(Boolean)) {
    const shape = svg.querySelector(found)?.querySelector("rect, circle");
    if (!shape) continue;
    const frame = shape.cloneNode();
    frame.setAttribute("class", "counted");
    shape.parentNode.append(frame);
  }
}
