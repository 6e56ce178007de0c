# SPDX-License-Identifier: Apache-2.0
"""A file with its faults: one compiled in, or all of them behind the switch of switch.hpp, so that one build has them all."""

import re

COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.S)


def with_fault(text, fault):
    """The file with the fault, as it would stand there without a switch."""
    if fault.how.startswith("name:"):
        return text[:fault.end] + f"; false && {fault.how[5:]}" + text[fault.end:]
    return text[:fault.start] + fault.after + text[fault.end:]


def _on_one_line(code):
    """So that the lines of the file keep their numbers."""
    return " ".join(COMMENT.sub(lambda m: m.group(1) or " ", code).split("\n"))


def _changed(text, fault):
    begin, end = fault.region
    return _on_one_line(text[begin:fault.start] + fault.after + text[fault.end:end])


def with_switches(text, faults):
    """All of `faults`, each at its number. A region within another is woven into what the outer one leaves as it is."""
    regions = {}
    for fault in faults:
        regions.setdefault(fault.region, []).append(fault)
    return _weave(text, 0, len(text), sorted(regions.items(), key=lambda item: (item[0][0], -item[0][1])))


def _weave(text, begin, end, regions):
    out, at = [], begin
    while regions:
        (start, stop), chosen = regions[0]
        inner = [item for item in regions[1:] if item[0][0] >= start and item[0][1] <= stop and start != stop]
        regions = [item for item in regions[1:] if item not in inner]
        out.append(text[at:start])
        out.append(_switch(text, chosen, _weave(text, start, stop, inner)))
        at = stop
    return "".join(out) + text[at:end]


def _switch(text, faults, code):
    for fault in faults:
        asked = f"weft_fault({fault.number})"
        if fault.how == "choose":
            code = f"({asked} ? ({_changed(text, fault)}) : ({code}))" if fault.kind not in ("constant", "code") \
                else f"({asked} ? {_changed(text, fault)} : {code})"
        elif fault.how == "force":
            code = f"!{asked} && ({code})"
        elif fault.how == "skip":
            code = f"{{ if (!{asked}) {{ {code} }} }}"
        elif fault.how == "instead":
            code = f"{{ if ({asked}) {{ {_changed(text, fault)} }} else {{ {code} }} }}"
        else:
            code += f"; !{asked} && {fault.how[5:]}"
    return code
