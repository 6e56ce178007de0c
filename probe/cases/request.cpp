// SPDX-License-Identifier: Apache-2.0
// The MPA Request, RFC 5044 section 7.1: what a Responder makes of wrong ones.
#include "probe/cases/cases.hpp"
#include "probe/cases/errors.hpp"
#include "probe/scene.hpp"

namespace weft::probe {
namespace request {
namespace {

constexpr const char* kBadRequest = "the Request is improperly formatted (MPA-7.1.2-04)";

// Each octet of the key by itself.
void each_octet_of_the_key(Scene& scene) {
  const auto right = forge(mpa::FrameKind::kRequest, {});
  for (std::size_t at = 0; at < mpa::kKeySize; ++at) {
    auto request = right;
    request[at] ^= std::byte{0x20};
    Conversation& by = scene.dial();
    by.exchange().prober_breaks_startup = true;
    by.send(request);
    by.expect_end(kBadRequest);
  }
}

}  // namespace
}  // namespace request

std::span<const Case> request_cases() {
  using namespace request;
  static const std::vector<Case> cases{
      {.name = "request-key",
       .clause = "MPA-7.1.1-03",
       .what = "Sixteen Requests, each with another octet of the key altered: the peer closes each connection, and "
               "sends no Reply.",
       .needs = kListens,
       .run = each_octet_of_the_key,
       .also = {"MPA-7.1.2-04", "MPA-7.1.2-18", "MPA-8-04", "MPA-8-09"}},
  };
  return cases;
}

}  // namespace weft::probe
