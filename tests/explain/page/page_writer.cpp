// SPDX-License-Identifier: Apache-2.0
// Writes the page for the tests in a browser: page_writer MODEL.json [LABORATORY.wasm] > page.html
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <string>

#include "explain/page/page.hpp"

namespace {

std::string octets_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string model = octets_of(argv[1]);
  const std::string wasm = argc > 2 ? octets_of(argv[2]) : std::string();
  weft::explain::write_page(std::cout, model, std::as_bytes(std::span(wasm)));
  return std::cout.flush() ? 0 : 1;
}
