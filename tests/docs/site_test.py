#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of the site: do comments of the house become Doxygen's, does a document keep its words and its links, and is a page seen
that leads nowhere, or an entity that says nothing?"""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/site"))
import build  # noqa: E402
import check  # noqa: E402
import dress  # noqa: E402
import missing  # noqa: E402
import pages  # noqa: E402
import plan  # noqa: E402
import reference  # noqa: E402
from comments import as_doxygen_reads  # noqa: E402

HEADER = '''// SPDX-License-Identifier: Apache-2.0
// What it is.
//
//   how(it);     // is used
#pragma once

#include <span>  // of octets

namespace weft {

// A reader.
class Reader {
 public:
  Reader(Reader&&) noexcept = default;
  int next() { return 1; }  // the next
                            // of them
  int last();

  // --- A part of the class

  // Never <null>, and "quoted" as #1.
  int* where(int at) {
    // inside a body
    return nullptr;  // there too
  }
  const char* url = "http://x";

 private:
  // Of the class alone.
};

struct Nothing {};  // there is none
enum class Kind {  // of what
  kOne,            // first
  kTwo,
};

}  // namespace weft
'''


class Comments(unittest.TestCase):
    def setUp(self):
        self.lines = as_doxygen_reads(HEADER).splitlines()

    def line(self, begins):
        found = [line for line in self.lines if line.strip().startswith(begins)]
        self.assertEqual(len(found), 1, begins)
        return found[0]

    def test_lines_stay_the_lines_that_they_were(self):
        self.assertEqual(len(self.lines), len(HEADER.splitlines()))
        for before, after in zip(HEADER.splitlines(), self.lines):
            if "//" not in before:
                self.assertIn(before, after)

    def test_the_file_has_what_stands_first(self):
        self.assertEqual(self.lines[:4], ["/// @file", "/// \\brief %What it is.", "/// \\details @code{.unparsed}",
                                          "///   how(it);     // is used @endcode"])

    def test_of_a_class_the_first_sentence_is_brief(self):
        said = as_doxygen_reads("// SPDX\n// It.\n\n// One `a. b` two. Three.\n// Four.\nclass A {\n  // Five. Six.\n  int f();\n};\n")
        self.assertIn("/// \\brief %One `a. b` two. \\details %Three.\n/// %Four.\n", said)
        self.assertIn("  /// \\brief %Five. %Six.\n", said)

    def test_code_with_statements_is_highlighted(self):
        self.assertIn("/// @code{.cpp}", as_doxygen_reads("// SPDX\n// So:\n//\n//   a(b);\n#pragma once\n"))

    def test_before_and_behind(self):
        self.assertIn("/// \\brief A reader.", self.lines)
        self.assertEqual(self.line("int next"), "  int next() { return 1; }  ///< \\brief the next")
        self.assertEqual(self.line("///< of them"), " " * 28 + "///< of them")
        self.assertEqual(self.line("int last"), "  int last();")
        self.assertTrue(self.line("kOne").endswith("///< \\brief first"))

    def test_what_is_opened_or_empty_has_it_before(self):
        self.assertEqual(self.line("/** there"), "/** there is none */ struct Nothing {};")
        self.assertEqual(self.line("/** of what"), "/** of what */ enum class Kind {")

    def test_no_entity(self):
        for line in ("#include <span>  // of octets", "  // --- A part of the class", "    // inside a body",
                     "    return nullptr;  // there too", "  // Of the class alone.", "}  // namespace weft"):
            self.assertIn(line, self.lines)

    def test_no_markup(self):
        self.assertIn("  /// \\brief %Never &lt;null&gt;, and &quot;quoted&quot; as \\#1.", self.lines)
        self.assertIn('  const char* url = "http://x";', self.lines)

    def test_defaulted_members_need_no_words(self):
        self.assertTrue(self.line("Reader(Reader&&)").endswith("///< Member by member."))


class Documents(unittest.TestCase):
    def convert(self, text, document="docs/tour.md"):
        self.files = build.Files()
        return pages.Page(document, self.files).convert(text)

    def test_headings_have_anchors(self):
        self.assertEqual(self.convert("# A `b`\n\n## C d\n\n### C d\n"),
                         "# A b {#tour}\n\n# C d {#tour--c-d}\n\n## C d {#tour--c-d-1}\n")

    def test_what_doxygen_takes_out_of_code(self):
        self.assertIn("<code>weft-\\%p</code>", self.convert("# T\n\n`weft-%p`"))
        self.assertIn("| <code>a\\|b &lt;c&gt;</code> |", self.convert("# T\n\n| `a\\|b <c>` |"))

    def test_links(self):
        self.assertIn("[x](one-fpdu.html)", self.convert("# T\n\n[x](one-fpdu.md)"))
        self.assertIn("[x](contributing.html#contributing--commits)", self.convert("# T\n\n[x](../CONTRIBUTING.md#commits)"))
        self.assertIn("[`x`](decisions.html)", self.convert("# T\n\n[`x`](decisions/)"))
        self.assertIn("[x](verbs_8hpp.html)", self.convert("# T\n\n[x](../verbs/verbs.hpp)"))
        self.assertIn("[x](https://a.example/#b)", self.convert("# T\n\n[x](https://a.example/#b)"))
        self.assertIn("[x](files/LICENSE.html)", self.convert("# T\n\n[x](../LICENSE)"))
        self.assertEqual(self.files.wanted, {"LICENSE": "files/LICENSE.html"})

    def test_words_are_no_commands(self):
        self.assertIn("a \\@b &lt;c&gt; \\--d \\#1 `@e <f> --g`", self.convert('# T\n\na @b <c> --d #1 `@e <f> --g`'))

    def test_emphasis_goes_around_code(self):
        self.assertIn("<b>a `*b*`\nc's</b>, <em>d</em>: 2*3*4 \\*", self.convert("# T\n\n**a `*b*`\nc's**, *d*: 2*3*4 \\*"))

    def test_a_title_with_a_number_is_no_list(self):
        self.assertEqual(self.convert("# 2. A\n\n## 3. B"), "# 2\\. A {#tour}\n\n# 3. B {#tour--3-b}")

    def test_a_number_in_mid_sentence_is_no_list(self):
        self.assertIn("- a\n  14\\. b\n", self.convert("# T\n\n- a\n  14. b\n"))
        self.assertIn("\n1. a\n   b\n2. c\n", self.convert("# T\n\n1. a\n   b\n2. c\n"))

    def test_code_is_fenced(self):
        self.assertIn("~~~\na @b\n\nc\n~~~", self.convert("# T\n\n    a @b\n\n    c\n\nd"))
        self.assertIn("~~~{.sh}\n# not a heading\n~~~", self.convert("# T\n\n```sh\n# not a heading\n```\n"))

    def test_no_two_documents_are_one_page(self):
        labels = [plan.label(document) for document in plan.documents()]
        self.assertEqual(len(labels), len(set(labels)))
        headers = [plan.page_of_header(header) for header in plan.headers()]
        self.assertEqual(len(headers), len(set(headers)))


class Names(unittest.TestCase):
    def test_clauses_and_documents_are_linked(self):
        names = dress.Names()
        clause = min(names.clauses)
        self.assertEqual(names.linked(f"<p>{clause}, docs/tour.md</p>", "a.html"),
                         f'<p><a class="clause" href="rfc-map.html#{clause}">{clause}</a>, <a href="tour.html">docs/tour.md</a></p>')
        self.assertEqual(names.linked(f"<a>docs/tour.md</a> MPA-0.0-{99}", "a.html"), f"<a>docs/tour.md</a> MPA-0.0-{99}")


class Reference(unittest.TestCase):
    def test_what_it_is_comes_first(self):
        said = reference.body("""
