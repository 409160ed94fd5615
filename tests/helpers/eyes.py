"""How colours look with every kind of colour vision, and their contrast."""

import itertools

import numpy as np


def linear(colour):
    """Linear red, green and blue of a colour `#rrggbb`, each from 0 to 1."""
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
SEEN_BY = {  # Machado, Oliveira and Fernandes 2009: eyes without one kind of cones
    "all cones": np.eye(3),
    "no red cones": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green cones": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue cones": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def lab(light):
    """CIELAB coordinates of a colour that is given as linear red, green and blue."""
    x, y, z = XYZ @ np.clip(light, 0, 1) / [0.95047, 1, 1.08883]
    x, y, z = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def least_difference(colours, eyes):
    """The distance of the two most similar colours in CIELAB, where 2 or 3 can just be seen."""
    colours_in_lab = [lab(np.asarray(SEEN_BY[eyes]) @ linear(colour)) for colour in colours]
    return min(np.linalg.norm(first - second) for first, second in itertools.combinations(colours_in_lab, 2))


def contrast(one, other):
    """Contrast of two colours, from 1 to 21, as WCAG 2 measures it. WCAG requires 4.5 for text and 3 for symbols."""
    dark, light = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)
