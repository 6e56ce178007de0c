# SPDX-License-Identifier: Apache-2.0
"""What the sanitizers said of a program, and which of its leaks count: memory that the drop-in libraries allocated, unless the
program itself never gives the object back."""
import re
import shutil

# (programs, function that made the object). Whatever hangs on such an object goes with it.
NEVER_GIVEN_BACK = (
    ("ib_.*", "weft::compat::get_device_list"),  # perftest 4.5 has no call of ibv_free_device_list in it
    ("ib_.*", "weft::compat::open_device"),      # with -R it opens the device, goes on with rdma_cm's open, and closes neither
    ("ib_atomic_lat", "weft::compat::cm_getaddrinfo"),  # its server, which only answers, ends without giving back anything
    ("ib_atomic_lat", "weft::compat::reg_mr"),
)
SYMBOLIZER = shutil.which("llvm-symbolizer") or shutil.which("llvm-symbolizer-19")  # NEVER_GIVEN_BACK needs names
OURS = re.compile(r"/lib(weft|ibverbs|rdmacm)\.so")
# weft calls no asprintf(). The C library keeps no frame pointers, so its frames are followed by what was on the stack before.
FORMATTED = re.compile(r"#1 __vasprintf_internal ")
LEAK = re.compile(r"^(?:Direct|Indirect) leak of .*\n(?:    #.*\n)*", re.M)
FAULT = re.compile(r"^.*(?:ERROR: AddressSanitizer|: runtime error: |LeakSanitizer has encountered a fatal error).*$", re.M)


def environment(folder, program):
    """NAME=value for env(1)."""
    suppressions = folder / f"leaks-of-{program}"
    lines = (f"leak:{function}\n" for programs, function in NEVER_GIVEN_BACK if re.fullmatch(programs, program))
    suppressions.write_text("".join(lines))
    return (
        f"ASAN_SYMBOLIZER_PATH={SYMBOLIZER or ''}",
        "ASAN_OPTIONS=stack_trace_format='    #%n %f %S (%m)':detect_stack_use_after_return=1",
        "UBSAN_OPTIONS=print_stacktrace=1",
        # exitcode: programs leak memory of their own too. findings() looks at what was leaked.
        f"LSAN_OPTIONS=exitcode=0:print_suppressions=0:suppressions={suppressions}",
    )


def findings(who, text):
    leaked = [leak for leak in LEAK.findall(text) if OURS.search(leak) and not FORMATTED.search(leak)]
    if leaked or FAULT.search(text):
        return [f"{who}: a sanitizer's report:\n" + ("\n".join(leaked) or text)]
    return []
