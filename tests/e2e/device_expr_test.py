"""Device expressions against C++: the same random expressions over every type, compiled by g++."""

import random
import subprocess

import harness
import numpy as np

EXPRESSIONS = 150
SEEDS = range(4)
TYPES = {
    "bool": ("?", "bool"), "i8": ("i1", "signed char"), "u8": ("u1", "unsigned char"),
    "i16": ("i2", "short"), "u16": ("u2", "unsigned short"), "i32": ("i4", "int"),
    "u32": ("u4", "unsigned"), "i64": ("i8", "long long"), "u64": ("u8", "unsigned long long"),
    "f32": ("f4", "float"), "f64": ("f8", "double"),
}  # fmt: skip
FLOATS = ("f32", "f64")
COUNT = 4  # elements of each buffer

# What the language's functions and divisions mean, for any arithmetic types.
CPP = """
#include <cmath>
#include <cstdio>
template <typename A, typename B> auto least(A a, B b) {
  using T = decltype(a + b);
  return T(a) != T(a) || T(b) < T(a) ? T(b) : T(a);
}
template <typename A, typename B> auto most(A a, B b) {
  using T = decltype(a + b);
  return T(a) != T(a) || T(b) > T(a) ? T(b) : T(a);
}
template <typename A> auto magnitude(A a) {
  auto promoted = +a;
  return std::signbit((long double)promoted) ? -promoted : promoted;
}
template <typename A, typename B> auto quotient(A a, B b) {
  using T = decltype(a + b);
  return T(b) == 0 && T(1) / T(2) == 0 ? T(0) : T(-1) < T(0) && T(b) == T(-1) ? -T(a) : T(a) / T(b);
}
template <typename A, typename B> auto modulo(A a, B b) {
  using T = decltype(a + b);
  return T(b) == 0 || (T(-1) < T(0) && T(b) == T(-1)) ? T(0) : T(a) % T(b);
}
"""


class Generator:
    """An expression is its text, the same in C++, and whether it is a float."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def leaf(self, elements_only):
        kind = self.random.random()
        type_ = self.random.choice(list(TYPES))
        if elements_only or kind < 0.6:
            text = f"x_{type_}[{self.random.randrange(COUNT)}]"
            return text, text, type_ in FLOATS
        if kind < 0.8:
            return f"p_{type_}", f"p_{type_}", type_ in FLOATS
        if kind < 0.9:
            number = self.random.choice(["0", "1", "2", "7", "255", "100000", "4294967296"])
            return number, number, False
        number = self.random.choice(["0.5", "1.25", "3.0", "1e10"])
        return number, number, True

    def integer(self, depth):
        while True:
            expression = self.expression(depth)
            if not expression[2]:
                return expression

    def expression(self, depth, elements_only=True):
        """Its left-most leaf is an element, so that all operators are the device's."""
        if depth == 0:
            return self.leaf(elements_only)
        choice = self.random.random()
        if choice < 0.1:
            text, cpp, _ = self.integer(depth - 1)
            type_ = self.random.choice(list(TYPES))
            return f"{type_}({text})", f"({TYPES[type_][1]})({cpp})", type_ in FLOATS
        if choice < 0.2:
            condition, cpp_condition, _ = self.expression(depth - 1)
            a, cpp_a, a_float = self.expression(depth - 1, False)
            b, cpp_b, b_float = self.expression(depth - 1, False)
            return (
                f"({condition} ? {a} : {b})",
                f"(({cpp_condition}) ? {cpp_a} : {cpp_b})",
                a_float or b_float,
            )
        if choice < 0.3:
            operator = self.random.choice("-!~")
            text, cpp, is_float = (self.integer if operator == "~" else self.expression)(depth - 1)
            return f"({operator}{text})", f"({operator}({cpp}))", is_float and operator == "-"
        if choice < 0.4:
            a, cpp_a, a_float = self.expression(depth - 1)
            if self.random.random() < 0.3:
                return f"abs({a})", f"magnitude({cpp_a})", a_float
            b, cpp_b, b_float = self.expression(depth - 1, False)
            name, cpp = self.random.choice([("min", "least"), ("max", "most")])
            return f"{name}({a}, {b})", f"{cpp}({cpp_a}, {cpp_b})", a_float or b_float
        if choice < 0.6:
            a, cpp_a, _ = self.integer(depth - 1)
            b, cpp_b, _ = self.integer(depth - 1)
            operator = self.random.choice(["&", "|", "^", "%", "<<", ">>"])
            if operator == "%":
                return f"({a} % {b})", f"modulo({cpp_a}, {cpp_b})", False
            if operator in ("<<", ">>"):
                b = cpp_b = str(self.random.randrange(32))  # defined in C++ for every left side
            return f"({a} {operator} {b})", f"(({cpp_a}) {operator} ({cpp_b}))", False
        a, cpp_a, a_float = self.expression(depth - 1)
        b, cpp_b, b_float = self.expression(depth - 1, False)
        if choice < 0.75:
            operator = self.random.choice(["<", "<=", ">", ">=", "==", "!=", "&&", "||"])
            return f"({a} {operator} {b})", f"(({cpp_a}) {operator} ({cpp_b}))", False
        operator = self.random.choice("+-*/")
        cpp = f"(({cpp_a}) {operator} ({cpp_b}))"
        if operator == "/":
            cpp = f"quotient({cpp_a}, {cpp_b})"
        return f"({a} {operator} {b})", cpp, a_float or b_float


