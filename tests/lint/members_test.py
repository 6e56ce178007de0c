#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""members.py counts what a compiler counts: each piece of C++ here has the classes and members that are said of it."""

import subprocess
import sys
import tempfile
from pathlib import Path

from members import MOST, classes_of

CASES = [
    ("struct A { int a, *b, c[3]; int d : 2; bool e{}, f = g<int, 2>(1, 2); };", {"A": 6}),
    ("class A { public: int a_; private: static int b; static constexpr int kC{1}, kD{2}; int e_ = 1 < 2, f_; };", {"A": 3}),
    ("struct A { A(); ~A() = default; explicit A(int b) : a_{b}, c_(b), d_<int>{} { struct L { int x; }; }  int a_, c_; };",
     {"A": 2, "A::L": 1}),
    ("struct A { [[nodiscard]] int f() const noexcept { return 1; } auto g() -> B<int> { return {}; } bool operator<(A) const; };",
     {"A": 0}),
    ("struct A { std::map<int, std::pair<int, int>> a{{1, {2, 3}}}; std::function<void(int, int)> b; void (*c)(int); };", {"A": 3}),
    ("struct A { std::uint64_t a = ~0ULL, b = (1U << 20); char c = '{'; const char* d = \"};\"; int e; // int f;\n };", {"A": 5}),
    ("struct A { struct B { int c; }; enum class D { kE, kF } d{}; struct { int g, h; } i; B j{}; };",
     {"A": 3, "A::B": 1, "A::(line 1)": 2}),
    ("struct A { union { int a; float b; }; struct B; friend class C; using D = int; template <int N> struct E { int e; }; };",
     {"A": 2, "A::(line 1)": 2, "A::E": 1}),
    ("namespace n { template <class T = struct X> class A final : public B<T>, C { T a_; T& b_; }; }  struct D f() { return {}; }",
     {"A": 2}),
    ("struct ibv_qp q = {1, {2}}; struct A::B { struct ibv_qp* qp; struct ibv_qp own; }; void f() { auto l = [&] { return A{1}; }; }",
     {"A::B": 2}),
    ("#define MACRO { int a;\nextern \"C\" { struct A { alignas(64) std::atomic<int> a; mutable B b; unsigned long c; }; }", {"A": 3}),
    ("enum class A : int { kB };\ntypedef struct B { int a; } B;\nstruct C { enum D : int; void* operator new(size_t) { return 0; } };",
     {"B": 1, "C": 0}),
]


def too_wide_fails():
    """The program itself: a class of one member too many in a tree of its own."""
    with tempfile.TemporaryDirectory() as folder:
        lint = Path(folder) / "tests/lint"
        lint.mkdir(parents=True)
        for name in ("members.py", "rooms.py"):
            text = (Path(__file__).parent / name).read_text()
            (lint / name).write_text(text.replace('("verbs/policy.hpp", "Policy")', '("common/a.hpp", "Exempt")'))
        common = Path(folder) / "common"
        common.mkdir()
        wide = " ".join(f"int m{i};" for i in range(MOST + 1))
        (common / "a.hpp").write_text(f"struct Wide {{ {wide} }};\nstruct Exempt {{ {wide} }};\n")
        done = subprocess.run([sys.executable, "-B", lint / "members.py"], capture_output=True, text=True, check=False)
        expected = f"common/a.hpp:1: Wide has {MOST + 1} direct members, and {MOST} is the most\n"
        if (done.returncode, done.stdout) != (1, expected):
            return [f"a class of {MOST + 1} members: {done.returncode}, {done.stdout}{done.stderr}"]
        (common / "a.hpp").write_text("struct Exempt { int a; };\n")
        done = subprocess.run([sys.executable, "-B", lint / "members.py"], capture_output=True, text=True, check=False)
        if done.returncode != 1 or "needs no exemption" not in done.stdout:
            return [f"an exemption that is needed no more: {done.returncode}, {done.stdout}{done.stderr}"]
    return []


def main():
    faults = too_wide_fails()
    for text, expected in CASES:
        counted = {name: count for _, name, count in classes_of(text)}
        if counted != expected:
            faults.append(f"{text}\n    counted {counted}, there are {expected}")
    print("\n".join(faults) or f"{len(CASES)} pieces of C++ are counted as a compiler counts them")
    return 1 if faults else 0


sys.exit(main())
