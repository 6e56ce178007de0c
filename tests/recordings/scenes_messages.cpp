// SPDX-License-Identifier: Apache-2.0
// Every operation of RFC 5040 and RFC 7306, and the ways in which a connection ends.
#include <array>

#include "recorded.hpp"
#include "scene.hpp"

namespace weft::recordings {

using namespace verbs;

namespace {

using Path = const std::string&;
using Play = void (*)(Recorded&);

Scene closing(std::string name, std::string shows, Play play, const Terms& terms = {}) {
  return {std::move(name), std::move(shows), [play, terms](Path path) {
            Recorded r(path, terms);
            play(r);
            r.close_by(r.client);
          }};
}

Terms ulpdus_of(std::uint32_t octets) {
  Terms terms;
  terms.client.startup.max_ulpdu = terms.server.startup.max_ulpdu = octets;
  return terms;
}

Terms deep_reads() {
  Terms terms;
  terms.client_depths = terms.server_depths = {16, 16};
  return terms;
}

void sends(Recorded& r) {
  for (const std::uint32_t length : {0U, 1U, 2U, 3U, 4U, 100U, 3000U}) r.send(r.client, length);
  for (const std::uint32_t length : {0U, 10U, 2000U}) r.send(r.client, length, SendFlags::kSolicited);
}

void invalidations(Recorded& r) {
  const Buffer first(r.server.end, 64, kAllAccess, {.only_for = &*r.server.end.qp});
  const Buffer second(r.server.end, 64, kAllAccess, {.only_for = &*r.server.end.qp});
  r.send_invalidating(r.client, 5, first.region.rkey());
  r.send_invalidating(r.client, 2000, second.region.rkey(), SendFlags::kSolicited);
}

void writes(Recorded& r) {
  for (const std::uint32_t length : {0U, 1U, 7U, 1000U, 5000U}) r.write(r.client, length);
}

void write_of_many_fpdus(Recorded& r) { r.write(r.client, 5000); }

void reads(Recorded& r) {
  for (const std::uint32_t length : {0U, 1U, 7U, 1000U, 5000U}) r.read(r.client, length);
}

// As many as the ORD allows, and one that has to wait.
void outstanding_reads(Recorded& r) {
  constexpr int kReads = 17;
  const Sge sink = r.client.memory.sge(0, 100);
  for (int i = 0; i < kReads; ++i) {
    SendRequest read = access(SendOpcode::kRdmaRead, sink, r.server.memory, static_cast<std::uint64_t>(i) * 100);
    if (i == kReads - 1) read.flags = SendFlags::kSignaled;
    r.client.post(read);
  }
  if (r.client.end.next().status != WcStatus::kSuccess) throw std::runtime_error("a Read failed");
}

void immediates(Recorded& r) {
  r.immediate(r.client);
  r.immediate(r.client, SendFlags::kSolicited);
}

void writes_with_immediate(Recorded& r) {
  for (const std::uint32_t length : {0U, 20U, 3000U}) r.write_with_immediate(r.client, length);
}

SendRequest atomic(Recorded& r, const Sge& result, SendOpcode opcode) {
  return access(opcode, result, r.server.memory, 8);
}

void fetch_and_add(Recorded& r) {
  const Sge result = r.client.memory.sge(0, 8);
  SendRequest add = atomic(r, result, SendOpcode::kFetchAndAdd);
  add.swap_or_add = 0x0102030405060708;
  r.client.run(add);
  add.masked_add = true;
  add.swap_or_add_mask = 0x8000'0000'8000'0000;  // two additions of 32 bits
  r.client.run(add);
}

void compare_and_swap(Recorded& r) {
  const Sge result = r.client.memory.sge(0, 8);
  SendRequest swap = atomic(r, result, SendOpcode::kCompareAndSwap);
  swap.swap_or_add = 0x1112131415161718;
  swap.compare_mask = 0;  // compares nothing, and so swaps
  r.client.run(swap);
  swap.compare_mask = ~0ULL;
  swap.compare = swap.swap_or_add;  // equal: swaps
  swap.swap_or_add = 1;
  r.client.run(swap);
  r.client.run(swap);  // not equal any more
  swap.compare = 1;
  swap.compare_mask = 0xff;
  swap.swap_or_add = 0x2200;
  swap.swap_or_add_mask = 0xff00;
  r.client.run(swap);
}

// All kinds at once, in both directions: answers travel between the other end's requests.
void both_ways(Recorded& r) {
  r.send(r.client, 8);  // the initiator speaks first (MPA-7.1.2-17)
  const std::array<Side*, 2> sides{&r.client, &r.server};
  for (Side* side : sides) {
    for (int i = 0; i < 4; ++i) side->post_receive();
  }
  for (Side* side : sides) {
    const Buffer& target = r.peer_of(*side).memory;
    const Sge part = side->memory.sge(8192, 600);
    for (int i = 0; i < 4; ++i) {
      side->post({.opcode = SendOpcode::kSend, .segments = {&part, 1}});
      side->post(access(SendOpcode::kRdmaWrite, part, target, 2048));
      SendRequest read = access(SendOpcode::kRdmaRead, part, target, 4096);
      if (i == 3) read.flags = SendFlags::kSignaled;
      side->post(read);
    }
  }
  for (Side* side : sides) {
    for (int i = 0; i < 5; ++i) {  // four messages received, and the last Read
      if (side->end.next().status != WcStatus::kSuccess) throw std::runtime_error("an operation failed");
    }
  }
}

void everything(Recorded& r) {
  for (const Play play : {sends, invalidations, writes, reads, immediates, writes_with_immediate, fetch_and_add,
                          compare_and_swap, both_ways}) {
    play(r);
  }
}

Terms all_off() {
  Terms terms;
  terms.client.startup.mpa_revision = 1;
  terms.client.startup.crc = terms.server.startup.crc = false;
  return terms;
}

Terms all_on() {
  Terms terms;
  terms.client.startup.markers = terms.server.startup.markers = true;
  return terms;
}

void closed_by_responder(Path path) {
  Recorded r(path);
  r.send(r.client, 100);
  r.close_by(r.server);
}

// The queue pair is destroyed: RDMAP-6.2-03.
void aborted(Path path) {
  Recorded r(path);
  r.send(r.client, 100);
  r.client.end.qp.reset();
  r.await_end();
}

}  // namespace

std::vector<Scene> message_scenes() {
  return {
      closing("send", "Sends of 0 to 3000 octets, and with Solicited Event", sends),
      closing("send-invalidate", "Send with Invalidate, Send with Solicited Event and Invalidate", invalidations),
      closing("write", "RDMA Writes of 0 to 5000 octets", writes),
      closing("write-many-fpdus", "one RDMA Write of 5000 octets in FPDUs of 128: 44 segments", write_of_many_fpdus,
              ulpdus_of(128)),
      closing("read", "RDMA Reads of 0 to 5000 octets", reads),
      closing("read-outstanding", "17 RDMA Reads with an ORD of 16: the last waits for an answer", outstanding_reads,
              deep_reads()),
      closing("immediate", "Immediate Data, and with Solicited Event", immediates),
      closing("write-immediate", "RDMA Writes of 0 to 3000 octets with Immediate Data", writes_with_immediate),
      closing("fetch-add", "FetchAdd of 64 bits, and of two fields by its mask", fetch_and_add),
      closing("cmp-swap", "CmpSwap: as a plain swap, equal, not equal, and with masks", compare_and_swap),
      closing("both-ways", "Sends, Writes and Reads in both directions at once", both_ways),
      closing("everything-no-crc", "all operations on one connection: MPA revision 1, CRC off", everything, all_off()),
      closing("everything-markers", "all operations on one connection: CRC and Markers", everything, all_on()),
      {"close-by-responder", "the responder closes first", closed_by_responder},
      {"abort", "the initiator's application gives up: RST", aborted},
  };
}

}  // namespace weft::recordings
