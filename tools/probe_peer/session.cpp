// SPDX-License-Identifier: Apache-2.0
#include "tools/probe_peer/session.hpp"

#include <algorithm>
#include <array>

#include "tools/probe_peer/must.hpp"

namespace weft::tools::probe_peer {
namespace {

using verbs::Access;

Access access_of(std::uint8_t rights) noexcept {
  return Access::kLocalWrite | Access::kWindowBind | remote_access_of(rights);
}

constexpr std::size_t kLarge = 64U << 10U;
constexpr std::size_t kSmall = 4U << 10U;
constexpr std::size_t kOddSize = 1001;

verbs::QueuePair unconnected(Resources& resources, verbs::ProtectionDomain& domain) {
  return must(domain.create_queue_pair({.send_cq = &resources.completions, .receive_cq = &resources.completions}),
              "queue pair");
}

}  // namespace

Access remote_access_of(std::uint8_t rights) noexcept {
  Access out{};
  if ((rights & Region::kRead) != 0) out = out | Access::kRemoteRead;
  if ((rights & Region::kWrite) != 0) out = out | Access::kRemoteWrite;
  if ((rights & Region::kAtomic) != 0) out = out | Access::kRemoteAtomic;
  return out;
}

Resources Resources::of(const verbs::Address& local) {
  auto device = must(verbs::Device::open(local), "device");
  auto channel = must(verbs::CompletionChannel::create(), "completion channel");
  auto queue =
      must(device.create_completion_queue({.capacity = kCompletions, .channel = &channel}), "completion queue");
  auto solicited = must(verbs::CompletionChannel::create(), "completion channel");
  auto waiting =
      must(device.create_completion_queue({.capacity = kCompletions, .channel = &solicited}), "completion queue");
  return {std::move(device), std::move(channel), std::move(queue), std::move(solicited), std::move(waiting)};
}

// After each region. So what a faulty peer places just beyond one does not end it, and the prober finds out.
constexpr std::size_t kSlack = 64;

Registered make_region(verbs::ProtectionDomain& domain, std::uint8_t kind, std::uint8_t rights, std::size_t size,
                       const verbs::RegionOptions& options) {
  Registered out{.octets = std::make_unique<std::byte[]>(size + kSlack), .size = size};
  // After the allocator's alignment of 16: even, unless it is to be odd.
  out.begin = kind == Region::kOdd ? 3 : 0;
  out.told = {.length = static_cast<std::uint32_t>(size), .rights = rights, .kind = kind};
  std::byte* const first = out.octets.get() + out.begin;
  for (std::size_t i = 0; i < size; ++i) first[i] = probe::first_content(out.told, i);
  out.region = must(domain.register_memory(first, size, access_of(rights), options), "memory");
  out.told.stag = {out.region->rkey()};
  out.told.offset = {out.region->iova()};
  return out;
}

Session::Session(Resources& resources, std::uint32_t number)
    : number_(number),
      own_(must(resources.device.allocate_protection_domain(), "protection domain")),
      other_(must(resources.device.allocate_protection_domain(), "protection domain")),
      spare_(unconnected(resources, own_)) {
  constexpr std::uint8_t kReadWrite = Region::kRead | Region::kWrite;
  constexpr std::uint8_t kAll = kReadWrite | Region::kAtomic;
  for (const std::uint8_t rights :
       std::array<std::uint8_t, 6>{0, Region::kRead, Region::kWrite, kReadWrite, Region::kAtomic, kAll})
    regions_.push_back(make_region(own_, Region::kPlain, rights, rights == kReadWrite ? kLarge : kSmall));
  regions_.push_back(make_region(other_, Region::kForeign, kAll, kSmall));
  regions_.push_back(make_region(own_, Region::kOdd, kReadWrite, kOddSize));
  regions_.push_back(make_region(own_, Region::kOdd, kAll, kOddSize));
  regions_.push_back(make_region(own_, Region::kTop, kReadWrite, kSmall, {.iova = ~std::uint64_t{0} - kSmall - 15}));
  regions_.push_back(make_region(own_, Region::kOtherStream, kAll, kSmall, {.only_for = &spare_}));
  regions_.push_back(make_region(own_, Region::kRevoked, kAll, kSmall));
  regions_.back().region.reset();
  report_memory_ = make_region(own_, Region::kReport, Region::kRead, probe::kReportSize);
  publish();
}

std::size_t Session::octets() const noexcept {
  std::size_t sum = report_memory_.size + work_.size + other_work_.size + receives.size;
  for (const Registered& one : regions_) sum += one.size;
  return sum;
}

verbs::SharedReceiveQueue& Session::shared_receives(std::uint16_t count, std::uint16_t size) {
  if (shared_) return *shared_;
  shared_ = must(own_.create_shared_receive_queue({.max_wr = 4096}), "shared receive queue");
  receive_count = count;
  receive_size = size;
  receives = make_region(own_, Region::kReceives, Region::kRead, std::max<std::size_t>(1, count) * size);
  for (std::uint32_t i = 0; i < count; ++i) post_shared_receive(i);
  return *shared_;
}

void Session::post_shared_receive(std::uint32_t index) {
  const std::uint32_t buffer = index % std::max<std::uint32_t>(1, receive_count);
  const verbs::Sge where = receives.region->sge(std::size_t{buffer} * receive_size, receive_size);
  static_cast<void>(shared_->post_receive(verbs::ReceiveRequest{.wr_id = buffer, .segments = {&where, 1}}));
}

std::vector<Region> Session::regions() const {
  std::vector<Region> out;
  for (const Registered& one : regions_) out.push_back(one.told);
  out.push_back(report_memory_.told);
  return out;
}

Registered* Session::find(std::uint32_t stag) noexcept {
  const auto one = std::ranges::find(regions_, stag, [](const Registered& r) { return r.told.stag.value; });
  return one == regions_.end() ? nullptr : &*one;
}

void Session::revoke(std::uint32_t stag) {
  if (Registered* one = find(stag)) one->region.reset();
}

void Session::publish() noexcept {
  const auto octets = probe::serialize(report);
  std::ranges::copy(octets, report_memory_.octets.get());
}

verbs::Sge Session::work(bool other, std::uint32_t length) {
  Registered& memory = other ? other_work_ : work_;
  if (!memory.region) memory = make_region(domain(other), Region::kPlain, 0, kWork);
  return memory.region->sge(0, std::min(length, kWork));
}

}  // namespace weft::tools::probe_peer
