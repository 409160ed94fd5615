"""The documentation site: `make docs` builds it into docs/_build/html."""

import ast
import inspect
import json
import os
import re
from functools import cache
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = (
    "1"  # the rules as plain Python: nothing to compile, signatures and docstrings are there
)

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

from artus_env.engine.contract.registry import DEFAULT_GAME, class_prefix
from artus_env.environments import GameAEC, GameEnv, GameVectorEnv

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"artus_env": ROOT, "artus_agents": ROOT / "agents", "artus_training": ROOT / "training"}

project = "Artus"
author = "The Artus maintainers"
version = release = version_of("artus-env")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks contain their output; `make notebooks` and the tests run them
nb_render_markdown_format = "myst"  # printed Markdown has tables, which "commonmark" lacks
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_mock_imports = ["pyspiel"]  # an optional dependency
autodoc_typehints_format = "short"
napoleon_use_rtype = False
add_module_names = False
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "Artus"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "native"


# --- links of Markdown files, which are valid in the repository as well
# ----------------------------------------------


def on_the_site(target: Path) -> Path | None:
    """The page of the site that shows a file of the repository; None if there is none."""
    if target.parent == ROOT and target.suffix == ".md":
        return Path(str(ROOT / "docs" / "repository" / target.name.lower()))
    for package, folder in PACKAGES.items():
        if target.suffix == ".py" and target.is_relative_to(folder / package):
            return ROOT / "docs" / "reference" / (".".join(target.relative_to(folder).with_suffix("").parts) + ".rst")
    if target.parent == ROOT / "notebooks":
        return ROOT / "docs" / "notebooks" / target.name
    return target if target.is_relative_to(ROOT / "docs") else None


def with_site_links(text: str, folder: Path, page: Path) -> str:
    """Convert the links of Markdown text from `folder` for `page`: links to files lead to the pages that show them.

    A folder has no page: its path follows the text of the link.
    """

    def link(match: re.Match[str]) -> str:
        words, path, anchor = match[1], match[2], match[3] or ""
        target = (folder / path).resolve()
        if target.is_dir():
            return f"{words} (`{target.relative_to(ROOT)}` in the repository)"
        return f"[{words}]({os.path.relpath(on_the_site(target) or target, page.parent)}{anchor})"

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)", link, text)


def link_page(app: Sphinx, docname: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(docname))
    if page.suffix == ".md":
        source[0] = with_site_links(source[0], page.parent, page)


def link_included(app: Sphinx, path: Path, parent: str, source: list[str]) -> None:
    included = (app.srcdir / path).resolve()
    source[0] = with_site_links(source[0], included.parent, Path(app.env.doc2path(app.env.docname)))


def write_notebook_pages(app: Sphinx) -> None:
    """Copy the notebooks to docs/notebooks; unchanged files stay as they are."""
    folder = Path(app.srcdir) / "notebooks"
    folder.mkdir(exist_ok=True)
    sources = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for old_page in set(folder.iterdir()) - {folder / source.name for source in sources}:
        old_page.unlink()
    for source in sources:
        page = folder / source.name
        notebook = json.loads(source.read_text())
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = with_site_links("".join(cell["source"]), source.parent, page)
        write_if_changed(page, json.dumps(notebook))


def write_if_changed(page: Path, text: str) -> None:
    if not page.exists() or page.read_text() != text:
        page.write_text(text)


# --- a page for each module
# ---------------------------------------------------------------------------------------------


