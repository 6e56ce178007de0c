# SPDX-License-Identifier: Apache-2.0
"""The samples that are tried. One-token faults are found by pattern in formatted code: a check dropped, a statement left out, an
operator or a number changed."""

import collections
import hashlib
import re

from fault import ROOT, Fault

CORE = ("mpa", "ddp", "rdmap", "engine", "conformance/rules")  # with all of their tests in copy/
# The other modules, by the project's own build (tree.py): their folders, and the programs that look at them, the quickest first.
OTHERS = {
    "transport": (("transport", "transport/detail", "transport/tls", "transport/same_host"),
                  ("transport_test", "transport_same_host_test", "transport_tls_test", "tools_keys_test", "verbs_memory_test")),
    "verbs": (("verbs", "verbs/base", "verbs/log", "verbs/memory", "verbs/progress", "verbs/stream", "verbs/objects", "verbs/connecting",
               "verbs/datagram"),
              ("verbs_memory_test", "verbs_policy_text_test", "verbs_operations_test", "verbs_clauses", "verbs_window_test",
               "verbs_arguments_test", "verbs_errors_test", "verbs_ending_test", "verbs_limits_test", "verbs_startup_test", "verbs_log_test",
               "verbs_datagram_test", "verbs_connection_test", "verbs_backlog_test", "verbs_turns_test", "verbs_progress_test",
               "verbs_tls_test")),
    "compat": (("compat/objects", "compat/direct", "compat/rsockets", "compat/ibverbs", "compat/rdmacm"),
               ("compat_posting_test", "compat_facade_test", "compat_misuse_test", "compat_datagram_test", "compat_cm_datagram_test",
                "compat_fields_test", "compat_rsocket_test", "compat_direct_test")),
    "conformance": (("conformance", "conformance/capture", "conformance/tls", "packet"),
                    ("conformance_test", "conformance_clauses", "conformance_clauses_ddp", "conformance_clauses_rdmap",
                     "conformance_tcp_test", "conformance_capture_test", "conformance_tls_test", "packet_test", "conformance_captures_test")),
    "probe": (("probe", "probe/cases", "probe/plan", "probe/random"), ("probe_test", "tools_probe_ways_test")),
    "weft": (("weft",), ("weft_front_test", "weft_asio_test")),
    "explain": (("explain/model", "explain/text", "explain/tour"), ("explain_model_test", "explain_command_test")),
}
# What follows is an expression: a condition in brackets, or all up to the semicolon.
BEGINNING = re.compile(r"\b(?:if|while) \(|\breturn |(?<=[\w\])]) = ")
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+"}
OPERATOR = re.compile(r"(?<= )(?:<=|>=|==|!=|&&|\|\||[<>+-])(?= )")
NUMBER = re.compile(r"(?<![\w.'<])\d+(?![\w.'>])")
STATEMENT = re.compile(r"^ +((?:[\w:.\[\]]|->)+(?:\(.*\)| = .*|\+\+|--)|(?:\+\+|--)\S+);", re.M)
NO_STATEMENT = re.compile(r"(?:return|if|for|while|case|static_assert|assert|using|delete|throw|friend|explicit|decltype|alignas)\b")
# Whether it is compiled, the preprocessor alone knows: what is not would survive.
CONDITIONAL = re.compile(r"^ *#if.*?^ *#endif", re.M | re.S)
NOT_HERE = re.compile(r"\b(?:constexpr|static_assert|using|template|enum|operator|case|requires|concept)\b|^ *//|\"")


def expression(text, begin, bracket):
    """The expression that begins there, up to its bracket or semicolon; None where it declares, or holds braces, text or a lambda."""
    depth = 0
    for at in range(begin, len(text)):
        if text[at] in "{}\"'" or text.startswith(("//", "[&", "[this", "[]"), at):
            return None
        depth += (text[at] in "([") - (text[at] in ")]")
        if depth < 0 or (text[at] == ";" and depth == 0):
            found = text[begin:at]
            good = (text[at] == ")") == bracket and "," not in re.sub(r"\([^()]*\)", "", found) and not re.search(r"[;?]|[^=!<>]=[^=]", found)
            return found if good else None
    return None


def faults_of(path, text):
    def line_at(at):
        return text[text.rfind("\n", 0, at) + 1:text.find("\n", at)]

    def fault(kind, begin, old, new):
        line = text.count("\n", 0, begin) + 1
        return Fault(f"{path}:{line}", path, old, new, begin=begin, what=kind, near=line_at(begin).strip())

    text = CONDITIONAL.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for match in BEGINNING.finditer(text):
        bracket = match[0].endswith("(")
        old = expression(text, match.end(), bracket)
        if not old or NOT_HERE.search(line_at(match.start())):
            continue
        if match[0] == "if (":
            yield fault("check dropped", match.end(), old, "false")
        numbers = () if path.endswith(".hpp") and old.isdigit() else NUMBER.finditer(old)  # where a member begins, tests seldom see
        for token in (*OPERATOR.finditer(old), *numbers):
            to = OTHER.get(token[0]) or str(int(token[0]) + 1)
            yield fault(f"{token[0]} -> {to}", match.end(), old, old[:token.start()] + to + old[token.end():])
    for match in STATEMENT.finditer(text) if path.endswith(".cpp") else ():
        before = text[:match.start()].rstrip()
        if before[-1] in ";{})" and not NO_STATEMENT.match(match[1]) and match[1].count("(") == match[1].count(")"):
            yield fault("left out", match.start(1), match[1] + ";", "")


def drawn(rows, count, seed):
    """`count` rows of the table, in an order that depends on nothing but the seed and their ids: a new row takes the place of one, at most."""
    return sorted(rows, key=lambda row: hashlib.sha256(f"{seed} {row.id}".encode()).digest())[:count]


def sample(count, seed, first, modules=CORE):
    """`count` faults, of each module as many, in an order that depends on nothing but the seed and the line. Numbers begin with `first`."""
    chosen = []
    for module in modules:
        folders = OTHERS[module][0] if module in OTHERS else (module,)
        every = [fault for folder in folders for path in sorted((ROOT / folder).glob("*.?pp"))
                 for fault in faults_of(str(path.relative_to(ROOT)), path.read_text())]
        twins, order = collections.Counter(), {}
        for fault in every:
            key = f"{seed} {fault.path} {fault.near} {fault.what} {fault.old}"
            twins[key] += 1
            order[fault] = hashlib.sha256(f"{key} {twins[key]}".encode()).digest()
        chosen += sorted(every, key=order.get)[:count // len(modules)]
    for number, fault in enumerate(chosen, first):
        fault.number = number
    return chosen
