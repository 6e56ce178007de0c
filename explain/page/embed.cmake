# SPDX-License-Identifier: Apache-2.0
# Joins the page's assets to one HTML text and writes it as octets of a C++ source:
#   cmake -DPAGE=.../explain/page -DLABORATORY=.../laboratory.js -DOUT=page_octets.cpp -P embed.cmake
# LABORATORY may name a file that is not there: then the page has none. Included (not run), it gives the list of the assets.

# In this order: what is used stands in front of what uses it.
set(styles colours base parts help layout ladder octets card memory story laboratory narrow print)
set(scripts dom model layers terms bits lessons octet_ranges virtual_list tabs themes ladder boxes pointers card arithmetic
            field_table octets_view regions memory_view story_view pieces run_control lab_list lab_editor lab_answer
            experiments lab_experiments lab_view find keys printing main)

if(NOT CMAKE_SCRIPT_MODE_FILE)
  list(TRANSFORM styles REPLACE "(.+)" "${CMAKE_CURRENT_LIST_DIR}/css/\\1.css" OUTPUT_VARIABLE WEFT_PAGE_ASSETS)
  list(TRANSFORM scripts REPLACE "(.+)" "${CMAKE_CURRENT_LIST_DIR}/js/\\1.js" OUTPUT_VARIABLE script_files)
  list(APPEND WEFT_PAGE_ASSETS ${script_files} ${CMAKE_CURRENT_LIST_DIR}/page.html)
  return()
endif()

function(join out folder suffix)
  set(text)
  foreach(name IN LISTS ARGN)
    file(READ ${PAGE}/${folder}/${name}.${suffix} more)
    string(APPEND text "${more}")
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

join(style_text css css ${styles})
join(script_text js js ${scripts})
set(laboratory_text)
if(EXISTS "${LABORATORY}")
  file(READ ${LABORATORY} laboratory_text)
endif()
foreach(text IN ITEMS script_text laboratory_text)
  if(${text} MATCHES "</[sS][cC][rR][iI][pP][tT]")
    message(FATAL_ERROR "A script of the page has the words that end a script: they would end it")
  endif()
endforeach()

file(READ ${PAGE}/page.html page)
string(REPLACE "@WEFT_STYLES@\n" "${style_text}" page "${page}")
string(REPLACE "@WEFT_SCRIPTS@\n" "${script_text}" page "${page}")
string(REPLACE "@WEFT_LABORATORY@\n" "${laboratory_text}" page "${page}")
file(WRITE ${OUT}.html "${page}")
file(READ ${OUT}.html octets HEX)
string(REGEX REPLACE "(................................)" "\\1\n" octets "${octets}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," octets "${octets}")
file(WRITE ${OUT} "// SPDX-License-Identifier: Apache-2.0
// Written by explain/page/embed.cmake.
#include \"explain/page/page_octets.hpp\"

namespace weft::explain {
namespace {
constexpr unsigned char kOctets[] = {
${octets}};
}  // namespace

std::span<const unsigned char> page_octets() noexcept { return kOctets; }

}  // namespace weft::explain
")
