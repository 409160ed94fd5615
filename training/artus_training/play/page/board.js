// The round table: the server draws it, this shows it, lets figures move, and finds the seat that was clicked.

const SEATS = 28;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const SVG = "http://www.w3.org/2000/svg";

export class Board {
  /** @param onSeat called with the number of a seat that was clicked */
  constructor(place, floats, onSeat) {
    this.place = place;
    this.floats = floats;
    place.addEventListener("click", (event) => {
      const seat = this.seatAt(event);
      if (seat !== null) onSeat(seat);
    });
  }

  /** Replace the picture. */
  draw(text) {
    const svg = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
    this.place.replaceChildren(svg);
    this.svg = svg;
    const [left, top, width] = svg.getAttribute("viewBox").split(" ").map(Number);
    this.view = { left, top, width };
    this.middle = left + width / 2;
    const cushion = svg.querySelector('[data-seat="0"] .cushion');
    this.radius = this.middle - Number(cushion.getAttribute("cy"));
  }

  /** Where a seat is; parts of seats lie between two. */
  point(seat, radius = this.radius) {
    const angle = (2 * Math.PI * seat) / SEATS;
    return [this.middle + radius * Math.sin(angle), this.middle - radius * Math.cos(angle)];
  }

  /** The seat in whose direction a click went: the whole sector, so that a thumb will do. */
  seatAt(event) {
    const box = this.svg.getBoundingClientRect();
    const scale = this.view.width / box.width;
    const x = (event.clientX - box.left) * scale + this.view.left - this.middle;
    const y = (event.clientY - box.top) * scale + this.view.top - this.middle;
    const distance = Math.hypot(x, y);
    if (distance < this.radius * 0.68 || distance > this.radius * 1.28) return null;
    return Math.round((Math.atan2(x, -y) / (2 * Math.PI)) * SEATS + SEATS) % SEATS;
  }

  /** Mark the seats that can be clicked, and the one that was. */
  mark(seats, chosen) {
    this.svg.querySelectorAll(".halo").forEach((halo) => halo.remove());
    for (const seat of [...seats, ...(chosen === undefined ? [] : [chosen])]) {
      const [x, y] = this.point(seat);
      const halo = document.createElementNS(SVG, "circle");
      for (const [name, value] of Object.entries({ cx: x, cy: y, r: 27, "data-seat": seat })) halo.setAttribute(name, value);
      halo.setAttribute("class", seat === chosen ? "halo chosen" : "halo");
      this.svg.append(halo);
    }
    this.place.classList.toggle("choosing", seats.length > 0);
  }

  /** Show how the last move came about, on the picture of the position after it. */
  async animate(last, duration) {
    if (still.matches || duration <= 0 || !last) return;
    const running = [];
    const start = (element, frames, options) => {
      if (element) running.push(element.animate(frames, { fill: "backwards", easing: "ease-in-out", ...options }).finished);
    };
    const figure = (seat) => this.svg.querySelector(`[data-figure][data-seat="${seat}"]`);
    const move = duration * 0.6;
    if (last.origin !== null) {
      const away = (((last.target - last.origin) * (last.forward ? 1 : -1)) % SEATS + SEATS) % SEATS;
      start(figure(last.target), this.arc(last.origin, last.forward ? away : -away, last.target), { duration: move });
    } else if (last.text.startsWith("@")) {
      const [x, y] = this.point(last.target);
      const far = `translate(${this.middle - x}px,${this.middle - y}px)`;
      start(figure(last.target), [{ transform: far, opacity: 0 }, { transform: "none", opacity: 1 }], { duration: move });
    } else if (last.target !== null) {
      const [x, y] = this.point(last.target);
      const big = `translate(${-x * 0.4}px,${-y * 0.4}px) scale(1.4)`;
      start(figure(last.target), [{ transform: "none" }, { transform: big }, { transform: "none" }], { duration: move });
    }
    if (last.refuge !== null) {
      const away = -((((last.target - last.refuge) % SEATS) + SEATS) % SEATS);
      start(figure(last.refuge), this.arc(last.target, away, last.refuge), { duration: duration * 0.4, delay: move });
    }
    if (last.king_before !== last.king_after) {
      let turn = ((last.king_before - last.king_after) * 360) / SEATS;
      turn -= 360 * Math.round(turn / 360);
      const wheel = this.svg.querySelector("[data-wheel]");
      wheel.style.transformOrigin = `${this.middle}px ${this.middle}px`;
      start(wheel, [{ transform: `rotate(${turn}deg)` }, { transform: "none" }], { duration: duration * 0.5, delay: move });
    }
    await Promise.allSettled(running);
  }

  /** Frames that lead a figure that now is on `target` there, along the table's edge. */
  arc(origin, steps, target) {
    const [endX, endY] = this.point(target);
    const count = Math.max(2, Math.abs(steps) * 2);
    return Array.from({ length: count + 1 }, (_, i) => {
      const [x, y] = this.point(origin + (steps * i) / count);
      return { transform: `translate(${x - endX}px,${y - endY}px)` };
    });
  }

  /** Points rise from a seat, or from the middle of the table. */
  float(text, seat, kind) {
    const [x, y] = seat === null ? [this.middle, this.middle] : this.point(seat);
    const label = document.createElement("span");
    label.textContent = text;
    label.className = kind;
    label.style.left = `${(100 * (x - this.view.left)) / this.view.width}%`;
    label.style.top = `${(100 * (y - this.view.top)) / this.view.width}%`;
    this.floats.append(label);
    setTimeout(() => label.remove(), 1800);
  }
}
