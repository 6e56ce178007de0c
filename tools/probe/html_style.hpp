// SPDX-License-Identifier: Apache-2.0
// How the HTML report looks: on light and dark screens, and on paper.
#pragma once

#include <string_view>

#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// No letter of it means anything in HTML.
inline constexpr std::string_view kStyle = R"css(:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1b1f24; --dim: #57606a; --line: #d0d7de; --box: #f6f8fa;
  --pass: #1a7f37; --warn: #9a6700; --fail: #cf222e; --na: #6e7781; --mark: #ffd8d3; --sent: #0969da; --came: #8250df;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --text: #e6edf3; --dim: #9198a1; --line: #30363d; --box: #161b22;
    --pass: #3fb950; --warn: #d29922; --fail: #f85149; --na: #8b949e; --mark: #7d2620; --sent: #58a6ff; --came: #bc8cff;
  }
}
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); } h3 { margin-bottom: 0.2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; } dt { color: var(--dim); } dd { margin: 0; }
.verdict { padding: 0.6rem 1rem; border: 1px solid var(--line); border-radius: 6px; background: var(--box); font-weight: 600; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
a { color: var(--sent); }
code, pre { font-family: ui-monospace, monospace; font-size: 12.5px; overflow-wrap: anywhere; }
pre { margin: 0.2rem 0; padding: 0.4rem 0.6rem; background: var(--box); border-radius: 4px; white-space: pre; overflow-x: auto; }
details { margin: 0.3rem 0; } summary { cursor: pointer; }
.case { padding: 0.3rem 0.8rem; border: 1px solid var(--line); border-left: 4px solid var(--na); border-radius: 4px; }
.case.pass { border-left-color: var(--pass); } .case.warn { border-left-color: var(--warn); } .case.fail { border-left-color: var(--fail); }
.badge, td.pass, td.warn, td.fail, td.na { font-weight: 600; }
.pass.badge, td.pass { color: var(--pass); } .warn.badge, td.warn { color: var(--warn); }
.fail.badge, td.fail { color: var(--fail); } .na.badge, td.na { color: var(--na); } td.none { color: var(--dim); }
.demand { margin: 0.1rem 0 0.4rem; } .dim { color: var(--dim); } .reason { font-weight: 600; white-space: pre-wrap; }
.item { margin: 0.4rem 0; padding-left: 0.6rem; border-left: 3px solid var(--sent); } .item.came { border-left-color: var(--came); }
.item > p, .breach { margin: 0; } .sent > p > b { color: var(--sent); } .came > p > b { color: var(--came); }
.breach { color: var(--fail); } mark { background: var(--mark); color: inherit; font-weight: 700; }
@media print {
  main { max-width: none; padding: 0; } pre { white-space: pre-wrap; overflow: visible; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .case, tr { break-inside: avoid-page; }
}
)css";

}  // namespace weft::tools::probing