def modules() -> dict[str, str]:
    """All modules of the packages, and their docstrings."""
    docstrings = {}
    for package, folder in PACKAGES.items():
        for path in sorted((folder / package).rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            if parts[-1] != "__main__" and "template" not in parts:  # the template of `artus new-game` isn't a module
                name = ".".join(parts).removesuffix(".__init__")
                docstrings[name] = ast.get_docstring(ast.parse(path.read_text())) or ""
    return docstrings


def write_module_pages(app: Sphinx) -> None:
    """Write docs/reference; unchanged files stay as they are."""
    docstrings = modules()
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    for old_page in set(folder.glob("*.rst")) - {folder / f"{name}.rst" for name in docstrings}:
        old_page.unlink()
    for name in docstrings:
        lines = [name, "=" * len(name), "", f".. automodule:: {name}", "   :members:"]
        if name == "artus_env":
            lines.append("   :inherited-members: BaseException")
        submodules = [other for other in docstrings if other.rpartition(".")[0] == name]
        if submodules:
            lines += ["", "Modules", "-------", "", ".. list-table::", "   :class: modules", ""]
            for other in submodules:
                about = docstrings[other].partition("\n\n")[0].replace("\n", " ")
                lines += [f"   * - :doc:`{other.rpartition('.')[2]} <{other}>`", f"     - {as_rst(about)}"]
            lines += [
                "",
                ".. toctree::",
                "   :hidden:",
                "",
                *(f"   {other.rpartition('.')[2]} <{other}>" for other in submodules),
            ]
        write_if_changed(folder / f"{name}.rst", "\n".join(lines) + "\n")


# --- docstrings
# ---------------------------------------------------------------------------------------------------------


def as_rst(text: str) -> str:
    """A docstring in the form that Sphinx reads: double backticks, rubrics for Markdown headings."""
    text = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", text)
    text = re.sub(r"(?<!\S)([^\s`]*/\*[^\s`]*)(?!\S)", r"``\1``", text)  # a path with a star
    text = re.sub(r"(?<![\w`*/])(\*\.\w+)", r"``\1``", text)  # and a name
    text = re.sub(r": ([A-Z]\.)$", r": \\\1", text, flags=re.MULTILINE)  # a single letter would start a list
    return re.sub(r"^## (.*)", r".. rubric:: \1", text, flags=re.MULTILINE)


REWARDS = re.compile(r'``"win"``: at the end, w joint winners .*?(?=\n\n)', re.DOTALL)
"""Part of the docstring of every environment; the site has a page about it instead."""


ENVIRONMENTS = GameAEC, GameEnv, GameVectorEnv


def without_common_sections(thing: Any, text: str) -> str:
    """The docstring of a game's environment without the sections that all games share."""
    kind = next(base for base in thing.__mro__ if base in ENVIRONMENTS)
    name = class_prefix(DEFAULT_GAME) + kind.__name__.removeprefix("Game")
    link_to_common = f"All other sections are as for :py:class:`{name} <artus_env.{DEFAULT_GAME}_v0.{name}>`."
    return text.partition(".. rubric:: Rewards")[0] + link_to_common


one_sentence: dict[str, list[str]] = {}


def before_napoleon(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    text = as_rst("\n".join(lines))
    text = REWARDS.sub("Rewards of each mode: :doc:`/environment`.", text)
    if what == "class" and issubclass(thing, ENVIRONMENTS) and thing.game_name not in (None, DEFAULT_GAME):
        text = without_common_sections(thing, text)
    for base in bases(thing) if what == "class" else []:
        text += f"\n\nIt has the methods of :py:class:`{base.__name__} <{base.__module__}.{base.__name__}>`."
    lines[:] = text.split("\n")
    one_sentence[name] = lines.copy()


def after_napoleon(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Restore the text of attributes: Napoleon takes the words before a colon for a type."""
    if what in ("attribute", "data", "property"):
        lines[:] = one_sentence[name]


PUBLIC = ("artus_env", "artus_env.agents", "artus_env.authoring", "artus_env.pictures")
"""Modules whose pages describe names that they import."""


@cache
def described() -> dict[Any, str]:
    """The public module that describes each class or function: the first that exports it. Includes base classes with
    the same docstring."""
    pages: dict[Any, str] = {}
    for page in PUBLIC:
        module = import_module(page)
        for thing in (getattr(module, name) for name in module.__all__):
            if inspect.isclass(thing):
                pages |= {base: page for base in thing.__mro__ if base.__doc__ == thing.__doc__ and base not in pages}
            elif inspect.isfunction(thing):
                pages.setdefault(thing, page)
    return pages


def bases(thing: type) -> list[type]:
    """The base classes of a class that this project defines and describes on pages of their own."""
    return [
        base for base in thing.__bases__ if base.__module__.partition(".")[0] in PACKAGES and base not in described()
    ]


def skip_described(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Describe each name once: on the page of the public module that exports it, otherwise where it is defined."""
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return None
    page = f"reference/{described().get(thing, thing.__module__)}"
    elsewhere = what == "module" and app.env.docname != page
    alias = inspect.isclass(thing) and thing.__name__ != name.rpartition(".")[2]
    return True if elsewhere or alias else None


def hide_long_value(app: Sphinx, domain: str, kind: str, content: addnodes.desc_content) -> None:
    """Hide long values of constants."""
    for value in list(content.parent.findall(addnodes.desc_annotation)):
        if len(value.astext()) > 60 and value.astext().lstrip().startswith("="):
            value.parent.remove(value)


class LinkCode(SphinxPostTransform):
    """Link code in texts to the reference: `Game.redeal`, `View`, `artus_env.agents`.

    Short code gets a class, so that lines don't break at its hyphens.
    """

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        domain = self.env.get_domain("py")
        for literal in list(self.document.findall(nodes.literal)):
            if len(literal.astext()) < 30:
                literal["classes"].append("short")
            if isinstance(literal.parent, nodes.reference | addnodes.pending_xref | nodes.title):
                continue
            name = re.sub(r"\(.*\)$", "", literal.astext())
            found = self.find(domain.objects, name)
            if found:
                entry = domain.objects[found]
                node = make_refnode(self.app.builder, self.env.docname, entry.docname, entry.node_id, [], found)
                literal.replace_self(node)
                node += literal

    @staticmethod
    def find(objects: dict[str, Any], name: str) -> str | None:
        """The full name of an object, if there is only one candidate."""
        if not re.fullmatch(r"[A-Za-z_][\w.]*", name):
            return None
        if name in objects:
            return name
        if "." not in name and not re.match(r"[A-Z]+[a-z]", name):  # lower-case words are ambiguous
            return None
        found = [full for full, entry in objects.items() if full.endswith("." + name) and not entry.aliased]
        return found[0] if len(found) == 1 else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_module_pages)
    app.connect("builder-inited", write_notebook_pages)
    app.connect("source-read", link_page)
    app.connect("include-read", link_included)
    app.connect("autodoc-process-docstring", before_napoleon, priority=400)
    app.connect("autodoc-process-docstring", after_napoleon, priority=600)
    app.connect("autodoc-skip-member", skip_described)
    app.connect("object-description-transform", hide_long_value)
    app.add_post_transform(LinkCode)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
