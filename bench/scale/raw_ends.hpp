// SPDX-License-Identifier: Apache-2.0
// The same with TCP sockets and nothing else: what a connection and an octet cost before weft adds anything.
#pragma once

#include <vector>

#include "bench/scale/process.hpp"

namespace weft::scale {

class RawServer {
 public:
  explicit RawServer(Figures& figures);
  // Accepts, reads and drops octets, closes what its peer closes; until the client says that it is done.
  void serve(const Line& line);

 private:
  void accept_all();
  void read_some(int descriptor);
  int events_;
  int listening_;
  std::vector<char> octets_;
};

class RawClient {
 public:
  explicit RawClient(const Figures& figures);
  void connect(std::size_t count, std::size_t in_flight, bool keep);
  double write_for(std::size_t active, double seconds);

 private:
  [[nodiscard]] int begin();
  int events_;
  std::uint16_t port_;
  std::vector<int> connections_;
};

}  // namespace weft::scale
