// SPDX-License-Identifier: Apache-2.0
#include "explain/laboratory/sparse_octets.hpp"

#include <algorithm>

namespace weft::explain::laboratory {
namespace {

// Calls f(page, offset in it, octets before, octets) for each page that [offset, offset + size) touches.
template <typename F>
void each_page(std::uint64_t offset, std::size_t size, F&& f) {
  for (std::size_t done = 0; done < size;) {
    const std::uint64_t at = offset + done;
    const auto inside = static_cast<std::size_t>(at % SparseOctets::kPage);
    const std::size_t octets = std::min(SparseOctets::kPage - inside, size - done);
    f(at / SparseOctets::kPage, inside, done, octets);
    done += octets;
  }
}

}  // namespace

std::size_t SparseOctets::new_pages(std::uint64_t offset, std::size_t size) const {
  std::size_t count = 0;
  each_page(offset, size,
            [&](std::uint64_t page, std::size_t, std::size_t, std::size_t) { count += pages_.contains(page) ? 0 : 1; });
  return count;
}

void SparseOctets::write(std::uint64_t offset, Bytes octets) {
  each_page(offset, octets.size(), [&](std::uint64_t page, std::size_t inside, std::size_t done, std::size_t size) {
    std::ranges::copy(octets.subspan(done, size), MutableBytes(pages_[page]).subspan(inside).begin());
  });
}

void SparseOctets::read(std::uint64_t offset, MutableBytes out) const {
  each_page(offset, out.size(), [&](std::uint64_t page, std::size_t inside, std::size_t done, std::size_t size) {
    const auto found = pages_.find(page);
    const MutableBytes to = out.subspan(done, size);
    if (found == pages_.end()) {
      std::ranges::fill(to, std::byte{0});
    } else {
      std::ranges::copy(Bytes(found->second).subspan(inside, size), to.begin());
    }
  });
}

}  // namespace weft::explain::laboratory
