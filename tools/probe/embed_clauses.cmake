# SPDX-License-Identifier: Apache-2.0
# Writes the catalogue of clauses as octets of a C++ source, so that the command needs no file of its own:
#   cmake "-DCATALOGUE=mpa.csv|ddp.csv" -DOUT=clause_octets.cpp -P embed_clauses.cmake
string(REPLACE "|" ";" catalogue "${CATALOGUE}")
set(octets)
foreach(file IN LISTS catalogue)
  file(READ ${file} more HEX)
  string(APPEND octets "${more}")
endforeach()
string(REGEX REPLACE "(................................)" "\\1\n" octets "${octets}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," octets "${octets}")
file(WRITE ${OUT} "// SPDX-License-Identifier: Apache-2.0
// Written by tools/probe/embed_clauses.cmake.
#include \"tools/probe/clause_octets.hpp\"

namespace weft::tools::probing {
namespace {
constexpr unsigned char kClauseOctets[] = {
${octets}};
}  // namespace

std::span<const unsigned char> clause_octets() noexcept { return kClauseOctets; }

}  // namespace weft::tools::probing
")
