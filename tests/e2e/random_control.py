"""Random programs with control flow, and what they compute, worked out in Python.

Every statement is a pair: its lines, and a function that does the same to a state. Elements are i32,
so the result is exact whatever the device.
"""

import random

WIDTH = 6  # elements of v and w

HEADER = f"""
param p: i32 = 3;
param q: i32 = 0;
host out rv: i32[{WIDTH}];
host out rw: i32[{WIDTH}];
device v, w: i32[{WIDTH}];
kernel mix(k: i32, x: inout i32[{WIDTH}]) grid(1) block({WIDTH})
cuda {{ int i = threadIdx.x; x[i] = int(unsigned(x[i]) * 3u + unsigned(i) + unsigned(k)); }}
kernel add(count: in i32[1], x: inout i32[{WIDTH}]) grid(1) block({WIDTH})
cuda {{ x[threadIdx.x] = int(unsigned(x[threadIdx.x]) + unsigned(count[0])); }}
def nudge(x: inout i32[{WIDTH}], by: i32) {{
  if (x[0] % 2 == 0) {{ x[1] = x[1] + by; }} else {{ mix(by, x); }}
}}
def plain(x: inout i32[{WIDTH}]) {{ mix(1, x); x[2] = x[2] ^ 5; }}
"""


def wrap(value):
    return (value + 2**31) % 2**32 - 2**31


def divide(a, b):
    quotient = abs(a) // abs(b) if b else 0
    return wrap(quotient if (a < 0) == (b < 0) else -quotient)


def remainder(a, b):
    return 0 if b == 0 else wrap(a - b * divide(a, b)) if (a, b) != (-(2**31), -1) else 0


def shift_left(a, b):
    return wrap(a << b) if 0 <= b < 32 else 0


def shift_right(a, b):
    return a >> b if 0 <= b < 32 else (-1 if a < 0 else 0)


OPERATORS = {
    "+": lambda a, b: wrap(a + b),
    "-": lambda a, b: wrap(a - b),
    "*": lambda a, b: wrap(a * b),
    "/": divide,
    "%": remainder,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": shift_left,
    ">>": shift_right,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(a != 0 and b != 0),
    "||": lambda a, b: int(a != 0 or b != 0),
}


