# What ctest does with tests that skip (tests/skips): they put it into a list, one for a run.
include_guard()
set(WEFT_SKIPPED_CASES ${PROJECT_BINARY_DIR}/tests/skipped.txt)
get_filename_component(WEFT_SKIPS ${CMAKE_CURRENT_LIST_DIR}/../tests/skips ABSOLUTE)

# weft_tells_skips(NAME): this ctest entry puts what it skips into the list, by gtest_main.cpp or tell.sh. A part that is skipped
# leaves it "Passed"; it ends with 77, ctest's "Skipped", when all is. Not by SKIP_REGULAR_EXPRESSION: where that matches, ctest
# 3.25 looks at no exit code.
function(weft_tells_skips name)
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT_MODIFICATION WEFT_SKIPPED_CASES=set:${WEFT_SKIPPED_CASES})
  set_property(TEST ${name} APPEND PROPERTY FIXTURES_REQUIRED skipped_cases)
endfunction()

# weft_script_test(NAME COMMAND...): a ctest entry of a script that may skip, and says so in words (tell.sh).
function(weft_script_test name)
  add_test(NAME ${name} COMMAND ${WEFT_SKIPS}/tell.sh ${name} ${ARGN})
  weft_tells_skips(${name})
endfunction()

# weft_skipped_cases(): every run of ctest begins with an empty list and ends with the report, whichever entries are chosen: both are
# parts of a fixture of all that may skip. Where the list is not empty, the report is "Skipped", and ctest's last lines name it.
function(weft_skipped_cases)
  add_test(NAME skipped_cases_begin COMMAND ${CMAKE_COMMAND} -E rm -f ${WEFT_SKIPPED_CASES})
  set_tests_properties(skipped_cases_begin PROPERTIES FIXTURES_SETUP skipped_cases)
  set(report skipped_cases_are_in_tests/skipped.txt)
  add_test(NAME ${report} COMMAND ${WEFT_SKIPS}/report.sh --skip ${PROJECT_BINARY_DIR})
  set_tests_properties(${report} PROPERTIES FIXTURES_CLEANUP skipped_cases SKIP_RETURN_CODE 77)
endfunction()
