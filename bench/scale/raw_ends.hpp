// SPDX-License-Identifier: Apache-2.0
// The same with TCP sockets and nothing else: what a connection and an octet cost before weft adds anything.
#pragma once

#include <vector>

#include "bench/scale/process.hpp"

namespace weft::scale {

// Whether an octet goes each way before a connection counts as made, and its end waits for the peer's: the round trips
// of an MPA startup and of a close that both ends hear of.
enum class Talk : std::uint8_t { kNone, kOctets };

class RawServer {
 public:
  explicit RawServer(Figures& figures, Talk talk = Talk::kNone);
  // Accepts, reads and drops octets, or answers them, closes what its peer closes; until the client says that it is
  // done.
  void serve(const Line& line);

 private:
  void accept_all();
  void read_some(int descriptor);
  int events_;
  int listening_;
  Talk talk_;
  std::vector<char> octets_;
};

class RawClient {
 public:
  explicit RawClient(const Figures& figures, Talk talk = Talk::kNone);
  void connect(std::size_t count, std::size_t in_flight, bool keep);
  double write_for(std::size_t active, double seconds);

 private:
  [[nodiscard]] int begin();
  [[nodiscard]] bool talk_on(int descriptor, std::uint32_t what);  // false when all is said
  int events_;
  std::uint16_t port_;
  Talk talk_;
  std::vector<int> connections_;
};

struct TalkingServer : RawServer {
  explicit TalkingServer(Figures& figures) : RawServer(figures, Talk::kOctets) {}
};
struct TalkingClient : RawClient {
  explicit TalkingClient(const Figures& figures) : RawClient(figures, Talk::kOctets) {}
};

}  // namespace weft::scale
