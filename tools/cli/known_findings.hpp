// SPDX-License-Identifier: Apache-2.0
// --known FILE of weft audit and weft probe: findings that are expected, for the CI of an implementation with known
// bugs. Known findings are reported and do not count for the exit code; new ones do.
//
// One finding per line:
//
//     # firmware 1.2
//     MPA-4.4-13 responder    # ticket 4711
//     crc-wrong-write         # a case of weft probe
//
// The first word is the whole id of a clause (weft audit --list), the whole name of a case (weft probe --list), or the
// first labels of combinations ("crc.first"). A
// second word restricts it to one end: initiator, responder or both. "#" begins a comment, which is the reason if it
// follows a finding. One file serves both commands: each ignores the ids that only the other has.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/outcome.hpp"

namespace weft::tools {

struct KnownFinding {
  std::string id{};
  std::string end{};     // "initiator", "responder" or "both"; empty: any
  std::string reason{};  // the comment in its line; may be empty
  std::size_t line{};    // of the file, from 1
  bool occurred{};       // covers() has matched it
};

class KnownFindings {
 public:
  static constexpr std::size_t kMostText = std::size_t{1} << 20;  // octets of a file

  // Reads a file. Fails with ExitCode::kUsage and a sentence that names --known, the file and the line, also if
  // `exists` rejects an id: a misspelled one would never match. Without a name (`path` is empty) nothing is known.
  using Exists = std::function<bool(std::string_view id)>;
  [[nodiscard]] static Outcome<KnownFindings> read(const std::string& path, const Exists& exists);
  // The same for the content of a file. `name` is for sentences.
  [[nodiscard]] static Outcome<KnownFindings> parse(std::string_view text, const std::string& name,
                                                    const Exists& exists);

  // Returns the first entry for a finding, or null if it is new, and notes that all entries for it have occurred.
  // `end` is who broke the rule, where the command knows.
  [[nodiscard]] const KnownFinding* covers(std::string_view id, std::string_view end = {});

  // Entries that covers() has not matched, in the order of the file, of those whose id `ran` accepts: an id that the
  // run did not check (--only, --skip, the other command's) is not absent.
  [[nodiscard]] std::vector<const KnownFinding*> absent(const Exists& ran) const;

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::string name_{};
  std::vector<KnownFinding> entries_{};
};

// Returns whether weft audit has a rule or weft probe has a case with this id: the `exists` of both commands.
[[nodiscard]] bool is_rule_or_case(std::string_view id);

// "MPA-4.4-13 by the responder (line 3 of known.txt: ticket 4711)"
[[nodiscard]] std::string in_words(const KnownFinding& known, const std::string& file);

}  // namespace weft::tools
