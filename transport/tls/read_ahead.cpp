// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/read_ahead.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace weft::transport::tls {
namespace {

thread_local std::unique_ptr<std::byte[]> spare;

}  // namespace

std::size_t ReadAhead::take(MutableBytes into) noexcept {
  const std::size_t octets = std::min(into.size(), end_ - begin_);
  if (octets == 0) return 0;
  std::memcpy(into.data(), storage_.get() + begin_, octets);
  begin_ += octets;
  if (empty()) give_back();
  return octets;
}

MutableBytes ReadAhead::room() noexcept {
  storage_ = std::exchange(spare, nullptr);
  if (!storage_) storage_.reset(new (std::nothrow) std::byte[kOctets]);
  return {storage_.get(), storage_ ? kOctets : 0};
}

void ReadAhead::filled(std::size_t octets) noexcept {
  begin_ = 0;
  end_ = octets;
  if (empty()) give_back();
}

void ReadAhead::give_back() noexcept {
  if (!spare) spare = std::move(storage_);
  storage_ = nullptr;
}

}  // namespace weft::transport::tls
