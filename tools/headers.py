"""Reads the public headers of frix: structs, enums, constants and functions, with their comments.

The headers keep to a small part of C (typedef struct and enum, prototypes, object-like macros), which this reader knows.
It serves the Python binding (tools/make_binding), the list of symbols and the API reference (tools/make_reference)."""
import os
import re

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|[-+]?\d[\w.]*|\.\.\.|[^\s\w]', re.S)


class Declaration:
    """A name with its type: `const`, the base type, number of stars, array sizes; or a pointer to a function."""

    def __init__(self, name, base, stars=0, sizes=(), function=None, const=False, comment=""):
        self.name, self.base, self.stars, self.sizes = name, base, stars, tuple(sizes)
        self.function, self.const, self.comment = function, const, comment


class Function:
    def __init__(self, name, result, arguments, comment, text, public, inline=False):
        self.name, self.result, self.arguments = name, result, arguments
        self.comment, self.text, self.public, self.inline = comment, text, public, inline


class Header:
    """One header: everything in the order of the file."""

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        self.structs, self.enums, self.constants, self.functions, self.opaque = {}, {}, {}, {}, []
        self.comments, self.texts, self.order = {}, {}, []
        with open(path, encoding="utf-8") as file:
            self._read(file.read())

    def _read(self, text):
        self.head = clean(re.match(r"\s*(/\*.*?\*/)", text, re.S).group(1))
        for name, value in re.findall(r'^#define (FRIX_\w+) (\d+|"[^"]*")(?:\s|$)', text, re.M):
            self.constants[name] = int(value) if value[0] != '"' else value[1:-1]
        text = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M).replace('extern "C" {', "")
        pending, tokens, depth = "", [], 0
        for match in TOKEN.finditer(text):
            token = match.group(0)
            if token.startswith("/*") and not depth and not tokens:
                pending = clean(token)
                continue
            if token == "}" and not depth:  # the end of extern "C"
                continue
            if not tokens:
                first = match.start()
            tokens.append(token)
            depth += (token == "{") - (token == "}")
            if token == "}" and not depth and tokens[0] == "static":  # an inline function: its first line, as a prototype
                head = tokens[2 : tokens.index("{")]
                self._declare(head + [";"], pending, text[first : match.end()].split("{")[0][len("static inline ") :].rstrip() + ";", True)
                tokens, pending = [], ""
            if token == ";" and not depth:
                self._declare(tokens, pending, text[first : match.end()])
                tokens, pending = [], ""

    def _declare(self, tokens, comment, text, inline=False):
        words = [t for t in tokens if not t.startswith("/*")]
        if inline and not comment and "(" in words:  # that of the function it calls
            comment = self.comments.get(words[words.index("(") - 1] + "_sized", "")
        if words[0] == "typedef":
            kind, name = words[1], words[-2]
            if kind == "struct" and "{" not in words:
                self.opaque.append(name)
            elif kind == "struct":
                self.structs[name] = fields(tokens[tokens.index("{") + 1 : -3])
            elif kind == "enum":
                self.enums[name] = enumerators(tokens[tokens.index("{") + 1 : -3])
            else:
                return
        elif "(" in words and "{" not in words:
            public = words[0] == "FRIX_API"
            open_ = words.index("(")
            name = words[open_ - 1]
            result = declaration(words[int(public) : open_ - 1] + ["_"])
            inner = split(words[open_ + 1 : -2])
            arguments = [] if inner in ([], [["void"]]) else [declaration(a) for a in inner]
            self.functions[name] = Function(name, result, arguments, comment, text, public or inline, inline)
        else:
            return
        self.comments[name], self.texts[name] = comment, text
        self.order.append(name)


def clean(comment):
    """The text of a comment without its stars."""
    lines = comment.strip()[2:-2].split("\n")
    return "\n".join(re.sub(r"^\s*\* ?", "", line) if k else line.strip() for k, line in enumerate(lines)).strip()


def split(tokens):
    """Parts between the commas that stand outside of all brackets."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += (token in "([{") - (token in ")]}")
        if token == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return [p for p in parts if p]


def declaration(tokens, comment=""):
    if "(" in tokens:  # result (*name)(arguments)
        open_ = tokens.index("(")
        result = declaration(tokens[:open_] + ["_"])
        inner = split(tokens[tokens.index("(", open_ + 1) + 1 : -1])
        return Declaration(tokens[open_ + 2], "", function=(result, [declaration(a) for a in inner]), comment=comment)
    sizes = []
    while tokens[-1] == "]":
        open_ = len(tokens) - 1 - tokens[::-1].index("[")
        sizes.insert(0, tokens[open_ + 1])
        tokens = tokens[:open_]
    words = [t for t in tokens if t not in ("*", "const", "struct")]
    base, name = (words[0], words[1]) if len(words) > 1 else (words[0], "")
    return Declaration(name, base, tokens.count("*"), sizes, const="const" in tokens, comment=comment)


def fields(tokens):
    """Fields of a struct; a comment belongs to the fields of the statement before it."""
    out, statement, count = [], [], 0
    for token in tokens:
        if token.startswith("/*"):
            for field in out[len(out) - count :] if not statement else []:
                field.comment = (field.comment + " " + clean(token)).strip()
        elif token == ";":
            parts = split(statement)
            out.append(declaration(parts[0]))
            base = [t for t in parts[0] if t in ("const",)] + [out[-1].base]
            out += [declaration(base + part) for part in parts[1:]]
            count, statement = len(parts), []
        else:
            statement.append(token)
    return out


def enumerators(tokens):
    out, value = [], 0
    for part in split([t for t in tokens if not t.startswith("/*")]):
        if len(part) == 3:
            value = int(part[2], 0)
        out.append((part[0], value))
        value += 1
    notes = {}
    name = None
    for token in tokens:
        if token.startswith("/*"):
            notes[name] = (notes.get(name, "") + " " + clean(token)).strip()
        elif re.match(r"FRIX_", token):
            name = token
    return [(n, v, notes.get(n, "")) for n, v in out]


def public_headers(root):
    folder = os.path.join(root, "include", "frix")
    names = sorted(n for n in os.listdir(folder) if n.endswith(".h") and n != "frix.h")
    return [Header(os.path.join(folder, n)) for n in names]
