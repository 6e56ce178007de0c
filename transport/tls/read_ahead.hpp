// SPDX-License-Identifier: Apache-2.0
// Octets of records that one recv() has brought and OpenSSL has not asked for yet. OpenSSL can do this itself, but
// moves all that it holds to the front of its buffer for each record: 60 copies of each octet where records are small.
#pragma once

#include <cstddef>
#include <memory>

#include "common/wire.hpp"

namespace weft::transport::tls {

// Its storage is lent while it holds octets: each thread keeps one for the next to come. Not thread-safe.
class ReadAhead {
 public:
  static constexpr std::size_t kOctets = 64 * 1024;

  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  // From the front, as many as there are and fit.
  [[nodiscard]] std::size_t take(MutableBytes into) noexcept;

  // Where the next octets go, while it is empty; without memory there is no room. filled() has to follow.
  [[nodiscard]] MutableBytes room() noexcept;
  void filled(std::size_t octets) noexcept;

 private:
  void give_back() noexcept;

  std::unique_ptr<std::byte[]> storage_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace weft::transport::tls
