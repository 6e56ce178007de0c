// SPDX-License-Identifier: Apache-2.0
#include "probe/way_listening.hpp"

#include <algorithm>

#include "probe/from_peer.hpp"

namespace weft::probe {
namespace {

// A peer of which nothing is known but that it connects.
class FromRaw : public FromPeer {
 public:
  using FromPeer::FromPeer;
  [[nodiscard]] std::string_view profile() const override { return "raw"; }
  [[nodiscard]] std::uint32_t offers() const override { return kConnects | kStream; }
  [[nodiscard]] unsigned most_at_a_time() const override { return 1; }
};

// `rping -c`: its first FPDU is a Send that names its buffer.
class FromRping final : public FromRaw {
 public:
  using FromRaw::FromRaw;
  [[nodiscard]] std::string_view profile() const override { return "rping"; }

 protected:
  [[nodiscard]] bool speaks_besides() const override { return true; }
};

}  // namespace

StartUp fitting_reply(const mpa::StartupFrame& request, StartUp wanted) {
  if (!request.enhanced) {  // MPA2-10-06
    wanted.enhanced.reset();
    wanted.revision = 1;
    return wanted;
  }
  wanted.revision = 2;
  if (!wanted.enhanced) wanted.enhanced = mpa::EnhancedData{.ird = 16, .ord = 16};
  mpa::EnhancedData& ours = *wanted.enhanced;
  ours.peer_to_peer = request.enhanced->peer_to_peer;
  ours.rtr = ours.peer_to_peer ? request.enhanced->rtr : mpa::RtrTypes{};
  const bool negotiated = request.enhanced->ird != mpa::kNoNegotiation && ours.ord != mpa::kNoNegotiation;
  if (negotiated) ours.ord = std::min(ours.ord, request.enhanced->ird);  // MPA2-9.1-10
  return wanted;
}

std::unique_ptr<Way> way_from_peer(std::string_view profile, Listening listening) {
  if (profile == "weft") return way_from_peer_program(std::move(listening));
  if (profile == "raw") return std::make_unique<FromRaw>(std::move(listening));
  if (profile == "rping") return std::make_unique<FromRping>(std::move(listening));
  return nullptr;
}

}  // namespace weft::probe
