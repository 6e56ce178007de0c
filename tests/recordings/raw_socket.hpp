// SPDX-License-Identifier: Apache-2.0
// A plain TCP socket that blocks, for peers that are not weft.
#pragma once

#include <cstddef>
#include <vector>

#include "common/wire.hpp"
#include "verbs/endpoint.hpp"

namespace weft::recordings {

class RawSocket {
 public:
  [[nodiscard]] static RawSocket dial(const verbs::Endpoint& server);
  [[nodiscard]] static RawSocket listen();  // on 127.0.0.1
  RawSocket(RawSocket&& other) noexcept;
  RawSocket& operator=(RawSocket&& other) noexcept;
  ~RawSocket();

  [[nodiscard]] verbs::Endpoint local() const;
  [[nodiscard]] RawSocket accept() const;
  void send(Bytes octets) const;
  void finish() const;  // FIN
  [[nodiscard]] std::vector<std::byte> read(std::size_t octets) const;
  [[nodiscard]] std::vector<std::byte> read_to_end() const;

 private:
  explicit RawSocket(int descriptor);
  int descriptor_;
};

}  // namespace weft::recordings
