// SPDX-License-Identifier: Apache-2.0
#include "verbs/live_streams.hpp"

#include "verbs/progress/runtime.hpp"
#include "verbs/stream/stream.hpp"

namespace weft::verbs {

std::vector<LiveStream> live_streams() {
  const auto runtime = detail::Runtime::running();  // outlives the streams below
  if (!runtime) return {};
  std::vector<LiveStream> all;
  for (const auto& stream : runtime->streams()) {
    if (const auto one = stream->describe()) all.push_back(*one);
  }
  return all;
}

}  // namespace weft::verbs
