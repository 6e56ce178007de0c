// SPDX-License-Identifier: Apache-2.0
// The MPA startup in all its variants; after it a few messages, so that there is something to see.
#include <optional>

#include "raw_peer.hpp"
#include "recorded.hpp"
#include "scene.hpp"

namespace weft::recordings {

using namespace verbs;
using verbs::test::octets;

namespace {

using Path = const std::string&;

// A short and a long Send each way: with Markers there are some inside FPDUs, and FPDUs with more than one.
void talk(Recorded& r) {
  for (Side* from : {&r.client, &r.server}) {
    r.send(*from, 5);
    r.send(*from, 3000);
  }
  r.close_by(r.client);
}

Scene spoken(std::string name, std::string shows, const Terms& terms) {
  return {std::move(name), std::move(shows), [terms](Path path) {
            Recorded r(path, terms);
            talk(r);
          }};
}

Policy with(Policy policy, bool crc, bool markers) {
  policy.startup.crc = crc;
  policy.startup.markers = markers;
  return policy;
}

Terms framing(bool crc, bool markers_to_initiator, bool markers_to_responder) {
  Terms terms;
  terms.client = with(terms.client, crc, markers_to_initiator);
  terms.server = with(terms.server, crc, markers_to_responder);
  return terms;
}

Terms revision_1(bool crc) {
  Terms terms = framing(crc, false, false);
  terms.client.startup.mpa_revision = 1;
  return terms;
}

Terms depths(Depths client, Depths server) {
  Terms terms;
  terms.client_depths = client;
  terms.server_depths = server;
  return terms;
}

Terms one_asks_for_crc() {
  Terms terms;
  terms.client.startup.crc = false;
  return terms;
}

Terms not_enhanced() {
  Terms terms;
  terms.client.startup.enhanced = false;
  return terms;
}

Terms private_data(bool enhanced, std::size_t size) {
  Terms terms;
  terms.client.startup.enhanced = enhanced;
  terms.request_data = octets(size, 2);
  terms.reply_data = octets(size, 3);
  return terms;
}

Terms over(std::string address) {
  Terms terms;
  terms.address = std::move(address);
  return terms;
}

// The responder speaks first, which nothing but the ready-to-receive indication allows.
void peer_to_peer(Path path, RtrTypes rtr) {
  Terms terms;
  terms.client.startup.peer_to_peer = true;
  terms.client.startup.rtr = terms.server.startup.rtr = rtr;
  Recorded r(path, terms);
  r.send(r.server, 30);
  r.send(r.client, 30);
  r.close_by(r.client);
}

// Markers in FPDUs of the largest size that fits an Ethernet frame of 9000 octets: 17 or 18 of them.
void large_fpdus_with_markers(Path path) {
  Terms terms = framing(true, true, true);
  terms.client.startup.max_ulpdu = terms.server.startup.max_ulpdu = 8900;
  Recorded r(path, terms);
  for (const std::uint32_t length : {1U, 490U, 8000U, 506U, 12000U}) r.send(r.client, length);
  r.read(r.client, 9000);
  r.close_by(r.client);
}

// FPDUs that grow by 4 octets: Markers come to lie at every place, in headers, before and after the CRC too.
void markers_everywhere(Path path) {
  Recorded r(path, framing(true, true, true));
  for (std::uint32_t length = 92; length < 132; length += 4) r.send(r.client, length);
  for (std::uint32_t length = 91; length < 131; length += 4) r.write(r.client, length);
  r.close_by(r.client);
}

// The peer is a plain socket, of an implementation that knows revision 1 alone: it closes without a word (MPA2-10-10).
void fall_back(Path path) {
  auto events = must(EventChannel::create(), "EventChannel");
  Side client;
  const RawListener listener;
  client.end.id = caller(events, listener.local(), {});
  must(set_capture_file(path), "set_capture_file");
  must(client.end.id->connect(*client.end.qp), "connect");
  static_cast<void>(listener.accept().read(mpa::kFixedFrameSize + mpa::kEnhancedDataSize));
  std::optional<RawPeer> peer(std::in_place, listener.accept(), mpa::Framing{.crc = true}, mpa::Framing{.crc = true});
  peer->hear_frame();
  must(set_capture_file(""), "set_capture_file");
  peer->send_frame({.kind = mpa::FrameKind::kReply, .crc = true, .revision = 1});
  expect(events, ConnectionEventType::kEstablished);
  const Sge source = client.memory.sge(0, 10);
  client.run({.opcode = SendOpcode::kSend, .segments = {&source, 1}});
  must(client.end.id->disconnect(), "disconnect");
  peer->hear_end();
  peer.reset();
  expect(events, ConnectionEventType::kDisconnected);
}

void refused_indication(Path path) {
  Terms terms;
  terms.client.startup.peer_to_peer = true;
  terms.client.startup.rtr = {.send = true};
  terms.server.startup.rtr = {.write = true};
  record_failed_start(path, terms);
}

}  // namespace

std::vector<Scene> startup_scenes() {
  return {
      spoken("mpa-1", "MPA revision 1, CRC on", revision_1(true)),
      spoken("mpa-1-no-crc", "MPA revision 1, CRC off at both ends", revision_1(false)),
      spoken("mpa-2", "MPA revision 2: IRD and ORD as both ends have them", depths({8, 8}, {8, 8})),
      spoken("mpa-2-ord-lowered", "the responder lowers its ORD to the initiator's IRD", depths({3, 8}, {16, 64})),
      spoken("mpa-2-ird-short", "the responder's IRD is less than the initiator's ORD, which is lowered to it",
             depths({16, 50}, {5, 16})),
      spoken("mpa-2-ird-zero", "an IRD and ORD of 0: neither end may Read", depths({0, 0}, {0, 0})),
      spoken("mpa-2-not-enhanced", "MPA revision 2 without the enhanced data", not_enhanced()),
      {"mpa-2-to-1", "the peer closes on revision 2, and the initiator tries again with revision 1", fall_back},
      spoken("no-crc", "CRC off at both ends", framing(false, false, false)),
      spoken("crc-asked-by-one", "only the responder asks for CRCs: both send them", one_asks_for_crc()),
      spoken("markers-to-initiator", "the initiator asks for Markers, the responder puts them in",
             framing(true, true, false)),
      spoken("markers-to-responder", "the responder asks for Markers, the initiator puts them in",
             framing(true, false, true)),
      spoken("markers-both-ways", "Markers in both directions", framing(true, true, true)),
      spoken("markers-no-crc", "Markers in both directions, CRC off", framing(false, true, true)),
      {"markers-large-fpdus", "Markers both ways in FPDUs of up to 8900 octets: 17 and more in one",
       large_fpdus_with_markers},
      {"markers-everywhere", "Markers both ways and many small FPDUs: a Marker in header, payload, PAD and CRC",
       markers_everywhere},
      spoken("private-data-512", "512 octets of private data each way, the most there is", private_data(false, 512)),
      spoken("private-data-enhanced", "508 octets of private data each way after the enhanced data",
             private_data(true, 508)),
      {"reject", "the responder's application rejects, with private data",
       [](Path path) { record_rejection(path, private_data(true, 40)); }},
      {"rtr-send", "peer to peer, ready to receive by a Send of no octets; the responder speaks first",
       [](Path path) { peer_to_peer(path, {.send = true}); }},
      {"rtr-write", "peer to peer, ready to receive by an RDMA Write of no octets",
       [](Path path) { peer_to_peer(path, {.write = true}); }},
      {"rtr-read", "peer to peer, ready to receive by an RDMA Read of no octets",
       [](Path path) { peer_to_peer(path, {.read = true}); }},
      {"terminate-2-0-07-no-rtr", "the ends have no ready-to-receive indication in common: the initiator says so",
       refused_indication},
      spoken("ipv6", "a connection over ::1", over("::1")),
  };
}

}  // namespace weft::recordings
