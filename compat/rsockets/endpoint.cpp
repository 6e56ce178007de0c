// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/endpoint.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace weft::compat::rsockets {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr verbs::Access kTarget = verbs::Access::kLocalWrite | verbs::Access::kRemoteWrite;

std::size_t message_octets(const Sizes& sizes) { return (sizes.receive_queue + kControlReceives) * kMessageOctets; }

verbs::Result<verbs::CompletionChannel> open_channel() {
  auto channel = verbs::CompletionChannel::create();
  // No thread waits in get_event: see Socket::wait.
  if (channel && ::fcntl(channel->descriptor(), F_SETFL, O_NONBLOCK) != 0) {
    return verbs::fail(verbs::Errc::kSystem, "completion channel", "cannot be made non-blocking", errno);
  }
  return channel;
}

verbs::QueuePairAttributes attributes(const Sizes& sizes, const verbs::CompletionQueue& queue) {
  return {.send_cq = &queue,
          .receive_cq = &queue,
          .max_send_wr = sizes.send_queue + kControlSends,
          .max_receive_wr = sizes.receive_queue + kControlReceives,
          .max_send_sge = 2,
          .max_receive_sge = 1,
          .max_inline = std::max<std::uint32_t>(sizes.inline_octets, kIomapEntryOctets)};
}

}  // namespace

verbs::Result<RegisteredMemory> RegisteredMemory::make(verbs::ProtectionDomain& domain, std::size_t octets,
                                                       verbs::Access access, const verbs::QueuePair& pair) {
  RegisteredMemory memory;
  memory.size_ = (octets + kAlignment - 1) / kAlignment * kAlignment;
  // calloc: pages that nobody writes to cost nothing, and a connection that waits to be accepted writes to few.
  std::size_t space = memory.size_ + kAlignment;
  memory.allocated_.reset(std::calloc(space, 1));
  if (!memory.allocated_) throw std::bad_alloc();
  void* start = memory.allocated_.get();
  memory.octets_ = static_cast<std::byte*>(std::align(kAlignment, memory.size_, start, space));
  auto region = domain.register_memory(memory.octets_, memory.size_, access, {.only_for = &pair});
  if (!region) return std::unexpected(region.error());
  memory.region_.emplace(std::move(*region));
  memory.size_ = octets;
  return memory;
}

verbs::Sge RegisteredMemory::sge(std::span<const std::byte> part) const noexcept {
  const auto offset = static_cast<std::size_t>(part.data() - octets_);
  return region_->sge(offset, static_cast<std::uint32_t>(part.size()));
}

verbs::Result<std::unique_ptr<Endpoint>> Endpoint::make(verbs::Device& device, verbs::ProtectionDomain& domain,
                                                        const Sizes& wanted) {
  const Sizes sizes = wanted.within_limits();
  auto channel = open_channel();
  if (!channel) return std::unexpected(channel.error());
  const auto capacity = sizes.send_queue + kControlSends + sizes.receive_queue + kControlReceives;
  auto queue = device.create_completion_queue({.capacity = capacity, .channel = &*channel});
  if (!queue) return std::unexpected(queue.error());
  auto pair = domain.create_queue_pair(attributes(sizes, *queue));
  if (!pair) return std::unexpected(pair.error());
  if (const auto ready = pair->modify(verbs::QpState::kInit); !ready) return std::unexpected(ready.error());
  const std::size_t tables = kSglEntries * kSglEntryOctets + sizes.iomap_entries * kIomapEntryOctets;
  auto target = RegisteredMemory::make(domain, tables, kTarget, *pair);
  if (!target) return std::unexpected(target.error());
  auto inbox = RegisteredMemory::make(domain, sizes.receive_buffer, kTarget, *pair);
  if (!inbox) return std::unexpected(inbox.error());
  auto own =
      RegisteredMemory::make(domain, message_octets(sizes) + sizes.send_buffer, verbs::Access::kLocalWrite, *pair);
  if (!own) return std::unexpected(own.error());
  std::unique_ptr<Endpoint> made(new Endpoint{sizes, domain, std::move(*channel), std::move(*queue), std::move(*pair),
                                              std::move(*target), std::move(*inbox), std::move(*own)});
  for (std::uint64_t receive = 0; receive < made->receives(); ++receive) {
    if (const auto posted = made->post_receive(receive); !posted) return std::unexpected(posted.error());
  }
  return made;
}

std::span<std::byte, kMessageOctets> Endpoint::message(std::uint64_t receive) const noexcept {
  return own.octets().subspan(receive * kMessageOctets).first<kMessageOctets>();
}

verbs::Result<void> Endpoint::post_receive(std::uint64_t receive) const {
  const std::array segments{own.sge(message(receive))};
  return pair.post_receive({.wr_id = receive, .segments = segments});
}

std::span<std::byte> Endpoint::send_ring() const noexcept { return own.octets().subspan(message_octets(sizes)); }

std::span<std::byte> Endpoint::target_sgl() const noexcept {
  return target.octets().first(kSglEntries * kSglEntryOctets);
}

std::span<std::byte> Endpoint::target_iomap() const noexcept {
  return target.octets().subspan(kSglEntries * kSglEntryOctets);
}

ConnectData Endpoint::offer() const {
  return {.big_endian = std::endian::native == std::endian::big,
          .knows_iomaps = true,
          .credits = static_cast<std::uint16_t>(sizes.receive_queue),
          .iomap_entries = sizes.iomap_entries,
          .target_sgl = {target.remote(), target.stag(), kSglEntries},
          .buffer = {inbox.remote(), inbox.stag(), sizes.receive_buffer / 2}};
}

}  // namespace weft::compat::rsockets
