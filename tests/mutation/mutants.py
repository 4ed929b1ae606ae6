"""Mutants of a module: small changes, each of which should make some test fail.

They are chosen for the code of the judge: its rules select (`for … if`), compare times, combine
conditions and take the first or the last of something, so each of these is broken in turn.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Place = tuple[ast.AST, str, int | None]
"""A node's parent, and the field and index there."""

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
_FUNCTIONS = (("all", "any"), ("min", "max"))
_ATTRIBUTES = (
    ("first", "last"),
    ("start", "end"),
    ("began", "completed_at"),
    ("completed_at", "fully_bound_at"),
    ("alive", "bound"),
    ("bound", "pods"),
    ("gangs", "wanted"),
    ("existing", "all"),
)
_SKIPPED_FIELDS = ("annotation", "returns", "format_spec", "type_params", "ctx")
_SKIPPED_NAMES = ("__all__", "dataclass", "frozen", "strict")
"""A list for tools, and arguments that only guard against mistakes of a programmer."""


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    path: Path
    function: str
    before: str
    after: str
    line: int
    lines: range
    """Those of the statement, or of a compound statement's head: a test runs one of them. Empty
    for what runs when the module is imported."""
    tree: ast.Module
    place: Place
    node: ast.AST | None
    """What takes the place; None deletes an item of a list."""

    @property
    def key(self) -> str:
        """What names it also after the lines have moved."""
        return f"{self.path} {self._change}"

    @property
    def text(self) -> str:
        """One line for a reader."""
        return f"{self.path}:{self.line} {self._change}"

    @property
    def _change(self) -> str:
        return f"{self.function}: {self.before} → {self.after}".rstrip()

    def apply(self) -> ast.Module:
        """Change the tree, for good, and return it."""
        parent, field, index = self.place
        if index is None:
            setattr(parent, field, self.node)
        elif self.node is None:
            del getattr(parent, field)[index]
        else:
            getattr(parent, field)[index] = self.node
        return ast.fix_missing_locations(self.tree)


def mutants_of(path: Path) -> list[Mutant]:
    """Every mutant of a file."""
    tree = ast.parse(path.read_text())
    return list(_Walk(path, tree).visit(tree, (tree, "", None), "", range(0), False))


class _Walk:
    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.path, self.tree = path, tree

    def visit(
        self, node: ast.AST, place: Place, name: str, lines: range, inside: bool
    ) -> Iterator[Mutant]:
        """The mutants of a node; `name` is its function or class, `inside` that of a function."""
        if _is_skipped(node):
            return
        if isinstance(node, ast.stmt):
            lines = _lines(node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{name}.{node.name}".lstrip(".")
        run = lines if inside else range(0)
        for before, after, spot, new in _changes(node, place):
            yield Mutant(self.path, name, before, after, lines.start, run, self.tree, spot, new)
        for field, value in ast.iter_fields(node):
            if field in _SKIPPED_FIELDS:
                continue
            within = inside or (isinstance(node, ast.FunctionDef) and field == "body")
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST):
                    yield from self.visit(child, (node, field, index), name, lines, within)


def _lines(node: ast.stmt) -> range:
    """The lines of a simple statement, or of the head of a compound one."""
    body = getattr(node, "body", None)
    end = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
    return range(node.lineno, max(end, node.lineno + 1))


def _is_skipped(node: ast.AST) -> bool:
    match node:
        case ast.Assign([ast.Name(name)]) if name[:1].isupper() and not name.isupper():
            return True  # a type
        case ast.Assign([ast.Name(name)]) | ast.Call(ast.Name(name)) | ast.keyword(str(name)):
            return name in _SKIPPED_NAMES
        case ast.Import() | ast.ImportFrom() | ast.AnnAssign(value=None):
            return True
        case ast.Expr(ast.Constant()):
            return True  # a docstring
        case ast.ClassDef(bases=[ast.Name("StrEnum")]):
            return True  # only words
    return False


Change = tuple[str, str, Place, ast.AST | None]


