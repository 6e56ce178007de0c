// SPDX-License-Identifier: Apache-2.0
// What weft answers when an application goes wrong: no octet on the wire breaks a rule, and a Terminate ends the
// stream. Each scene looks for the error's layer, type and code at the end that the Terminate reached.
#include <fmt/format.h>

#include "recorded.hpp"
#include "scene.hpp"

namespace weft::recordings {

using namespace verbs;

namespace {

struct Code {
  std::uint8_t layer{}, type{}, code{};
};

enum class Told : std::uint8_t { kClient, kServer };  // whom the Terminate reaches

struct Mistake {
  Code error{};
  const char* name{};
  const char* shows{};
  void (*make)(Recorded&);
  Terms terms{};
  Told told = Told::kClient;
};

void check(const AsyncEvent& event, const Code& expected) {
  if (!event.error || !event.error->remote) throw std::runtime_error("no Terminate came");
  const StreamError& error = *event.error;
  if (error.layer == expected.layer && error.type == expected.type && error.code == expected.code) return;
  throw std::runtime_error(fmt::format("the Terminate says {}/{}/{:#04x}", error.layer, error.type, error.code));
}

Scene scene(const Mistake& mistake) {
  const Code& code = mistake.error;
  return {fmt::format("terminate-{}-{}-{:02x}-{}", code.layer, code.type, code.code, mistake.name),
          fmt::format("{}: Terminate with layer {}, type {}, code {:#04x}", mistake.shows, code.layer, code.type,
                      code.code),
          [mistake](const std::string& path) {
            Recorded r(path, mistake.terms);
            r.send(r.client, 10);
            mistake.make(r);
            check((mistake.told == Told::kClient ? r.client : r.server).end.next_async(), mistake.error);
            r.await_end();
          }};
}

// --- What the client asks of the server's memory

// A right that the region lacks, or a key that is none, or a place outside.
struct Target {
  std::uint32_t rkey{};
  std::uint64_t offset{};
};

Target unknown(Recorded& r) { return {r.server.memory.region.rkey() ^ 1, r.server.memory.remote()}; }
Target across_the_end(Recorded& r) { return {r.server.memory.region.rkey(), r.server.memory.remote() + 16384 - 8}; }
Target behind(Recorded& r) { return {r.server.memory.region.rkey(), r.server.memory.remote() + 16384}; }
Target wrapping(Recorded& r) { return {r.server.memory.region.rkey(), ~0ULL - 7}; }
Target unaligned(Recorded& r) { return {r.server.memory.region.rkey(), r.server.memory.remote() + 4}; }

void ask(Recorded& r, SendOpcode opcode, const Target& target) {
  const Sge local = r.client.memory.sge(0, opcode == SendOpcode::kFetchAndAdd ? 8 : 64);
  r.client.post({.opcode = opcode,
                 .segments = {&local, 1},
                 .remote_address = target.offset,
                 .rkey = target.rkey,
                 .swap_or_add = 1});
}

template <SendOpcode opcode, Target (*target)(Recorded&)>
void ask_for(Recorded& r) {
  ask(r, opcode, target(r));
}

// The region lives until the server has refused.
template <SendOpcode opcode>
void without_right(Recorded& r) {
  const Access others = opcode == SendOpcode::kRdmaRead ? Access::kRemoteWrite : Access::kRemoteRead;
  const Buffer closed(r.server.end, 64, Access::kLocalWrite | others);
  ask(r, opcode, {closed.region.rkey(), closed.remote()});
  r.server.end.next_async();
}

template <SendOpcode opcode>
void of_another_domain(Recorded& r) {
  auto domain = must(r.server.end.device.allocate_protection_domain(), "domain");
  std::vector<std::byte> octets(64);
  const auto region = must(domain.register_memory(octets.data(), octets.size(), kAllAccess), "register_memory");
  ask(r, opcode, {region.rkey(), region.iova()});
  r.server.end.next_async();
}

void read_after_invalidation(Recorded& r) {
  const Buffer exposed(r.server.end, 64, kAllAccess, {.only_for = &*r.server.end.qp});
  r.send_invalidating(r.client, 5, exposed.region.rkey());
  ask(r, SendOpcode::kRdmaRead, {exposed.region.rkey(), exposed.remote()});
  r.server.end.next_async();
}

// A region that every queue pair of its domain may use is not for a peer to invalidate (RDMAP-8.1.1-07).
void invalidate_shared(Recorded& r) {
  r.server.post_receive();
  r.client.post({.opcode = SendOpcode::kSendWithInvalidate, .invalidate_rkey = r.server.memory.region.rkey()});
}

// --- What has no place to go

void send_nobody_waits_for(Recorded& r) {
  const Sge source = r.client.memory.sge(0, 8);
  r.client.post({.opcode = SendOpcode::kSend, .segments = {&source, 1}});
}

void send_too_long(Recorded& r) {
  const Sge source = r.client.memory.sge(0, 100);
  const Sge sink = r.server.inbox.sge(0, 99);
  must(r.server.end.qp->post_receive({.segments = {&sink, 1}}), "post_receive");
  r.client.post({.opcode = SendOpcode::kSend, .segments = {&source, 1}});
}

// --- What is the sender's own fault: it says so

void wrong_lkey(Recorded& r) {
  Sge source = r.client.memory.sge(0, 8);
  source.lkey ^= 1;
  r.client.post({.opcode = SendOpcode::kSend, .segments = {&source, 1}});
}

Terms strict() {
  Terms terms;
  terms.server.startup.no_receive = NoReceive::kTerminate;
  return terms;
}

constexpr auto kWrite = SendOpcode::kRdmaWrite;
constexpr auto kRead = SendOpcode::kRdmaRead;
constexpr auto kAdd = SendOpcode::kFetchAndAdd;

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all{
      {{0, 0, 0x00},
       "local",
       "a Send from memory that its own application did not register",
       wrong_lkey,
       {},
       Told::kServer},
      {{0, 1, 0x00}, "read-stag", "a Read of an unknown STag", ask_for<kRead, unknown>},
      {{0, 1, 0x00}, "read-invalidated", "a Read of an STag that a Send has invalidated", read_after_invalidation},
      {{0, 1, 0x01}, "read-bounds", "a Read beyond the end of the region", ask_for<kRead, across_the_end>},
      {{0, 1, 0x02}, "read-rights", "a Read of memory that grants Writes alone", without_right<kRead>},
      {{0, 1, 0x03}, "read-domain", "a Read of another Protection Domain's memory", of_another_domain<kRead>},
      {{0, 1, 0x04}, "read-wrap", "a Read that passes 2^64", ask_for<kRead, wrapping>},
      {{0, 1, 0x00}, "atomic-stag", "a FetchAdd on an unknown STag", ask_for<kAdd, unknown>},
      {{0, 1, 0x01}, "atomic-bounds", "a FetchAdd past the end of the region", ask_for<kAdd, behind>},
      {{0, 1, 0x02}, "atomic-rights", "a FetchAdd on memory that grants Reads alone", without_right<kAdd>},
      {{0, 2, 0x07}, "atomic-unaligned", "a FetchAdd at an offset that is no multiple of 8", ask_for<kAdd, unaligned>},
      {{0, 1, 0x09},
       "invalidate",
       "a Send with Invalidate of an STag that the peer may not invalidate",
       invalidate_shared},
      {{1, 1, 0x00}, "write-stag", "a Write to an unknown STag", ask_for<kWrite, unknown>},
      {{1, 1, 0x00}, "write-rights", "a Write to memory that grants Reads alone", without_right<kWrite>},
      {{1, 1, 0x01}, "write-bounds", "a Write beyond the end of the region", ask_for<kWrite, across_the_end>},
      {{1, 1, 0x02}, "write-domain", "a Write to another Protection Domain's memory", of_another_domain<kWrite>},
      {{1, 1, 0x03}, "write-wrap", "a Write that passes 2^64", ask_for<kWrite, wrapping>},
      {{1, 2, 0x02}, "no-receive", "a Send for which no receive is posted", send_nobody_waits_for, strict()},
      {{1, 2, 0x05}, "too-long", "a Send of 100 octets into a receive of 99", send_too_long},
  };
  return all;
}

}  // namespace

std::vector<Scene> terminate_scenes() {
  std::vector<Scene> scenes;
  for (const Mistake& mistake : mistakes()) scenes.push_back(scene(mistake));
  return scenes;
}

}  // namespace weft::recordings
