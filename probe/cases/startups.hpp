// SPDX-License-Identifier: Apache-2.0
// Steps of cases about the MPA startup.
#pragma once
#include <optional>

#include <string>
#include <vector>

#include "probe/cases/steps.hpp"

namespace weft::probe {

// An enhanced Request, with what it says of the depths and the RTR kinds.
[[nodiscard]] StartUp enhanced_request(const mpa::EnhancedData& data);
// A Request for the peer-to-peer model that names all RTR kinds.
inline constexpr mpa::EnhancedData kEveryRtr{
    .peer_to_peer = true, .rtr = {.send = true, .write = true, .read = true}, .ird = 4, .ord = 4};
// An unenhanced Request.
[[nodiscard]] StartUp plain_request(std::uint8_t revision = 1);
// A good Request of the revision that the peer speaks.
[[nodiscard]] StartUp ordinary_request(const Scene& scene);
// Ordinary Requests of each kind that the peer speaks.
[[nodiscard]] std::vector<StartUp> requests_of_each_kind(const Scene& scene);
// Fills in the private data that the profile's peer wants; more of it where `size` says so.
[[nodiscard]] StartUp for_peer(const Scene& scene, StartUp request, std::size_t size = 0);

struct Answered {
  Conversation* by{};
  PeerFrame reply{};
};
// A new connection, the Request as it is, and the peer's Reply, whatever it says.
Answered ask(Scene& scene, const StartUp& request);
// The same with the peer's private data filled in. The Reply accepts, and FPDUs follow. The case does not apply where
// the Request asks for the peer-to-peer model and the peer takes no RTR at all.
Answered expect_accepted(Scene& scene, const StartUp& request);
// The same with Private Data of this size; nothing where the peer closes, whose application's buffer may be smaller
// (MPA-7.1.2-29).
std::optional<Answered> accepted_unless_too_long(Scene& scene, const StartUp& request, std::size_t size);
// The first FPDU: an empty Write. The connection is of use then.
void expect_works(Scene& scene, Conversation& by);

// A new connection whose first octets are these, which are no Request that the peer may take.
Conversation& begin_wrongly(Scene& scene, Bytes octets);
// The same; the peer ends it and sends no octet.
void expect_not_answered(Scene& scene, Bytes octets, const std::string& why);
inline constexpr const char* kBadReply = "the Reply is improperly formatted (MPA-7.1.2-14)";
// The initiator `by` was sent octets that are no good Reply: it ends the connection. Returns whether it told so by a
// Terminate before. RFC 5044 section 8 has TCP closed at once, RFC 6581 section 8 has each error of the enhanced set-up
// tell the peer.
[[nodiscard]] bool expect_end_after_reply(Conversation& by, bool enhanced);
// A warning where it did.
void judge_terminate(bool came);
// The stream ends, and no FPDU comes before that.
void expect_end_without_fpdu(Conversation& by, const std::string& why);

// The peer waits for the rest of a startup, and sends nothing. It may give up by a timeout of its own (MPA-7.1.2-26):
// so the wait is short also where the peer is slow, and a peer that had waited long before is not judged.
void expect_still_waiting(Scene& scene, Conversation& by, const std::string& why);

}  // namespace weft::probe