def _changes(node: ast.AST, place: Place) -> Iterator[Change]:
    """What to change in a node: it before and after, and what takes which place."""
    for new in (*_other_conditions(node), *_other_values(node), *_other_literals(node, place[0])):
        yield _show(node), _show(new), place, new
    yield from _forced(node, place)
    yield from _removals(node, place)


def _other_conditions(node: ast.AST) -> Iterator[ast.expr]:
    """A comparison turned or moved by its boundary, and `not` left out."""
    match node:
        case ast.Compare(left, ops, right):
            for index, op in enumerate(ops):
                changed = [*ops[:index], _COMPARISONS[type(op)](), *ops[index + 1 :]]
                yield ast.Compare(left, changed, right)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand


def _other_values(node: ast.AST) -> Iterator[ast.expr]:
    """Other arithmetic, the other end of a list, another function or attribute of the kind."""
    match node:
        case ast.BinOp(left, op, right):
            yield from (left, right)
            if type(op) in _ARITHMETIC:
                yield ast.BinOp(left, _ARITHMETIC[type(op)](), right)
        case ast.Subscript(value, ast.Constant(0)):
            yield ast.Subscript(value, ast.Constant(-1))
        case ast.Subscript(value, ast.UnaryOp(ast.USub(), ast.Constant(1))):
            yield ast.Subscript(value, ast.Constant(0))
        case ast.Name(name, ast.Load()):
            yield from (ast.Name(other, node.ctx) for other in _others(name, _FUNCTIONS))
        case ast.Attribute(value, name):
            for other in _others(name, _ATTRIBUTES):
                yield ast.Attribute(value, other, node.ctx)
        case ast.Call(ast.Name("sorted"), [value, *_]):
            yield ast.Call(ast.Name("list", ast.Load()), [value], [])


def _other_literals(node: ast.AST, parent: ast.AST) -> Iterator[ast.expr]:
    """Another number, the other truth, another text: one, because its wording is not under test."""
    match node:
        case ast.JoinedStr() | ast.FormattedValue():
            yield ast.Constant("XX")
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(number) | float(number)):
            if not isinstance(parent, ast.Subscript | ast.UnaryOp):
                yield ast.Constant(number + 1)
        case ast.Constant(str()) if not isinstance(parent, ast.JoinedStr):
            yield ast.Constant("XX")


def _forced(node: ast.AST, place: Place) -> Iterator[Change]:
    """A condition that is always true or false, or that is left out of others or of a filter."""
    match node:
        case ast.BoolOp(op, values):
            word = "and" if isinstance(op, ast.And) else "or"
            for index, one in enumerate(values):
                rest = [*values[:index], *values[index + 1 :]]
                new = rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
                yield f"{word} {_show(one)} in {_show(node)}", "", place, new
        case ast.If(test) | ast.IfExp(test):
            for make, value in ((ast.And(), False), (ast.Or(), True)):
                forced = ast.BoolOp(make, [test, ast.Constant(value)])
                yield f"if {_show(test)}", f"if {value}", (node, "test", None), forced
        case ast.comprehension(ifs=ifs):
            for index, test in enumerate(ifs):
                yield f"for … if {_show(test)}", "for …", (node, "ifs", index), None


def _removals(node: ast.AST, place: Place) -> Iterator[Change]:
    """What can be left out: a keyword argument, an item, a statement, a returned value."""
    if isinstance(node, ast.keyword) and node.arg:
        yield _show(node), "", place, None
    elif isinstance(place[0], ast.List | ast.Tuple) and isinstance(place[0].ctx, ast.Load):
        yield f"{_show(node)} in {_show(place[0])}", "", place, None
    elif isinstance(node, ast.Return) and node.value and _show(node.value) != "None":
        yield _show(node), "return None", (node, "value", None), ast.Constant(None)
    elif isinstance(node, ast.Expr | ast.AugAssign | ast.Continue | ast.Break) or (
        isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
    ):
        yield _show(node), "pass", place, ast.Pass()


def _others(name: str, pairs: tuple[tuple[str, str], ...]) -> list[str]:
    """The names that stand in a pair with a name."""
    return [pair[1 - pair.index(name)] for pair in pairs if name in pair]


def _show(node: ast.AST) -> str:
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= 120 else text[:119] + "…"
