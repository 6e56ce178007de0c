// SPDX-License-Identifier: Apache-2.0
#include "weft/error.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "verbs/policy.hpp"

namespace weft {

std::string Error::message() const {
  std::string text;
  if (!operation.empty()) text = fmt::format("{}: ", operation);
  if (segment)
    text += fmt::format("{} octets at {:#x}, lkey {:#x}: ", segment->length, segment->address, segment->lkey);
  text += verbs::Error::message();
  if (stream) {
    text += fmt::format("; Terminate {}: layer {}, type {}, code {:#04x}", stream->remote ? "received" : "sent",
                        stream->layer, stream->type, stream->code);
    if (!stream->clause.empty()) text += fmt::format(", {}", stream->clause);
  }
  return text;
}

std::chrono::milliseconds Deadline::left() const noexcept {
  using std::chrono::milliseconds;
  if (at_ == Clock::time_point::max()) return verbs::kMaxTimeout;
  const auto now = Clock::now();
  if (at_ <= now) return milliseconds(0);  // the difference of a point far in the past does not fit
  return std::min(std::chrono::ceil<milliseconds>(at_ - now), verbs::kMaxTimeout);
}

Error detail::to_error(const verbs::Error& error, std::string_view operation) {
  Error made{error};
  made.operation = operation;
  return made;
}

}  // namespace weft