<p>First.  <a href="a.html#details">More...</a></p>
<table class="memberdecls">
<tr class="heading"><td colspan="2"><h2 class="groupheader"><a id="pub" name="pub"></a>
Members</h2></td></tr><tr><td class="memItemRight"><b>a</b> {}</td></tr></table>
<a name="details" id="details"></a><h2 class="groupheader">Detailed Description</h2>
<div class="textblock"><p >First. </p><p >Second. </p>
</div><hr/>The documentation for this class was generated from the following file:<ul>
<li>weft/verbs/<a class="el" href="a_8hpp.html">a.hpp</a></li>
</ul>
""")
        self.assertEqual(said, """<p class="include"><code>#include &lt;weft/verbs/<a class="el" href="a_8hpp.html">a.hpp</a>&gt;</code></p>
<div class="textblock"><p >First. </p><p >Second. </p>
</div>
<table class="memberdecls">
<tr class="heading"><td colspan="2"><h2 id="pub" class="groupheader">Members</h2></td></tr><tr><td class="memItemRight"><b>a</b></td></tr></table>

""")
        inside = '<li class="navelem"><b>weft</b></li><li class="navelem"><a class="el" href="a.html">A</a></li>'
        self.assertEqual(reference.body('<h2 class="memtitle"><span class="permalink"><a href="#x">+</a></span>f()</h2>'),
                         '<h3 class="memtitle"><a href="#x">f()</a></h3>')
        self.assertEqual(reference.heading("A Class Reference", inside), '<span class="kind">class weft::</span>A')
        self.assertEqual(reference.heading("a.hpp File Reference", '<li class="navelem"><a href="d.html">weft</a></li>'),
                         '<span class="kind">&lt;weft/</span>a.hpp<span class="kind">&gt;</span>')


class Check(unittest.TestCase):
    def faults(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                Path(folder, name.replace("_", ".")).write_text(text)
            return list(check.faults(Path(folder).resolve()))

    def test_a_good_page(self):
        self.assertEqual(self.faults(a_html='<a id="x" href="#x">x</a><a href="b.css">b</a><img src="data:image/png;base64,">'
                                            '<style>p { fill: url(#x); background: url(data:image/png;base64,) }</style>url(http://x)',
                                      b_css=""), [])

    def test_links_that_lead_nowhere(self):
        self.assertEqual(self.faults(a_html='<a href="#y">y</a><a href="b.html">b</a><a href="../c">c</a>'),
                         ["a.html: #y: there is no such anchor", "a.html: b.html: there is no such file", "a.html: ../c: there is no such file"])

    def test_what_is_loaded_from_elsewhere(self):
        for text in ('<script src="https://a.example/b.js">', '<link href="//a.example/b.css">', "<style>@import 'http://a.example'</style>",
                     '<p style="background:url(http://a.example/b)">', '<img srcset="http://a.example/b 2x">', '<img src="gone.png">'):
            self.assertEqual(len(self.faults(a_html=text)), 1, text)
        self.assertEqual(self.faults(a_css="body{background:url(https://a.example/b)}"), ["a.css: loads https://a.example/b"])

    def test_an_anchor_that_is_there_twice(self):
        self.assertEqual(self.faults(a_html='<p id="x"><p id="x">'), ["a.html: the anchor x is there twice"])


class Front(unittest.TestCase):
    def front(self, subcommand):
        with tempfile.TemporaryDirectory() as folder:
            weft = Path(folder, "weft")
            weft.write_text(f"""#!/bin/sh
