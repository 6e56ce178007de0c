// SPDX-License-Identifier: Apache-2.0
// write_table FOLDER FILE: the table of edits with the answers of the native laboratory, a line of JSON for each edit, for
// same_answers.js to give the WebAssembly module.
#include <fstream>
#include <iostream>

#include "explain/laboratory/json.hpp"
#include "explain/laboratory/laboratory.hpp"
#include "tests/explain/laboratory/edits.hpp"

using namespace weft::explain::laboratory;

namespace {

std::string line_of(const test::Edit& edit) {
  Laboratory laboratory(parse_script(edit.script).value());
  JsonWriter json;
  json.object([&] {
    json.key("name").text(edit.name);
    json.key("script").text(edit.script);
    json.key("first").text(to_json(laboratory.start()));
    json.key("acts").array([&] {
      for (const test::Act& act : edit.acts) {
        const Step step = act.octets.empty() ? laboratory.end() : laboratory.feed(act.octets, act.row);
        json.object([&] {
          json.key("octets").octets(act.octets);
          json.key("row").number(act.row);
          json.key("answer").text(to_json(step));
        });
      }
    });
  });
  return json.take();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::ofstream out(argv[2], std::ios::binary);
  const auto table = test::table_of_edits(argv[1]);
  for (const test::Edit& edit : table) out << line_of(edit) << '\n';
  std::cout << table.size() << " edits\n";
  return out.good() ? 0 : 1;
}
