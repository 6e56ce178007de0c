// SPDX-License-Identifier: Apache-2.0
// What all sessions have in common: the device and the one completion queue, which a thread waits for.
#pragma once

#include "verbs/verbs.hpp"

namespace weft::tools::probe_peer {

struct Resources {
  verbs::Device device;
  verbs::CompletionChannel channel;
  verbs::CompletionQueue completions;
  // The channel and queue for the receives of connections that are checked only when a Solicited Event arrives.
  verbs::CompletionChannel solicited;
  verbs::CompletionQueue waiting;

  static constexpr std::uint32_t kCompletions = 1U << 20U;  // of each queue; verbs::DeviceLimits::max_cqe
  // Creates the resources of the device that has this address.
  static Resources of(const verbs::Address& local);
};

}  // namespace weft::tools::probe_peer
