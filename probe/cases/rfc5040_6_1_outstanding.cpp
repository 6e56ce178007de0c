// SPDX-License-Identifier: Apache-2.0
// Reads that wait for Responses: how many there are, and what waits with them. RFC 5040 sections 5.5 and 6.1.
#include <algorithm>
#include <thread>

#include "probe/cases/steps.hpp"
#include "probe/peer_program.hpp"

namespace weft::probe {
namespace outstanding_cases {
namespace {

const Wanted kRead = message_of(rdmap::Opcode::kReadRequest);

// A connection whose IRD is this, on which the peer has this many Reads of 16 octets to do.
Conversation& begin_reads(Scene& scene, std::uint16_t ird, std::uint16_t reads) {
  Opening opening;
  opening.start_up.enhanced->ird = ird;
  opening.wish.ord = ird;
  Conversation& by = scene.connect(opening);
  scene.order(by,
              {.operation = Order::kRead, .count = reads, .length = 16, .stag = Scene::kOwnStag, .offset = {0x3000}});
  return by;
}
void answer(Conversation& by, const rdmap::ReadRequest& request) {
  by.send_ulpdu(by.make().read_response(request.sink_stag, request.sink_offset, pattern(16)));
}

}  // namespace
}  // namespace outstanding_cases

void add_outstanding_cases(Cases& cases) {
  using namespace outstanding_cases;
  // RDMAP-6.1-05: RDMAP provides the negotiated maximum of inbound outstanding Read Requests.
  cases.add({.name = "read-as-many-as-allowed",
             .clause = "RDMAP-6.1-05",
             .what = "As many Reads at once as the IRD says are all answered, in their order.",
             .needs = kOrders | kRegions,
             .also = {"RDMAP-5.2.2-03", "RDMAP-5.2.1-02", "RDMAP-B-09", "MPA2-3-01", "SEC-2.2.8-01"}}) =
      [](Scene& scene) {
        // As many as the Reply says, in one segment, also where we could have more: all are answered, in their order.
        // They are long, and not taken at first, so that none is answered when the last one comes.
        for (const std::uint16_t ord : {std::uint16_t{8}, std::uint16_t{64}}) {
          Opening opening;
          opening.wish.ird = 8;
          opening.start_up.enhanced->ord = ord;
          opening.socket.receive_buffer = 4096;
          Conversation& by = scene.connect(opening);
          const Region region = scene.region(Region::kPlain, kReadWrite);
          // Our wish, and not the peer, has its IRD be less than our ORD (MPA2-9.1-04).
          by.exchange().prober_breaks_startup = ord != 8;
          const std::uint64_t many = std::min<std::size_t>(by.peer_ird().value_or(8), ord);
          Burst all(by);
          for (std::uint64_t i = 0; i < many; ++i) {
            auto request = read_of(region.stag, region.offset, 60'000);
            request.sink_offset = {i << 16U};
            all.add(by.make().read_request(request));
          }
          all.send();
          std::this_thread::sleep_for(scene.quiet() / 10);
          by.socket().set({.receive_buffer = 1 << 20});
          for (std::uint64_t i = 0; i < many; ++i) by.expect_read_response(Scene::kOwnStag, {i << 16U}, 60'000);
        }
      };

  // RDMAP-6.1-08: RDMAP does not have more outbound Read Requests outstanding than negotiated.
  cases.add({.name = "order-within-ord",
             .clause = "RDMAP-6.1-08",
             .what = "Our IRD is 1: the peer has three Reads to send, and each waits for the answer to the one before.",
             .needs = kOrders,
             .also = {"MPA2-9.1-10", "MPA2-3-02", "SEC-6.4.3.3-04"}}) = [](Scene& scene) {
    // We take one Read at a time: the peer's second Request comes when the first is answered, and not before.
    Conversation& by = begin_reads(scene, 1, 3);
    for (int i = 0; i < 3; ++i) {
      const auto request = by.expect_read_request(16);
      by.expect_silence(scene.quiet(), "our IRD is 1, and a Read is outstanding", kRead);
      answer(by, request);
    }
    expect_requests_done(scene, by, 3);
  };

  // RDMAP-6.1-06: RDMAP provides the negotiated maximum of outbound outstanding Read Requests.
  cases.add({.name = "order-up-to-ord",
             .clause = "RDMAP-6.1-06",
             .what = "Our IRD is 4: of six Reads of the peer's four come without an answer.",
             .needs = kOrders}) = [](Scene& scene) {
    // We take four at a time: four Requests come without an answer.
    Conversation& by = begin_reads(scene, 4, 6);
    std::vector<rdmap::ReadRequest> all;
    for (int i = 0; i < 4; ++i) all.push_back(by.expect_read_request(16));
    by.expect_silence(scene.quiet(), "our IRD is 4, and four Reads are outstanding", kRead);
    for (const auto& request : all) answer(by, request);
    for (int i = 0; i < 2; ++i) answer(by, by.expect_read_request(16));
    expect_requests_done(scene, by, 6);
  };

  // RDMAP-5.5-16: A ULP that must not see later data in a Read fences the later Write or Send until all its Reads
  // completed.
  cases.add({.name = "order-fence",
             .clause = "RDMAP-5.5-16",
             .what = "A fenced Send of the peer's waits for its Read.",
             .needs = kReads | kOrders}) = [](Scene& scene) {
    // Work after a fence waits for the Reads before it.
    Conversation& by = scene.connect();
    const auto request = scene.provoke_read(by, {0x3000}, 16);
    scene.order(by, {.operation = Order::kSend, .flags = Order::kFence, .length = 4});
    by.expect_silence(scene.quiet(), "a fenced Send waits for the Read before it", send_of(4));
    answer(by, request);
    by.expect_message(rdmap::Opcode::kSend, nullptr, send_of(4));
  };

  // RDMAP-5.5-23: A Read does not complete at the Local Peer before DDP delivers its Read Response.
  cases.add(
      {.name = "order-while-read-waits",
       .clause = "RDMAP-5.5-23",
       .what = "The peer's Read waits for our Response: its stream goes on, and the Read does not complete before.",
       .needs = kReads | kOrders}) = [](Scene& scene) {
    // With a Read of the peer's that is not answered yet, its stream goes on taking what we send.
    Conversation& by = scene.connect();
    const auto request = scene.provoke_read(by, {0x3000}, 16);
    by.send_ulpdu(by.make().send(serialize(Order{.operation = Order::kReport})));
    if (expect_report(by).requests_done != 0) fail("the peer's Read completed before its Response came");
    answer(by, request);
    expect_requests_done(scene, by, 1);
  };
}

}  // namespace weft::probe
