// SPDX-License-Identifier: Apache-2.0
#include "verbs/memory.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "verbs/memory/region_state.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs {

MemoryRegion& MemoryRegion::operator=(MemoryRegion&& other) noexcept {
  if (this == &other) return *this;
  if (auto* const own = self_.ours()) own->deregister();
  self_ = std::move(other.self_);
  return *this;
}

MemoryRegion::~MemoryRegion() {
  if (auto* const own = self_.ours()) own->deregister();
}

std::uint32_t MemoryRegion::lkey() const noexcept { return self_->stag(); }
std::uint32_t MemoryRegion::rkey() const noexcept { return self_->stag(); }
std::byte* MemoryRegion::address() const noexcept { return self_->grant().start; }
std::size_t MemoryRegion::length() const noexcept { return self_->grant().length; }
std::uint64_t MemoryRegion::iova() const noexcept { return self_->grant().first_offset; }
Access MemoryRegion::access() const noexcept { return self_->grant().access; }
Sge MemoryRegion::sge(std::size_t offset, std::uint32_t length) const noexcept {
  return {iova() + offset, length, lkey()};
}
Sge MemoryRegion::sge() const noexcept {
  constexpr std::size_t kLongest = std::numeric_limits<std::uint32_t>::max();
  return sge(0, static_cast<std::uint32_t>(std::min(length(), kLongest)));
}

Result<void> MemoryRegion::deregister() {
  auto* const own = self_.ours();  // else it is a parent process's, and no stream here uses it
  if (own != nullptr && !own->deregister()) return fail(Errc::kBusy, "region", "memory windows are bound to it");
  return {};
}

MemoryWindow& MemoryWindow::operator=(MemoryWindow&& other) noexcept {
  if (this == &other) return *this;
  if (auto* const own = self_.ours()) own->free();
  self_ = std::move(other.self_);
  return *this;
}

MemoryWindow::~MemoryWindow() {
  if (auto* const own = self_.ours()) own->free();
}

std::uint32_t MemoryWindow::rkey() const noexcept { return self_->stag(); }
std::uint32_t MemoryWindow::next_rkey() const noexcept { return self_->next_stag(); }
std::uint32_t MemoryWindow::next_rkey(std::uint32_t after) const noexcept { return self_->next_stag(after); }
bool MemoryWindow::bound() const noexcept { return self_->bound(); }

}  // namespace weft::verbs
