// SPDX-License-Identifier: Apache-2.0
// Connections to a peer that connects: the prober listens, reads the Request of the peer and answers it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "probe/way.hpp"

namespace weft::probe {

// A peer that the prober has started. The destructor ends the process and waits for it.
class StartedPeer {
 public:
  virtual ~StartedPeer() = default;
  [[nodiscard]] virtual bool running() = 0;
};

// A Reply that fits the Request: `wanted`, but for what the Request leaves no choice of.
[[nodiscard]] StartUp fitting_reply(const mpa::StartupFrame& request, StartUp wanted = {});

// How the prober gets connections. Any thread may call the functions, one at a time.
struct Listening {
  std::unique_ptr<ListeningSocket> socket{};
  // Starts a peer, which connects to `socket`: once for each connection; a probe-peer (profile "weft") connects again
  // by itself and is started once. Absent: a person or a script starts it. Throws Judgement.
  std::function<std::unique_ptr<StartedPeer>()> start{};
  // Called where a person or a script has to start the peer, before each wait.
  std::function<void()> tell_waiting{};
  // The initiator's first message, but for the ready-to-receive one, is left to the case: profile "raw".
  bool leaves_first{};
  // Says that the wait for a connection is to be given up. May be absent.
  std::function<bool()> stopped{};
  // How long such a connection is waited for.
  Duration wait = std::chrono::seconds(60);
};

// `profile`: "weft", "raw", "rping"; empty where there is none of that name.
[[nodiscard]] std::unique_ptr<Way> way_from_peer(std::string_view profile, Listening listening);

}  // namespace weft::probe
