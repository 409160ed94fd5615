"""The interface for authors of games, see `docs/adding-a-game.md`; `artus_env.pictures` is the one for pictures and
texts.

- The game: `Definition`, `Box` (the base class of components), `state_dtype`, `Feature`, `Positions` with their forms,
  and `Sentences` and `Browser` for the page in the browser.
- Compiled rules: `jit`, `jit_inlined` and `jit_wrapping`, random numbers, sets of bits and small arrays.
- Checks of data from outside, with messages that name the fault: `check_keys`, `whole_number`, ...
- Wording: `counted`, `letter_of`, `signed`; and `DocTable` for tables of the documentation.
"""

from artus_env.engine.basics.numbers import is_whole, whole_number
from artus_env.engine.basics.reading import check_keys, check_names, convert, list_of, one_of, printable, shown, some_of
from artus_env.engine.basics.wording import counted, letter_of, signed
from artus_env.engine.compiling.arrays import real_numbers, whole_numbers
from artus_env.engine.compiling.jit import jit, jit_inlined, jit_wrapping
from artus_env.engine.contract.bits import (
    add,
    add_all,
    first_words,
    highest_bit,
    is_in,
    is_subset,
    lowest_bit,
    next_action,
    nth_action,
    packed_bytes,
    popcount,
    size,
    write_32_bits,
    write_32_bits_reversed,
    write_64_bits,
    write_bytes,
    write_nibbles,
)
from artus_env.engine.contract.components import Box
from artus_env.engine.contract.definition import Definition, DocTable, observation_table
from artus_env.engine.contract.layout import Feature, Layout, clipped
from artus_env.engine.contract.page import Browser, Position, Sentences
from artus_env.engine.contract.positions import SEAT, Choice, Each, Members, Number, Part, Positions, Row, from_others
from artus_env.engine.contract.registry import find_game, game_names
from artus_env.engine.contract.rng import below, breaks_tie, random_bits, shuffle
from artus_env.engine.contract.state import marked, partial_state, state_dtype

__all__ = [
    "SEAT",
    "Box",
    "Browser",
    "Choice",
    "Definition",
    "DocTable",
    "Each",
    "Feature",
    "Layout",
    "Members",
    "Number",
    "Part",
    "Position",
    "Positions",
    "Row",
    "Sentences",
    "add",
    "add_all",
    "below",
    "breaks_tie",
    "check_keys",
    "check_names",
    "clipped",
    "convert",
    "counted",
    "find_game",
    "first_words",
    "from_others",
    "game_names",
    "highest_bit",
    "is_in",
    "is_subset",
    "is_whole",
    "jit",
    "jit_inlined",
    "jit_wrapping",
    "letter_of",
    "list_of",
    "lowest_bit",
    "marked",
    "next_action",
    "nth_action",
    "observation_table",
    "one_of",
    "packed_bytes",
    "partial_state",
    "popcount",
    "printable",
    "random_bits",
    "real_numbers",
    "shown",
    "shuffle",
    "signed",
    "size",
    "some_of",
    "state_dtype",
    "whole_number",
    "whole_numbers",
    "write_32_bits",
    "write_32_bits_reversed",
    "write_64_bits",
    "write_bytes",
    "write_nibbles",
]  # fmt: skip
