// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/ladder_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text.hpp"
#include "rdmap/opcodes.hpp"
#include "tools/audit/text_finding.hpp"
#include "tools/cli/wrap.hpp"
#include "tools/dissect/lines.hpp"
#include "tools/dissect/words.hpp"

namespace weft::tools::dissect {

using conformance::Direction;

namespace {

constexpr std::size_t kArrow = 4;  // the shortest, and a blank: " -->"
constexpr std::size_t kNarrowBelow = 60;

struct Columns {
  bool narrow{};         // the margin stands in a line of its own
  std::size_t margin{};  // time, packet; or an indent
  std::size_t inner{};
};

Columns columns_for(std::size_t width) {
  const bool narrow = width < kNarrowBelow;
  const std::size_t margin = narrow ? 2 : 23;
  return {narrow, margin, width - margin};
}

std::string margin(const Entry& entry) {
  return fmt::format("{:>12} {:>8}  ", seconds_text(entry.time), entry.packet());  // packets may stand in any order
}

std::string arrow(std::size_t length, bool to_the_right) {
  const std::string shaft(length - 2, '-');
  return to_the_right ? ' ' + shaft + '>' : '<' + shaft + ' ';
}

// The line with its arrow, or without one (`arrow_length` 0), on its sender's side.
std::string placed(const Line& line, std::size_t arrow_length, bool left, std::size_t inner, const Palette& palette) {
  const std::string shaft = arrow_length == 0 ? "" : palette.paint(Colour::kDim, arrow(arrow_length, left));
  const std::string filler(left ? 0 : inner - std::min(inner, arrow_length + line.width()), ' ');
  return left ? line.painted(palette) + shaft : filler + shaft + line.painted(palette);
}

Parts parts_of(const Entry& entry) {
  if (const auto* message = entry.message()) return words_of(*message);
  return std::get<Note>(entry.what).parts;
}

// "[2001:db8:...:17]:7174" where the whole is too long for its column.
std::string abbreviated(const conformance::ConnectionEnd& end) {
  constexpr std::size_t kMost = 15;  // an IPv4 address
  constexpr std::size_t kEach = 6;   // of the front and of the back
  const std::string& address = end.address;
  if (address.empty()) return "?";
  if (address.find(':') == std::string::npos || address.size() <= kMost) return audit::address_of(end);
  return fmt::format("[{}...{}]:{}", address.substr(0, kEach), address.substr(address.size() - kEach), end.port);
}

// What RDMAP's own messages carry are headers.
bool carries_payload(std::uint8_t opcode) {
  const auto* row = rdmap::find_opcode(opcode);
  return row == nullptr || row->content == rdmap::Content::kPlaced;
}

std::string fold_row(const Fold::Kind& kind) {
  return fmt::format("{}: {} more {} message{}{}", audit::who(kind.from), kind.messages, name_of(kind.opcode),
                     kind.messages == 1 ? "" : "s", carries_payload(kind.opcode) ? ", " + size_text(kind.octets) : "");
}

std::vector<std::string> fold_rows(const Fold& fold) {
  std::vector<std::string> rows;
  for (const Fold::Kind& kind : fold.kinds) rows.push_back(fold_row(kind));
  if (fold.notes != 0) rows.push_back(fmt::format("{} more remarks", fold.notes));
  return rows;
}

}  // namespace

std::string heading_text(const Heading& heading, const Look& look) {
  const Columns columns = columns_for(look.width);
  const auto& info = *heading.info;
  const bool first = heading.initiator == conformance::End::kFirst;
  const std::string left = fmt::format("{} {}", heading.roles_known ? "initiator" : "initiator?",
                                       abbreviated(first ? info.first : info.second));
  const std::string right = fmt::format("{} {}", abbreviated(first ? info.second : info.first),
                                        heading.roles_known ? "responder" : "responder?");
  const std::string packets =
      heading.over ? fmt::format(", packets {} to {}", info.first_packet, info.last_packet) : "";
  const bool beside = left.size() + 1 + right.size() <= columns.inner;
  const std::string margin = columns.narrow ? "  " : fmt::format("{:>12} {:>8}  ", "seconds", "packet");
  const std::string ends = beside ? left + fmt::format("{:>{}}", right, columns.inner - left.size())
                                  : fmt::format("{}\n{:>{}}", left, right, look.width);
  std::string head =
      wrap(fmt::format("connection {}{}{}", heading.connection, packets, audit::path_of(info)), look.width, 2);
  head.pop_back();  // the end of its last line
  return fmt::format("{}\n{}\n", look.palette.paint(Colour::kBold, head),
                     look.palette.paint(Colour::kBold, margin + ends));
}

std::string text_of(const Entry& entry, const Look& look) {
  const Columns columns = columns_for(look.width);
  const bool left = entry.from() == Direction::kFromInitiator;
  const auto* note = std::get_if<Note>(&entry.what);
  const bool sent = note == nullptr || note->sent;
  const auto lines = lines_of(parts_of(entry), columns.inner - kArrow);
  std::string when = margin(entry);
  if (columns.narrow) when.erase(when.find_last_not_of(' ') + 1);
  const std::string begin = look.palette.paint(Colour::kDim, when);
  std::string text = columns.narrow ? begin + '\n' : "";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t room = columns.inner - std::min(columns.inner, lines[i].width());
    const std::size_t arrow_length = i == 0 && sent ? std::max(room, kArrow - 1) : 0;
    text += i == 0 && !columns.narrow ? begin : std::string(columns.margin, ' ');
    text += placed(lines[i], arrow_length, left, columns.inner, look.palette) + '\n';
  }
  return text;
}

std::string text_of(const Fold& fold, const Look& look) {
  const Columns columns = columns_for(look.width);
  const std::size_t margin = columns.narrow ? columns.margin + 4 : columns.margin;
  std::vector<std::string> rows = fold_rows(fold);
  const std::string where = fmt::format("packets {} to {}", fold.first_packet, fold.last_packet);
  if (rows.size() == 1 && rows.front().size() + 2 + where.size() <= look.width - margin) {
    rows.front() += ", " + where;
  } else {
    rows.insert(rows.begin(), where + ':');
  }
  std::string text;
  for (const std::string& row : rows)
    text +=
        fmt::format("{:>{}}{}\n", &row == &rows.front() ? "... " : "", margin, look.palette.paint(Colour::kDim, row));
  return wrap(text, look.width);
}

}  // namespace weft::tools::dissect