class Program:
    """`text` is the program, `run(state)` does what one launch of it does."""

    def __init__(self, seed, size=12, depth=4):
        self.random = random.Random(seed)
        self.counters = 0
        lines, self.body = self.block(size, depth)
        counters = [f"device c{i}: i32[1];" for i in range(self.counters)]
        first = ["fill v <- 1;", "fill w <- -2;"]
        last = ["copy rv <- v;", "copy rw <- w;"]
        self.text = "\n".join(
            [HEADER, *counters, "graph main {", *indent(first + lines + last), "}", ""]
        )

    def results(self, p=3, q=0):
        state = {"v": [1] * WIDTH, "w": [-2] * WIDTH, "p": p, "q": q}
        self.body(state)
        return state["v"], state["w"]

    # Expressions: text and a function of the state.

    def element(self):
        buffer, index = self.random.choice("vw"), self.random.randrange(WIDTH)
        if self.random.random() < 0.2:
            inner = self.random.randrange(WIDTH)
            text = f"{buffer}[abs({buffer}[{inner}] % {WIDTH})]"
            return text, lambda s: s[buffer][abs(remainder(s[buffer][inner], WIDTH))]
        return f"{buffer}[{index}]", lambda s: s[buffer][index]

    def operand(self, depth):
        kind = self.random.random()
        if kind < 0.25:
            number = self.random.choice([0, 1, 2, 3, 7, 31, 33, -1, -5, 100000])
            return str(number), lambda s: number
        if kind < 0.4:
            name = self.random.choice("pq")
            return name, lambda s: s[name]
        return self.expression(depth - 1)

    def expression(self, depth=2):
        """Reads an element, so that all of it is the device's, in 32 bits."""
        if depth <= 0 or self.random.random() < 0.2:
            return self.element()
        left, left_value = self.expression(depth - 1)
        right, right_value = self.operand(depth)
        if self.random.random() < 0.1:
            other, other_value = self.operand(depth)
            return (
                f"({left} ? {right} : {other})",
                lambda s: right_value(s) if left_value(s) else other_value(s),
            )
        operator = self.random.choice(list(OPERATORS))
        function = OPERATORS[operator]
        return (
            f"({left} {operator} {right})",
            lambda s: function(left_value(s), right_value(s)),
        )

    # Statements.

    def block(self, size, depth):
        parts = [self.statement(depth) for _ in range(self.random.randint(0, size))]

        def run(state):
            for _, step in parts:
                step(state)

        return [line for lines, _ in parts for line in lines], run

    def statement(self, depth):
        simple = [self.assign] * 4 + [self.launch, self.fill, self.copy, self.call, self.count]
        nested = [self.branch] * 3 + [self.switch] * 2
        nested += [self.loop, self.loop, self.do_loop, self.repeat, self.unrolled, self.scope]
        return self.random.choice(nested + simple if depth > 0 else simple)(depth)

    def assign(self, _):
        buffer, index = self.random.choice("vw"), self.random.randrange(WIDTH)
        text, value = self.expression()
        if self.random.random() < 0.2:
            target = f"{buffer}[abs(v[{index}] % {WIDTH})]"

            def run(state):
                new = value(state)
                state[buffer][abs(remainder(state["v"][index], WIDTH))] = new

            return [f"{target} = {text};"], run

        def run_fixed(state):
            state[buffer][index] = value(state)

        return [f"{buffer}[{index}] = {text};"], run_fixed

    def launch(self, _):
        buffer, k = self.random.choice("vw"), self.random.randrange(5)

        def run(state):
            state[buffer] = [wrap(x * 3 + i + k) for i, x in enumerate(state[buffer])]

        return [f"mix({k}, {buffer});"], run

    def count(self, _):
        """A kernel that reads how much from memory which the program changes."""
        index = self.random.randrange(WIDTH)

        def run(state):
            count = state["w"][index]
            state["v"] = [wrap(x + count) for x in state["v"]]

        return [f"add(w[{index}:{index + 1}], v);"], run

    def fill(self, _):
        buffer, value = self.random.choice("vw"), self.random.randrange(-3, 9)
        begin = self.random.randrange(WIDTH)
        end = self.random.randint(begin, WIDTH)

        def run(state):
            state[buffer][begin:end] = [value] * (end - begin)

        return [f"fill {buffer}[{begin}:{end}] <- {value};"], run

    def copy(self, _):
        to, source = self.random.choice(["vw", "wv"])
        length = self.random.randrange(1, WIDTH)
        a, b = (self.random.randrange(WIDTH - length + 1) for _ in range(2))

        def run(state):
            state[to][a : a + length] = state[source][b : b + length]

        return [f"copy {to}[{a}:{a + length}] <- {source}[{b}:{b + length}];"], run

    def call(self, depth):
        buffer = self.random.choice("vw")
        if self.random.random() < 0.5:
            child = self.random.choice(["", "child "])

            def run_plain(state):
                state[buffer] = [wrap(x * 3 + i + 1) for i, x in enumerate(state[buffer])]
                state[buffer][2] ^= 5

            return [f"{child}plain({buffer});"], run_plain
        by = self.random.randrange(4)

        def run(state):
            if remainder(state[buffer][0], 2) == 0:
                state[buffer][1] = wrap(state[buffer][1] + by)
            else:
                state[buffer] = [wrap(x * 3 + i + by) for i, x in enumerate(state[buffer])]

        return [f"nudge({buffer}, {by});"], run

    def branch(self, depth):
        arms = []
        for _ in range(self.random.randint(1, 4)):
            arms.append((*self.expression(), *self.block(3, depth - 1)))
        otherwise = self.block(3, depth - 1) if self.random.random() < 0.5 else None
        lines = []
        for i, (condition, _, body, _) in enumerate(arms):
            lines += [f"{'if' if i == 0 else '} else if'} ({condition}) {{", *indent(body)]
        if otherwise:
            lines += ["} else {", *indent(otherwise[0])]

        def run(state):
            for _, holds, _, body in arms:
                if holds(state):
                    return body(state)
            return otherwise[1](state) if otherwise else None

        return lines + ["}"], run

    def switch(self, depth):
        text, value = self.expression(1)
        labels = self.random.sample(range(-6, 12), self.random.randint(1, 8))
        cases = []
        while labels:
            taken = [labels.pop() for _ in range(min(len(labels), self.random.randint(1, 3)))]
            cases.append((taken, *self.block(3, depth - 1)))
        otherwise = self.block(2, depth - 1) if self.random.random() < 0.5 else None
        lines = [f"switch ({text} % 8) {{"]
        for taken, body, _ in cases:
            lines += indent([f"case {', '.join(map(str, taken))}: {{", *indent(body), "}"])
        if otherwise:
            at = self.random.randrange(2)
            default = indent(["default: {", *indent(otherwise[0]), "}"])
            lines = lines + default if at else [lines[0], *default, *lines[1:]]

        def run(state):
            number = remainder(value(state), 8)
            for taken, _, body in cases:
                if number in taken:
                    return body(state)
            return otherwise[1](state) if otherwise else None

        return lines + ["}"], run

    def new_counter(self):
        self.counters += 1
        return f"c{self.counters - 1}"

    def loop(self, depth):
        """Bounded by a counter of its own."""
        counter, most = self.new_counter(), self.random.choice([0, 1, 2, 3, 5])
        condition, holds = self.expression()
        body, step = self.block(3, depth - 1)
        advance = f"{counter}[0] = {counter}[0] + 1;"
        limit = self.random.choice(["", f" max {most + 1}"])
        lines = [f"{counter}[0] = 0;", f"while ({counter}[0] < {most} && {condition}){limit} {{"]

        def run(state):
            for _ in range(most):
                if not holds(state):
                    break
                step(state)

        return lines + indent([*body, advance]) + ["}"], run

    def do_loop(self, depth):
        counter, most = self.new_counter(), self.random.choice([1, 2, 4])
        condition, holds = self.expression()
        body, step = self.block(3, depth - 1)
        advance = f"{counter}[0] = {counter}[0] + 1;"
        lines = [f"{counter}[0] = 0;", "do {", *indent([advance, *body])]

        def run(state):
            for _ in range(most):
                step(state)
                if not holds(state):
                    break

        return lines + [f"}} while ({counter}[0] < {most} && {condition});"], run

    def repeat(self, depth):
        count = self.random.choice(["0", "1", "3", "p", "q", "q + 2"])
        body, step = self.block(3, depth - 1)

        def run(state):
            for _ in range(eval(count, {}, {"p": state["p"], "q": state["q"]})):
                step(state)

        return [f"repeat ({count}) {{", *indent(body), "}"], run

    def unrolled(self, depth):
        body, step = self.block(2, depth - 1)
        times = self.random.randrange(3)

        def run(state):
            for i in range(times):
                state["v"][i] = wrap(state["v"][i] + i)
                step(state)

        return [f"for i in 0..{times} {{", *indent(["v[i] = v[i] + i;", *body]), "}"], run

    def scope(self, depth):
        """With memory of its own, which every path writes before it is read."""
        body, step = self.block(2, depth - 1)
        inner = [f"device t: i32[{WIDTH}];", "copy t <- v;", "mix(2, t);", "v[3] = t[4];"]

        def run(state):
            state["v"][3] = wrap(state["v"][4] * 3 + 4 + 2)
            step(state)

        return ["{", *indent(inner + body), "}"], run


def indent(lines):
    return ["  " + line for line in lines]
