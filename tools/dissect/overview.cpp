// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/overview.hpp"

#include <fmt/format.h>

namespace weft::tools::dissect {

void Overview::take(const Watched& watched, const conformance::Seen& seen) {
  Kept& kept = kept_.try_emplace(watched.connection, style_.all).first->second;
  kept.ladder.take(seen, times_, [&](Entry entry) {
    if (style_.live) return print_live(watched, kept, entry);
    kept.folding.add(std::move(entry));
  });
}

void Overview::over(const Watched& watched) {
  const auto found = kept_.find(watched.connection);
  if (found == kept_.end()) return;
  if (!found->second.folding.empty()) {
    std::string text = heading(watched, true);
    found->second.folding.each([&](const Rung& rung) {
      text += std::visit([&](const auto& one) { return text_of(one, style_.look); }, rung);
    });
    print_(text + '\n');
  }
  kept_.erase(found);
}

void Overview::print_live(const Watched& watched, Kept& kept, const Entry& entry) {
  if (!kept.headed) {
    print_(heading(watched, false));
  } else if (printed_ != watched.connection) {
    print_(style_.look.palette.paint(Colour::kBold, fmt::format("connection {}", watched.connection)) + '\n');
  }
  kept.headed = true;
  printed_ = watched.connection;
  print_(text_of(entry, style_.look));
}

std::string Overview::heading(const Watched& watched, bool over) const {
  return heading_text({.connection = watched.connection,
                       .info = &watched.info,
                       .initiator = watched.walk.initiator().value_or(conformance::End::kFirst),
                       .roles_known = watched.walk.roles_known(),
                       .over = over},
                      style_.look);
}

}  // namespace weft::tools::dissect
