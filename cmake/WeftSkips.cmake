# What ctest does with tests that skip: an entry that has skipped anything, whole or in part, ends with 77 and is reported as "Skipped", not
# "Passed". tests/skips/report.sh shows the cases with their reasons.
include_guard()
get_filename_component(WEFT_SKIPS ${CMAKE_CURRENT_LIST_DIR}/../tests/skips ABSOLUTE)

# weft_tells_skips(NAME): an entry that ends with 77 by itself (gtest_main.cpp). Not by SKIP_REGULAR_EXPRESSION: where that matches, ctest
# 3.25 looks at no exit code.
function(weft_tells_skips name)
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# weft_script_test(NAME COMMAND...): a ctest entry of a script that may skip, and says so in words (tell.sh).
function(weft_script_test name)
  add_test(NAME ${name} COMMAND ${WEFT_SKIPS}/tell.sh ${ARGN})
  weft_tells_skips(${name})
endfunction()