class DeviceExprTest(harness.ToolTest):
    def values(self, seed):
        """Elements of each type; the last of each is what the param is."""
        generator = np.random.default_rng(seed)
        arrays = {}
        for type_, (dtype, _) in TYPES.items():
            if type_ in FLOATS:
                array = generator.choice([0.0, -1.5, 0.1, 3e9, -2.0, 1e-3, 7.0], COUNT + 1)
            elif type_ == "bool":
                array = generator.integers(0, 2, COUNT + 1)
            else:
                info = np.iinfo(dtype)
                small = generator.integers(0, 5, COUNT + 1)
                edges = [info.min, info.max, info.max // 3]
                array = [edges[i] if i < 3 else int(small[i]) for i in range(COUNT + 1)]
            arrays[type_] = np.array(array, dtype=dtype)
        return arrays

    def by_cpp(self, expressions, arrays):
        lines = [CPP]
        for type_, (_, cpp) in TYPES.items():
            values = arrays[type_].tolist()
            texts = [repr(x) if type_ in FLOATS else f"{int(x)}ULL" for x in values]
            elements = ", ".join(f"({cpp}){text}" for text in texts[:COUNT])
            lines.append(f"volatile {cpp} v_{type_}[] = {{{elements}}}; {cpp} x_{type_}[{COUNT}];")
            lines.append(f"{cpp} p_{type_} = ({cpp}){texts[COUNT]};")
        lines.append("int main() {")
        for type_ in TYPES:
            lines.append(f"for (int i = 0; i < {COUNT}; ++i) x_{type_}[i] = v_{type_}[i];")
        for _, cpp, is_float in expressions:
            lines.append(
                f'printf("%a\\n", (double)({cpp}));' if is_float
                else f'printf("%lld\\n", (long long)({cpp}));'
            )  # fmt: skip
        (self.folder / "model.cpp").write_text("\n".join([*lines, "}"]))
        self.run_tool(
            "g++", "-std=c++17", "-O0", "-fwrapv", "-ffp-contract=off", "-w",
            "-o", "model", "model.cpp",
        )  # fmt: skip
        done = subprocess.run([self.path("model")], capture_output=True, text=True, check=True)
        return done.stdout.split()

    def test_random_expressions(self):
        for seed in SEEDS:
            self.check_expressions(seed)

    def check_expressions(self, seed):
        generator = Generator(seed)
        expressions = [
            generator.expression(generator.random.randint(1, 4)) for _ in range(EXPRESSIONS)
        ]
        arrays = self.values(seed)
        text = [f"host out ri: i64[{EXPRESSIONS}]; host out rf: f64[{EXPRESSIONS}];"]
        text.append(f"device i: i64[{EXPRESSIONS}]; device f: f64[{EXPRESSIONS}];")
        for type_ in TYPES:
            text.append(f"host in h_{type_}: {type_}[{COUNT}]; device x_{type_}: {type_}[{COUNT}];")
            text.append(f"param p_{type_}: {type_};")
        text.append("graph main { fill i <- 0; fill f <- 0;")
        text += [f"copy x_{type_} <- h_{type_};" for type_ in TYPES]
        for at, (expression, _, is_float) in enumerate(expressions):
            text.append(f"{'f' if is_float else 'i'}[{at}] = {expression};")
        text.append("copy ri <- i; copy rf <- f; }")
        source = self.write("p.cgraph", "\n".join(text))
        options = []
        for type_, array in arrays.items():
            np.save(self.path(f"{type_}.npy"), array[:COUNT])
            value = array[COUNT].item()
            options += ["--in", f"h_{type_}={type_}.npy"]
            options += ["--set", f"p_{type_}={str(value).lower() if type_ == 'bool' else value}"]
        self.cgrun(source, "--out", "ri=ri.npy", "--out", "rf=rf.npy", *options)
        integers, floats = np.load(self.path("ri.npy")), np.load(self.path("rf.npy"))
        for at, wanted in enumerate(self.by_cpp(expressions, arrays)):
            expression, _, is_float = expressions[at]
            with self.subTest(seed=seed, expression=expression):
                if is_float:
                    np.testing.assert_equal(floats[at], float.fromhex(wanted))
                else:
                    self.assertEqual(integers[at], int(wanted))


if __name__ == "__main__":
    harness.main()
