// SPDX-License-Identifier: Apache-2.0
// RDMA Read, RFC 5040 section 5.2: the peer as responder.
#include <fmt/format.h>

#include <array>

#include "probe/cases/steps.hpp"

namespace weft::probe {
namespace reads_cases {
namespace {

void refused_read(Conversation& by, const rdmap::ReadRequest& request, const Errors& any_of) {
  expect_refused(by, by.make().read_request(request), any_of);
}
void refused_read(Scene& scene, Region::Kind kind, std::uint8_t rights, std::int64_t from, std::uint32_t size,
                  const Errors& any_of) {
  Conversation& by = scene.connect();
  const Region region = scene.region(kind, rights);
  refused_read(by, read_of(region.stag, at(region, from), size), any_of);
}

}  // namespace
}  // namespace reads_cases

void add_reads_cases(Cases& cases) {
  using namespace reads_cases;
  // RDMAP-5.2.1-11: A valid Read Request is answered with a valid Read Response.
  cases.add({.name = "read-sizes",
             .clause = "RDMAP-5.2.1-11",
             .what = "Reads of 1 to 65,536 octets from even and odd places bring what is there.",
             .needs = kRegions,
             .also = {"RDMAP-4.4-08", "RDMAP-4.4-09", "RDMAP-5.2.1-03", "RDMAP-5.2.1-10", "RDMAP-5.2.2-06"}}) =
      [](Scene& scene) {
        // Sizes and places that are edges, with sinks that mean nothing here.
        Conversation& by = scene.connect();
        const Region region = scene.region(Region::kPlain, kReadWrite);
        for (const auto& [from, size] : {std::pair{0U, 1U}, std::pair{1U, 3U}, std::pair{0U, 65536U},
                                         std::pair{65535U, 1U}, std::pair{777U, 30000U}}) {
          const auto octets = scene.read_back(by, region, from, size);
          for (std::size_t i = 0; i < size; ++i) {
            if (octets[i] != first_content(region, from + i))
              fail(fmt::format("a Read of {} octets from {} brought something else at {}", size, from, i));
          }
        }
      };

  // RDMAP-4.4-03: The Data Source copies SinkSTag without interpreting it into the STag of the Read Response.
  cases.add({.name = "read-sink-copied",
             .clause = "RDMAP-4.4-03",
             .what = "The sink's STag and TO come back in the Response, whatever they are.",
             .needs = kRegions,
             .also = {"RDMAP-4.4-05"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    for (const auto& [stag, offset] :
         {std::pair{0U, 0ULL}, std::pair{0xFFFFFFFFU, 0x8000000000000001ULL}, std::pair{1U, ~0ULL - 3}}) {
      auto request = read_of(region.stag, region.offset, 4);
      request.sink_stag = {stag};
      request.sink_offset = {offset};
      by.send_ulpdu(by.make().read_request(request));
      by.expect_read_response({stag}, {offset}, 4);
    }
  };

  // RDMAP-4.4-06: A wrap of SinkTO is caught by DDP at the Data Sink when the Response arrives and not by the
  // responder.
  cases.add({.name = "read-sink-wraps",
             .clause = "RDMAP-4.4-06",
             .what = "A sink whose TO passes 2^64 does not concern the responder: the Read is answered.",
             .needs = kRegions}) = [](Scene& scene) {
    // A sink that wraps is the requester's own matter.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    auto request = read_of(region.stag, region.offset, 16);
    request.sink_offset = {~0ULL - 3};
    by.send_ulpdu(by.make().read_request(request));
    by.expect_read_response(Scene::kOwnStag, {~0ULL - 3}, 16);
  };

  // RDMAP-5.2.1-14: For RDMARDSZ=0 the responder does not validate SrcSTag and SrcTO.
  cases.add({.name = "read-zero-length",
             .clause = "RDMAP-5.2.1-14",
             .what = "Reads of no octets are answered, with whatever source STag and TO.",
             .needs = kStream,
             .also = {"RDMAP-5.2.1-12", "SEC-6.3.5-04"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    for (const auto& [stag, offset] : {std::pair{0U, 0ULL}, std::pair{kNoSuchStag.value, ~0ULL}}) {
      by.send_ulpdu(by.make().read_request(read_of({stag}, {offset}, 0)));
      by.expect_read_response(Scene::kOwnStag, {0x10000}, 0);
    }
  };

  // RDMAP-5.2.1-15: A zero-length Read Request is answered with a zero-length Read Response.
  cases.add(
      {.name = "read-zero-length-among-others",
       .clause = "RDMAP-5.2.1-15",
       .what = "Reads of 64 octets and of none come in one segment: each is answered by as many octets as it asks for.",
       .needs = kRegions}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    constexpr std::array<std::uint32_t, 5> kSizes{64, 0, 64, 0, 0};
    Burst reads(by);
    for (const std::uint32_t size : kSizes)
      reads.add(by.make().read_request(read_of(size != 0 ? region.stag : ddp::Stag{}, region.offset, size)));
    reads.send();
    for (const std::uint32_t size : kSizes) by.expect_read_response(Scene::kOwnStag, {0x10000}, size);
  };

  // RDMAP-5.2.1-14: For RDMARDSZ=0 the responder does not validate SrcSTag and SrcTO.
  cases.add({.name = "read-zero-length-write-only",
             .clause = "RDMAP-5.2.1-14",
             .what = "A Read of no octets from memory without remote read access is answered.",
             .needs = kRegions,
             .also = {"SEC-6.3.5-04"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, Region::kWrite);
    by.send_ulpdu(by.make().read_request(read_of(region.stag, region.offset, 0)));
    by.expect_read_response(Scene::kOwnStag, {0x10000}, 0);
  };

  // RDMAP-7.2-09: For a non-zero-length Read Request the SrcSTag is valid.
  cases.add({.name = "read-unknown-stag",
             .clause = "RDMAP-7.2-09",
             .what = "A Read from an STag that does not exist: Terminate 0/1/00 with both headers of the Request.",
             .needs = kStream,
             .also = {"RDMAP-4.8-20", "RDMAP-4.8-24", "RDMAP-4.8-38", "RDMAP-5.2.1-05", "RDMAP-5.2.1-13",
                      "RDMAP-7.1-04", "RDMAP-3.2-09", "RDMAP-7.2-04", "SEC-5.1.1-01"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    refused_read(by, read_of(kNoSuchStag, {0x5000}, 64), {kReadStag});
  };

  // RDMAP-7.2-09: For a non-zero-length Read Request the SrcSTag is valid.
  cases.add({.name = "read-revoked",
             .clause = "RDMAP-7.2-09",
             .what = "A Read from an STag that was deregistered: Terminate 0/1/00.",
             .needs = kRegions}) = [](Scene& scene) {
    refused_read(scene, Region::kRevoked, kAllRights, 0, 8, {kReadStag});
  };

  // RDMAP-7.2-10: For a non-zero-length Read Request the SrcSTag is associated with this stream.
  cases.add({.name = "read-other-domain",
             .clause = "RDMAP-7.2-10",
             .what = "A Read from an STag of another protection domain is refused.",
             .needs = kRegions,
             .also = {"RDMAP-4.8-27", "SEC-6.1.1-03", "RDMAP-8.1.1-01", "DDP-8.3.1-02"}}) = [](Scene& scene) {
    refused_read(scene, Region::kForeign, kAllRights, 0, 8, {kReadNotAssociated, kReadStag});
  };

  // RDMAP-7.2-10: For a non-zero-length Read Request the SrcSTag is associated with this stream.
  cases.add({.name = "read-other-stream",
             .clause = "RDMAP-7.2-10",
             .what = "A Read from an STag of another stream is refused.",
             .needs = kRegions,
             .also = {"SEC-6.1.1-04", "RDMAP-8.1.1-02", "DDP-8.3.1-03"}}) = [](Scene& scene) {
    refused_read(scene, Region::kOtherStream, kAllRights, 0, 8, {kReadNotAssociated, kReadStag});
  };

  // RDMAP-7.2-11: For a non-zero-length Read Request the SrcSTag has remote read access.
  cases.add({.name = "read-no-right",
             .clause = "RDMAP-7.2-11",
             .what = "Reads from memory without remote read access: Terminate 0/1/02.",
             .needs = kRegions,
             .also = {"RDMAP-4.8-26", "SEC-6.3.5-02", "SEC-2.2.2-02"}}) = [](Scene& scene) {
    for (const std::uint8_t rights : std::array<std::uint8_t, 3>{0, Region::kWrite, Region::kAtomic})
      refused_read(scene, Region::kPlain, rights, 0, 8, {kReadRights});
  };

  // RDMAP-7.2-12: For a non-zero-length Read Request SrcTO lies in the legal offsets of SrcSTag.
  cases.add(
      {.name = "read-below",
       .clause = "RDMAP-7.2-12",
       .what = "A Read that begins one octet before the region: Terminate 0/1/01 (or 0/1/04 below an offset of 0).",
       .needs = kRegions,
       .also = {"RDMAP-4.8-25", "DDP-8.3.1-04"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    refused_read(by, read_of(region.stag, at(region, -1), 8), bounds_errors(false, at(region, -1), 8));
  };

  // RDMAP-7.2-12: For a non-zero-length Read Request SrcTO lies in the legal offsets of SrcSTag.
  cases.add({.name = "read-beyond",
             .clause = "RDMAP-7.2-12",
             .what = "A Read that begins past the end of the region: Terminate 0/1/01.",
             .needs = kRegions}) = [](Scene& scene) {
    refused_read(scene, Region::kPlain, kReadWrite, 1 << 16, 1, {kReadBounds});
  };

  // RDMAP-7.2-13: For a non-zero-length Read Request SrcTO plus RDMARDSZ lies in the legal offsets of SrcSTag.
  cases.add({.name = "read-across",
             .clause = "RDMAP-7.2-13",
             .what = "The last octet can be read; one more: Terminate 0/1/01.",
             .needs = kRegions,
             .also = {"SEC-6.2.1-01", "SEC-6.2.1-02", "SEC-6.3.1-01", "RDMAP-8.1.1-03"}}) = [](Scene& scene) {
    for (const Region::Kind kind : {Region::kPlain, Region::kOdd, Region::kTop}) {
      Conversation& by = scene.connect();
      const Region region = scene.region(kind, kReadWrite);
      scene.read_back(by, region, region.length - 1, 1);
      refused_read(by, read_of(region.stag, at(region, std::int64_t{region.length} - 7), 8), {kReadBounds});
    }
  };

  // RDMAP-7.2-14: For a non-zero-length Read Request SrcTO plus RDMARDSZ does not wrap 2^64.
  cases.add({.name = "read-wrap",
             .clause = "RDMAP-7.2-14",
             .what = "SrcTO plus length passes 2^64: Terminate 0/1/04, or 0/1/01, for the bounds are broken too.",
             .needs = kRegions,
             .also = {"RDMAP-4.8-28"},
             .last = true}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    refused_read(by, read_of(region.stag, {~0ULL}, 2), {kReadWrap, kReadBounds});
  };

  // RDMAP-7.2-13: For a non-zero-length Read Request SrcTO plus RDMARDSZ lies in the legal offsets of SrcSTag.
  cases.add({.name = "read-largest",
             .clause = "RDMAP-7.2-13",
             .what = "A Read of 2^32 - 1 octets: Terminate 0/1/01, and not an octet of it.",
             .needs = kRegions,
             .last = true}) = [](Scene& scene) {
    refused_read(scene, Region::kPlain, kReadWrite, 0, 0xFFFFFFFF, {kReadBounds});
  };

  // RDMAP-4.2-02: Read Request and Terminate carry no ULP payload.
  cases.add({.name = "read-wrong-length",
             .clause = "RDMAP-4.2-02",
             .what = "Read Requests of 0, 27, 29 and 56 octets end the stream.",
             .needs = kStream}) = [](Scene& scene) {
    // A Read Request whose length is not 28 octets. The RFC has no code for it; that it is refused is what matters.
    for (const std::size_t size : {std::size_t{0}, std::size_t{27}, std::size_t{29}, std::size_t{56}}) {
      Conversation& by = scene.connect();
      std::vector<std::byte> payload(size);
      const auto ulpdu = by.make().send(payload, rdmap::Opcode::kReadRequest);
      by.send_ulpdu(ulpdu);
      by.expect_end_sometime("the Read Request's length is wrong", scene.patience());
    }
  };

  // RDMAP-6.1-09: RDMAP does not accept more inbound outstanding Read Requests than negotiated.
  cases.add({.name = "read-more-than-allowed",
             .clause = "RDMAP-6.1-09",
             .what = "64 long Reads at once, and the IRD is 1: the stream ends by a Terminate.",
             .needs = kOrders | kRegions,
             .also = {"RDMAP-5.2.1-02", "SEC-6.4.3.3-03"}}) = [](Scene& scene) {
    // The peer has said that it takes one Read at a time. Long ones come all at once, while we take no octet of the
    // first answer: one more than allowed is refused, or (where the peer was so fast that the first was answered) all
    // are served.
    Opening opening;
    opening.wish.ird = 1;
    opening.start_up.enhanced->ord = 1;
    opening.socket.receive_buffer = 4096;
    Conversation& by = scene.connect(opening);
    by.exceed_ird();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    Burst all(by);
    constexpr int kRequests = 64;
    for (int i = 0; i < kRequests; ++i) all.add(by.make().read_request(read_of(region.stag, region.offset, 65536)));
    all.send();
    by.expect_terminate({kNoBuffer, kMsnRange, kStreamError});
  };

  // RDMAP-5.2.1-08: Read Requests are processed in the order in which they were sent.
  cases.add({.name = "read-of-the-peer",
             .clause = "RDMAP-5.2.1-08",
             .what = "The peer reads 0 to 4000 octets of ours: the auditor judges its Requests.",
             .needs = kReads | kOrders}) = [](Scene& scene) {
    // Reads of the peer's own, for the auditor; what we answer is right.
    Conversation& by = scene.connect();
    for (const std::uint32_t size : {0U, 1U, 9U, 4000U}) {
      const auto request = scene.provoke_read(by, {0x7000}, size);
      if (request.size != size ||
          (size != 0 && (request.source_stag != Scene::kOwnStag || request.source_offset.value != 0x7000)))
        fail("the peer's Read Request names another source than it was told");
      by.send_ulpdu(by.make().read_response(request.sink_stag, request.sink_offset, pattern(size)));
    }
    scene.expect_alive(by);
  };
}

}  // namespace weft::probe
