// SPDX-License-Identifier: Apache-2.0
// The ways to a peer that connects: the prober listens, reads the peer's Request and answers it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "probe/way.hpp"

namespace weft::probe {

// A peer that the prober has started. Its end: the process is ended, and has been waited for.
class StartedPeer {
 public:
  virtual ~StartedPeer() = default;
  [[nodiscard]] virtual bool running() = 0;
};

// A Reply that fits the Request: `wanted`, but for what the Request leaves no choice of.
[[nodiscard]] StartUp fitting_reply(const mpa::StartupFrame& request, StartUp wanted = {});

// How connections come to the prober. The calls come from any thread, one at a time.
struct Listening {
  std::unique_ptr<ListeningSocket> socket{};
  // Starts a peer, which connects to `socket`: once for each connection; a probe-peer (profile "weft") connects again by
  // itself and is started once. Absent: a person or a script starts it. Throws Judgement.
  std::function<std::unique_ptr<StartedPeer>()> start{};
  // Called where a person or a script has to start the peer, before each wait.
  std::function<void()> tell_waiting{};
  // Says that the wait for a connection is to be given up. May be absent.
  std::function<bool()> stopped{};
  // How long such a connection is waited for.
  Duration wait = std::chrono::seconds(60);
};

// `profile`: "weft", "raw", "rping"; empty where there is none of that name.
[[nodiscard]] std::unique_ptr<Way> way_from_peer(std::string_view profile, Listening listening);

}  // namespace weft::probe