[ "$1" != --help ] || {{ echo '  {subcommand}   it'; exit 0; }}
[ "$1 $2 $3" = "explain --demo -o" ] && echo '<html><body id="a"><p>page' >"$4"
""")
            weft.chmod(0o755)
            Path(folder, "contents.html").write_text("contents")
            build.write_front(Path(folder), str(weft))
            return Path(folder, "index.html").read_text()

    def test_it_is_the_page_of_explain_with_a_way_to_the_documents(self):
        self.assertRegex(self.front("explain"), r'^<html><body id="a">\n<nav [^>]*>\n<a [^>]*href="contents.html">(.|\n)*</nav><p>page')

    def test_else_the_contents(self):
        self.assertEqual(self.front("bench"), "contents")


class Missing(unittest.TestCase):
    def test_enumerators_and_empty_classes(self):
        text = """/// A.
struct A {};
struct B {};
enum class E : int {
  kA = 1,  ///< a
  /// b
  kB,
  kC,
};
enum class F { kD };
int kE;
"""
        self.assertEqual(list(missing.of_header(text)), [(3, "struct B {};"), (8, "kC"), (10, "enum class F { kD };")])


class Undocumented(unittest.TestCase):
    """Each kind of entity: Doxygen has to complain of it when it has no comment, and of nothing else."""

    def complaints(self, text):
        with tempfile.TemporaryDirectory() as folder:
            header = Path(folder, "in/weft/a.hpp")
            header.parent.mkdir(parents=True)
            header.write_text(as_doxygen_reads(f"// SPDX\n// A file.\n#pragma once\n// A namespace.\nnamespace weft {{\n\n{text}\n\n}}\n"))
            code, said = build.run_doxygen(Path(folder), {})
            self.assertEqual(bool(code), bool(said), said)
            return said

    def test_each_kind(self):
        if not shutil.which("doxygen"):
            print("SKIPPED CASE: no doxygen, which tells what has no documentation")
            self.skipTest("no doxygen")
        self.assertEqual(self.complaints("// C.\nclass C {\n public:\n  C(C&&) = default;\n  int a;  // a\n};\n"), "")
        for text in ("class C {};", "// C.\nclass C {\n public:\n  int a;\n};", "// C.\nclass C {\n public:\n  void f();\n};", "void f();",
                     "// E.\nenum class E {\n  kA,  // a\n  kB,\n};", "enum class E {\n  kA,  // a\n};", "using T = int;",
                     "inline constexpr int kA = 1;"):
            self.assertIn("not documented", self.complaints(text), text)


if __name__ == "__main__":
    unittest.main()
