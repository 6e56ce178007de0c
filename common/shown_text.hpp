// SPDX-License-Identifier: Apache-2.0
/// @file
/// Text of unknown origin: file names, names in certificates, octets of a peer, comments in a capture. It passes this
/// function before it reaches a terminal, a log, JSON, XML or HTML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

/// Says what becomes of line feeds.
enum class Lines : std::uint8_t {
  kOne,      ///< blanks: the text cannot forge a line of its own
  kSeveral,  ///< they stay
};

/// Returns well-formed UTF-8 that only shows characters (RFC 3629).
/// Each octet that is not part of a well-formed sequence becomes U+FFFD. So does each control character (ESC, NUL, DEL,
/// U+0080 to U+009F; not the line feed), U+FFFE, U+FFFF and the like, which XML excludes, and each character that turns
/// the direction of writing. The result does not change if it passes again. It has no escapes of any format: JSON, XML
/// and HTML add theirs.
[[nodiscard]] std::string shown_text(std::string_view text, Lines lines = Lines::kOne);

}  // namespace weft
