"""What scripts/mutate can change in a header, and the header with all changes in it (switches.hpp)."""

import dataclasses
import re

TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|^[ \t]*\#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|\[\[.*?\]\])
      |(?P<word>[A-Za-z_]\w*)|(?P<number>\d(?:[eEpP][+-]|[\w.'])*)
      |(?P<sign><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||==|!=|<=|>=|\+=|-=|\*=|/=|%=|&=|\|=|<<|>>|[^\s\w])""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "*": "/", "/": "*", "%": "/",
         "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "*=": "+=", "&=": "|=", "|=": "&="}
BOTH_SPACED = {"<", ">", "+", "-", "*", "/", "%", "&&"}  # otherwise template brackets, signs, pointers and references: clang-format sees to it
WORDS = {"true": "false", "false": "true"}
DECIDES = {"==", "!=", "<", "<=", ">", ">=", "&&", "||", "!"}  # a condition with one of them is negated by changing that
CONSTANT = re.compile(r"static_assert|noexcept|requires|sizeof|decltype|__builtin_shufflevector|_mm\d*_(extract|insert)\w*")  # in brackets
SPEED_ONLY = re.compile(r"(__builtin_)?prefetch\w*|products|XLOOM_UNROLL")  # functions
OPENING, CLOSING = ("(", "[", "{", "<"), (")", "]", "}", ">")
BOUNDS = {"=", "return", "else", ",", ";", ":", "?", "<<", "+=", "&=", "|="}  # of the operands of ||, && and ?


@dataclasses.dataclass(frozen=True)
class Mutant:
    id: int  # of its change in switches.hpp
    file: str  # below include/xloom, without .hpp
    line: int
    before: str  # the line
    after: str

    def __str__(self):
        return f"{self.file}.hpp:{self.line}: {self.before}  =>  {self.after}"


@dataclasses.dataclass(frozen=True)
class Change:
    start: int
    end: int
    new: str  # what stands there instead
    switch: str = ""  # what stands there in the program of all changes; {id} is the change's number
    around: tuple = ()  # where an expression begins and ends, and what is before and after it then


class Header:
    def __init__(self, file, text):
        self.file = file
        self.text = text
        self.tokens = [(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(self.text) if m.lastgroup != "skip"]
        self.fixed = self.find_fixed()

    def is_sign(self, i, sign):
        return 0 <= i < len(self.tokens) and self.tokens[i][:2] == ("sign", sign)

    def end(self, i):
        return self.tokens[i][2] + len(self.tokens[i][1])

    def depth(self, i):
        """1 for what opens a bracket, -1 for what closes one, -2 for two of templates."""
        token, start = self.tokens[i][1:]
        if token in ("<", ">", ">>") and self.is_both_spaced(start, start + len(token)):
            return 0
        return (token in OPENING) - (token in CLOSING) - 2 * (token == ">>")

    def closing(self, i):
        """The token that closes the bracket at token i."""
        depth = 0
        for j in range(i, len(self.tokens)):
            depth += self.depth(j)
            if depth <= 0:
                return j
        raise SystemExit(f"{self.file}.hpp: a bracket is not closed")

    def find_fixed(self):
        """Tokens of what only the compiler reads: template heads, constraints, static_assert, if constexpr, names for types; and of what decides
        speed only: prefetches, unrolling, and the products by which work is shared out."""
        fixed = set()
        for i, (kind, token, start) in enumerate(self.tokens):
            if kind != "word":
                continue
            last = i
            if CONSTANT.fullmatch(token) and self.is_sign(i + 1, "("):
                last = self.closing(i + 1)
            elif token == "requires":  # a clause without brackets has lines of its own
                end = re.compile(r"(?<!&&)(?<!\|\|)\n").search(self.text, start).start()
                last = next(j for j in range(i, len(self.tokens)) if self.tokens[j + 1][2] > end)
            elif token == "if" and self.tokens[i + 1][1] == "constexpr":
                last = self.closing(i + 2)
            elif token == "template" and self.is_sign(i + 1, "<"):
                last = self.closing(i + 1)
            elif token in ("using", "concept"):
                last = next(j for j in range(i, len(self.tokens)) if self.tokens[j][1] == ";")
            elif token == "operator":
                last = i + 1
            elif SPEED_ONLY.fullmatch(token) and self.is_sign(i + 1, "("):
                last = self.closing(i + 1)
                while self.tokens[last + 1][1] in ("const", "noexcept"):
                    last += 1
                if self.is_sign(last + 1, "{"):  # the function itself
                    last = self.closing(last + 1)
            fixed.update(range(i, last + 1))
        return fixed

    def is_both_spaced(self, start, end):
        return self.text[start - 1].isspace() and self.text[end].isspace()

    def is_unary(self, i):
        kind, token, _ = self.tokens[i - 1]
        return token == "return" or (kind == "sign" and self.depth(i - 1) >= 0)

    def decided(self, first, last):
        return any(kind == "sign" and token in DECIDES and (token not in BOTH_SPACED or self.is_both_spaced(at, at + len(token)))
                   for kind, token, at in self.tokens[first:last])

    def first_of_operand(self, i):
        """The first token of the operand in front of &&, || or ? at token i."""
        bounds = BOUNDS | {"||"} if self.is_sign(i, "&&") else BOUNDS
        depth = 0
        outermost = i  # after the last bracket
        while i > 0:
            if depth == 0:
                outermost = i
            depth -= self.depth(i - 1)
            if depth < 0 or (depth == 0 and self.tokens[i - 1][1] in bounds):
                break
            i -= 1
            if self.is_sign(i, "(") and self.tokens[i - 1][1] in ("if", "constexpr", "for", "while"):
                return outermost
        return i

    def last_of_operand(self, i):
        """The last token of the operand after && or || at token i."""
        bounds = BOUNDS | ({"&&", "||"} if self.is_sign(i, "&&") else {"||"})
        depth = 0
        while True:
            depth += self.depth(i + 1)
            if depth < 0 or (depth == 0 and self.tokens[i + 1][1] in bounds):
                return i
            i += 1

    def changes(self):
        """With switches that keep the precedence of what they stand for."""
        turned = "mutation::turned<{id}>("
        for i, (kind, token, start) in enumerate(self.tokens):
            if i in self.fixed:
                continue
            end = start + len(token)
            if kind == "number":
                if re.fullmatch(r"\d+", token) and self.text[start - 1] not in "<." and self.text[end] not in ">.":
                    if token == "1":
                        yield Change(start, end, "2", "mutation::one<{id}>()")
                        yield Change(start, end, "0")  # the same switch
                    else:
                        yield Change(start, end, str(int(token) + 1), f"mutation::number<{{id}}>({token})")
            elif kind == "word":
                if token in WORDS:
                    yield Change(start, end, WORDS[token], f"{turned}{token})")
                elif token in ("if", "while") and self.is_sign(i + 1, "("):
                    last = self.closing(i + 1)
                    if not self.decided(i + 2, last) and not any(t[1] in (";", "=") for t in self.tokens[i + 2:last]):
                        yield Change(self.end(i + 1), self.end(i + 1), "!", "", (self.end(i + 1), self.tokens[last][2], turned, ")"))
            elif token in ("!", "-") and self.is_unary(i):
                yield Change(start, end, "", f"mutation::no_{'not' if token == '!' else 'minus'}<{{id}}>{{}} ->* ")
            elif token == "?":
                first = self.first_of_operand(i)
                if not self.decided(first, i):
                    yield Change(start, end, "== false ?", token, (self.tokens[first][2], self.end(i - 1), turned, ")"))
            elif token not in SWAPS or (token in BOTH_SPACED and not self.is_both_spaced(start, end)):
                continue
            elif token not in ("&&", "||"):
                yield Change(start, end, SWAPS[token], f"{token} mutation::at<{{id}}>{{}} {token}")
            elif not self.is_sign(i - 1, "...") and not self.is_sign(i + 1, "..."):  # a fold's operands have no place
                # a || b is !(!a && !b). In a && b && c the first change is (a || b) && c.
                yield Change(start, end, SWAPS[token], f") {token} {turned}",
                             (self.tokens[self.first_of_operand(i)][2], self.end(self.last_of_operand(i)), turned + turned, "))"))

    def mutants(self, id):
        """With their changes, numbered from id on."""
        for change in self.changes():
            first = self.text.rfind("\n", 0, change.start) + 1
            last = self.text.find("\n", change.end)
            after = (self.text[first:change.start] + change.new + self.text[change.end:last]).strip()
            yield Mutant(id, self.file, self.text.count("\n", 0, change.start) + 1, self.text[first:last].strip(), after), change
            id += 1

    def with_switches(self, mutants):
        """The header with all changes in it."""
        inserted, replaced = {}, {}  # by place
        for mutant, change in mutants:
            if change.switch:
                replaced[change.start] = change.end, change.switch.replace("{id}", str(mutant.id))
        around = [(*change.around, mutant.id) for mutant, change in mutants if change.around]
        for begin, end, before, after, id in sorted(around, key=lambda a: a[0] - a[1]):  # the widest first: it is outside
            inserted[begin] = inserted.get(begin, "") + before.replace("{id}", str(id))
            inserted[end] = after + inserted.get(end, "")
        text, at = "", 0
        for place in sorted({*inserted, *replaced}):
            text += self.text[at:place] + inserted.get(place, "")
            at, switch = replaced.get(place, (place, ""))
            text += switch
        return text + self.text[at:]
