// SPDX-License-Identifier: Apache-2.0
// write_table FOLDER FILE MODULE: the table of edits with the answers of the native laboratory, a line of JSON for each edit,
// for same_answers.js to give the WebAssembly module. And is that what laboratory_octets() puts into a page?
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

#include "common/json.hpp"
#include "explain/laboratory/laboratory.hpp"
#include "explain/laboratory/octets.hpp"
#include "tests/explain/laboratory/edits.hpp"

using namespace weft::explain::laboratory;

namespace {

std::string line_of(const test::Edit& edit) {
  Laboratory laboratory(parse_script(edit.script).value());
  weft::JsonWriter json(weft::JsonForm::kCompact);
  json.put("name", edit.name).put("script", edit.script).put("first", to_json(laboratory.start())).begin_array("acts");
  for (const test::Act& act : edit.acts) {
    const Step step = act.octets.empty() ? laboratory.end() : laboratory.feed(act.octets, act.row);
    json.begin_object().put("octets", act.octets).put("row", act.row).put("answer", to_json(step)).end();
  }
  return json.finish();
}

bool is_in_library(const char* module) {
  std::ifstream in(module, std::ios::binary);
  const std::string octets{std::istreambuf_iterator<char>(in), {}};
  return !octets.empty() && std::ranges::equal(std::as_bytes(std::span(octets)), weft::explain::laboratory_octets());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  if (!is_in_library(argv[3])) {
    std::cout << "laboratory_octets() are not those of " << argv[3] << '\n';
    return 1;
  }
  std::ofstream out(argv[2], std::ios::binary);
  const auto table = test::table_of_edits(argv[1]);
  for (const test::Edit& edit : table) out << line_of(edit) << '\n';
  std::cout << table.size() << " edits\n";
  return out.good() ? 0 : 1;
}
