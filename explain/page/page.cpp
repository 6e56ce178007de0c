// SPDX-License-Identifier: Apache-2.0
#include "explain/page/page.hpp"

#include <ostream>

namespace weft::explain {

void write_page(std::ostream& out, std::string_view model_json, std::span<const std::byte>) {
  out << "<!doctype html><meta charset=\"utf-8\"><title>weft explain</title><script>window.weft = {model: "
      << model_json << "};</script>\n";
}

}  // namespace weft::explain
