// SPDX-License-Identifier: Apache-2.0
// Two weft endpoints, connected over a loopback address, of which the client's view is recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/verbs/loopback.hpp"

namespace weft::recordings {

using verbs::test::Buffer;
using verbs::test::End;
using verbs::test::must;

struct Depths {
  std::optional<std::uint32_t> ird{}, ord{};
};

// 1400 octets an FPDU: how many there are does not depend on the MTU of the machine's loopback interface.
inline constexpr std::uint32_t kMaxUlpdu = 1400;

struct Terms {
  std::string address = "127.0.0.1";
  verbs::Policy client{.startup = {.max_ulpdu = kMaxUlpdu}};
  verbs::Policy server{.startup = {.max_ulpdu = kMaxUlpdu}};
  Depths client_depths{}, server_depths{};
  std::vector<std::byte> request_data{}, reply_data{};
};

// One end, with memory for what the scenes do.
struct Side {
  Side();
  End end;
  Buffer memory;  // source, sink and target of everything one-sided; all rights
  Buffer inbox;   // where every receive goes

  void post_receive();
  void post(verbs::SendRequest request);
  // Signals it, and waits until it has succeeded.
  void run(verbs::SendRequest request);
  void await_receive();
};

// What one end does with the other's memory, from and to the beginning of its own.
verbs::SendRequest access(verbs::SendOpcode opcode, const verbs::Sge& local, const Buffer& target,
                          std::uint64_t offset = 0);

class Recorded {
 public:
  explicit Recorded(const std::string& path, const Terms& terms = {});  // established

  verbs::EventChannel server_events, client_events;
  verbs::ConnectionId listener;
  Side client, server;

  // --- Each operation, completed at both ends that hear of it
  void send(Side& from, std::uint32_t length, verbs::SendFlags flags = verbs::SendFlags::kNone);
  void send_invalidating(Side& from, std::uint32_t length, std::uint32_t rkey,
                         verbs::SendFlags flags = verbs::SendFlags::kNone);
  void write(Side& from, std::uint32_t length);
  void read(Side& from, std::uint32_t length);
  void immediate(Side& from, verbs::SendFlags flags = verbs::SendFlags::kNone);
  void write_with_immediate(Side& from, std::uint32_t length);
  [[nodiscard]] Side& peer_of(const Side& side) { return &side == &client ? server : client; }

  void close_by(Side& side);  // gracefully
  void await_end();           // both ends have heard that the connection is over
};

// --- What the other recordings need too

verbs::ConnectionEvent expect(verbs::EventChannel& events, verbs::ConnectionEventType type);
// A client's identifier, up to connect().
verbs::ConnectionId caller(verbs::EventChannel& events, const verbs::Endpoint& server, const verbs::Policy& policy);
// Only the connection that `connect` makes is recorded, as its initiator sees it. The listener has a backlog of one,
// and no request was taken from its events yet.
void record_initiator(const std::string& path, const verbs::Endpoint& server, verbs::EventChannel& server_events,
                      const std::function<void()>& connect);
// The server rejects, with private data.
void record_rejection(const std::string& path, const Terms& terms);
// The server accepts, and the client cannot go on with what it said.
void record_failed_start(const std::string& path, const Terms& terms);

}  // namespace weft::recordings
