// SPDX-License-Identifier: Apache-2.0
// What weft answers to octets that break a rule. The peer that sends them is a plain socket; its one wrong FPDU follows
// a Send that is right, for before that a responder is silent (MPA-7.1.2-17).
#include <fmt/format.h>

#include <optional>

#include "raw_peer.hpp"
#include "rdmap/atomic_messages.hpp"
#include "recorded.hpp"
#include "scene.hpp"

namespace weft::recordings {

using namespace verbs;
using rdmap::Opcode;

namespace {

constexpr std::uint8_t kReadDepth = 2;  // what the server takes of Reads at a time

struct Sin {
  rdmap::ErrorCode error{};
  const char* name{};
  const char* shows{};
  void (*commit)(RawPeer&);
  bool markers = false;
};

constexpr rdmap::ErrorCode code(std::uint8_t layer, std::uint8_t type, std::uint8_t code) {
  return {static_cast<rdmap::Layer>(layer), type, code};
}

void check(const rdmap::ErrorCode& error, const rdmap::ErrorCode& expected) {
  if (error == expected) return;
  throw std::runtime_error(fmt::format("the Terminate says {}/{}/{:#04x}", std::to_underlying(error.layer),
                                       unsigned{error.type}, unsigned{error.code}));
}

// --- The server's side of it: records what it sees itself

void play(const Sin& sin, const std::string& path) {
  Side server;
  auto events = must(EventChannel::create(), "EventChannel");
  auto listener = must(ConnectionId::create(events), "ConnectionId");
  must(listener.bind_address(verbs::test::loopback("127.0.0.1")), "bind_address");
  must(listener.set_policy({.startup = {.markers = sin.markers}}), "set_policy");
  must(listener.listen(), "listen");
  must(set_capture_file(path), "set_capture_file");
  std::optional<RawPeer> peer(std::in_place, RawSocket(listener.local_address()),
                              mpa::Framing{.crc = true, .markers = sin.markers}, mpa::Framing{.crc = true});
  peer->send_frame({.kind = mpa::FrameKind::kRequest,
                    .crc = true,
                    .revision = 2,
                    .enhanced = mpa::EnhancedData{.ird = kReadDepth, .ord = kReadDepth}});
  auto request = expect(events, ConnectionEventType::kConnectRequest);
  must(set_capture_file(""), "set_capture_file");
  server.post_receive();
  server.post_receive();
  must(request.request->accept(*server.end.qp, {.ird = kReadDepth, .ord = kReadDepth}), "accept");
  peer->hear_frame();
  peer->untagged(Opcode::kSend, 1, pattern(10));
  sin.commit(*peer);
  check(peer->hear_terminate().error, sin.error);
  peer.reset();
  expect(events, ConnectionEventType::kEstablished);
  expect(events, ConnectionEventType::kDisconnected);
}

Scene scene(const Sin& sin) {
  const auto layer = std::to_underlying(sin.error.layer);
  const unsigned type = sin.error.type, value = sin.error.code;
  return {fmt::format("terminate-{}-{}-{:02x}-{}", layer, type, value, sin.name),
          fmt::format("{}: Terminate with layer {}, type {}, code {:#04x}", sin.shows, layer, type, value),
          [sin](const std::string& path) { play(sin, path); }};
}

// --- The initiator is weft, and the responder takes more than it was offered (MPA2-9.1-08)

void too_great_an_ord(const std::string& path) {
  auto events = must(EventChannel::create(), "EventChannel");
  Side client;
  const RawListener listener;
  client.end.id = caller(events, listener.local(), {});
  must(set_capture_file(path), "set_capture_file");
  must(client.end.id->connect(*client.end.qp, {.ird = 2, .ord = 2}), "connect");
  std::optional<RawPeer> peer(std::in_place, listener.accept(), mpa::Framing{.crc = true}, mpa::Framing{.crc = true});
  peer->hear_frame();
  must(set_capture_file(""), "set_capture_file");
  peer->send_frame({.kind = mpa::FrameKind::kReply,
                    .crc = true,
                    .revision = 2,
                    .enhanced = mpa::EnhancedData{.ird = 2, .ord = 200}});
  check(peer->hear_terminate().error, code(2, 0, 0x06));
  peer.reset();
  expect(events, ConnectionEventType::kConnectError);
}

// --- The sins

void changed_control(RawPeer& peer, const ddp::Header& header, std::uint8_t control) {
  Octets ulpdu = RawPeer::ulpdu(header, pattern(8));
  ulpdu[0] = static_cast<std::byte>(control);
  peer.send(peer.fpdu(ulpdu));
}

void read_requests(RawPeer& peer, std::uint32_t count) {
  Octets all;
  for (std::uint32_t msn = 1; msn <= count; ++msn) {
    Octets payload(rdmap::ReadRequestLayout::kSize);
    rdmap::serialize({{7}, {0x70}, 0, {0}, {0}}, payload);
    const Octets fpdu = peer.fpdu(RawPeer::ulpdu(ddp::UntaggedHeader{true, 0x41, 0, 1, {msn}, {0}}, payload));
    all.insert(all.end(), fpdu.begin(), fpdu.end());
  }
  peer.send(all);
}

void unknown_atomic(RawPeer& peer) {
  Octets payload(rdmap::AtomicRequestLayout::kSize);
  rdmap::serialize(rdmap::AtomicRequest{{}, 1, {1}, {0}}, payload);
  rdmap::AtomicRequestLayout::AOpCode::put(payload, 3);
  peer.untagged(Opcode::kAtomicRequest, 1, payload);
}

void wrong_crc(RawPeer& peer) {
  Octets fpdu = peer.fpdu(RawPeer::ulpdu(ddp::UntaggedHeader{true, 0x43, 0, 0, {2}, {0}}, pattern(8)));
  fpdu.back() ^= std::byte{1};
  peer.send(fpdu);
}

// The first Send took a Marker and 36 octets; this FPDU spans the Marker at 512, whose pointer is 4 too great.
void wrong_marker(RawPeer& peer) {
  constexpr std::size_t kMarker = 512 - (4 + 36);
  Octets fpdu = peer.fpdu(RawPeer::ulpdu(ddp::UntaggedHeader{true, 0x43, 0, 0, {2}, {0}}, pattern(600)));
  fpdu[kMarker + 3] ^= std::byte{4};
  repair_crc(fpdu);
  peer.send(fpdu);
}

void cut_short(RawPeer& peer) {
  Octets fpdu = peer.fpdu(RawPeer::ulpdu(ddp::UntaggedHeader{true, 0x43, 0, 0, {2}, {0}}, pattern(8)));
  fpdu.resize(fpdu.size() - 10);
  peer.send(fpdu);
  peer.finish();
}

const std::vector<Sin>& sins() {
  static const std::vector<Sin> all{
      {code(0, 2, 0x05), "rdmap-version", "RV is 2",
       [](RawPeer& p) { p.segment(ddp::UntaggedHeader{true, 0x83, 0, 0, {2}, {0}}, pattern(8)); }},
      {code(0, 2, 0x06), "opcode", "an opcode that is not assigned",
       [](RawPeer& p) { p.segment(ddp::UntaggedHeader{true, 0x4c, 0, 0, {2}, {0}}, pattern(8)); }},
      {code(0, 2, 0x06), "send-on-queue-1", "a Send on the queue of requests",
       [](RawPeer& p) { p.segment(ddp::UntaggedHeader{true, 0x43, 0, 1, {1}, {0}}, pattern(8)); }},
      {code(0, 2, 0x06), "tagged-send", "a Send as a tagged message",
       [](RawPeer& p) { p.tagged(Opcode::kSend, 1, 0, pattern(8)); }},
      {code(0, 2, 0x06), "read-response", "a Read Response without a request",
       [](RawPeer& p) { p.tagged(Opcode::kReadResponse, 1, 0, pattern(8)); }},
      {code(0, 2, 0x06), "atomic-opcode", "an Atomic Request with an AOpCode that is not assigned", unknown_atomic},
      {code(0, 2, 0xff), "read-request-short", "a Read Request of 27 octets",
       [](RawPeer& p) { p.untagged(Opcode::kReadRequest, 1, pattern(27)); }},
      {code(0, 2, 0xff), "immediate-long", "Immediate Data of 9 octets",
       [](RawPeer& p) { p.untagged(Opcode::kImmediate, 2, pattern(9)); }},
      {code(0, 2, 0xff), "ulpdu-short", "a ULPDU of 5 octets, too short for a DDP header",
       [](RawPeer& p) { p.send(p.fpdu(pattern(5))); }},
      {code(1, 1, 0x04), "ddp-version-tagged", "DV is 2 in a tagged segment",
       [](RawPeer& p) { changed_control(p, ddp::TaggedHeader{true, 0x40, {1}, {0}}, 0xc2); }},
      {code(1, 2, 0x01), "queue", "a Send on queue 4, which does not exist",
       [](RawPeer& p) { p.segment(ddp::UntaggedHeader{true, 0x43, 0, 4, {1}, {0}}, pattern(8)); }},
      {code(1, 2, 0x02), "ird", "one Read Request more than the IRD of 2", [](RawPeer& p) { read_requests(p, 3); }},
      {code(1, 2, 0x02), "atomic-response", "an Atomic Response without a request",
       [](RawPeer& p) { p.untagged(Opcode::kAtomicResponse, 1, pattern(12)); }},
      {code(1, 2, 0x03), "msn", "an MSN is left out", [](RawPeer& p) { p.untagged(Opcode::kSend, 3, pattern(8)); }},
      {code(1, 2, 0x04), "mo", "a Send begins at MO 8",
       [](RawPeer& p) { p.untagged(Opcode::kSend, 2, pattern(8), 8); }},
      {code(1, 2, 0x06), "ddp-version-untagged", "DV is 2 in an untagged segment",
       [](RawPeer& p) { changed_control(p, ddp::UntaggedHeader{true, 0x43, 0, 0, {2}, {0}}, 0x42); }},
      {code(2, 0, 0x01), "cut", "the peer's FIN comes inside an FPDU", cut_short},
      {code(2, 0, 0x02), "crc", "the CRC of an FPDU is wrong", wrong_crc},
      {code(2, 0, 0x03), "marker", "a Marker points to where no FPDU begins", wrong_marker, true},
  };
  return all;
}

}  // namespace

std::vector<Scene> hostile_scenes() {
  std::vector<Scene> scenes;
  for (const Sin& sin : sins()) scenes.push_back(scene(sin));
  scenes.push_back(
      {"terminate-2-0-06-ird",
       "the ORD of the Reply is greater than the IRD of the Request: Terminate with layer 2, type 0, code 0x06",
       too_great_an_ord});
  return scenes;
}

}  // namespace weft::recordings
