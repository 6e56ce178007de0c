// SPDX-License-Identifier: Apache-2.0
#include "explain/model/memory.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "ddp/tagged.hpp"
#include "explain/model/accesses.hpp"
#include "explain/model/model.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/errors.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/read_request.hpp"
#include "rdmap/terminate.hpp"

namespace weft::explain {
namespace {

using rdmap::Opcode;

// An STag may name other memory later. What lies farther apart than this is taken for another registration.
constexpr std::uint64_t kSameRegistration = std::uint64_t{16} << 20;

class Inference {
 public:
  explicit Inference(Connection& connection) : connection_(connection) {}

  void run() {
    for (Row& row : connection_.rows) {
      if (row.kind != RowKind::kFpdu || over_[index_of(row.from)]) continue;
      if (row.effect.refused) {
        over_[index_of(row.from)] = true;  // its receiver looks at nothing after it
        refused(row);
      } else if (row.segment && row.message) {
        accepted(row);
      }
    }
    for (Row& row : connection_.rows) count_from_begin(row);
    for (EndMemory& end : connection_.memory) {
      for (Region& region : end.regions) explain_region(region);
    }
  }

 private:
  [[nodiscard]] EndMemory& receiver(const Row& row) { return connection_.memory[index_of(opposite(row.from))]; }
  [[nodiscard]] EndMemory& sender(const Row& row) { return connection_.memory[index_of(row.from)]; }
  [[nodiscard]] const MessageView& message(const Row& row) const { return connection_.messages[*row.message]; }

  // Differences only: an access, and so a region, may end exactly at 2^64.
  static bool near(const Region& region, const Access& access) {
    if (region.octets == 0) return true;  // only its STag is known
    const bool above = access.begin >= region.begin;
    const std::uint64_t between = above ? access.begin - region.begin : region.begin - access.begin;
    const std::uint64_t lower = above ? region.octets : access.octets;
    return between <= lower || between - lower <= kSameRegistration;
  }

  // The region that the access is in; grown, or made, as needed.
  static std::optional<std::size_t> region_of(EndMemory& end, const Access& access) {
    if (ddp::offset_wraps({access.begin}, access.octets)) return std::nullopt;
    auto found = std::ranges::find_if(end.regions, [&](const Region& region) {
      return region.stag == access.stag && (access.octets == 0 || near(region, access));
    });
    if (found == end.regions.end()) {
      end.regions.push_back({.stag = access.stag, .begin = access.begin, .octets = access.octets});
      return end.regions.size() - 1;
    }
    if (access.octets != 0) found->cover(access.begin, access.octets);
    return static_cast<std::size_t>(found - end.regions.begin());
  }

  void accepted(Row& row) {
    if (row.segment->tagged() != nullptr) return place_tagged(row);
    const auto* const kind = rdmap::find_opcode(row.segment->opcode);
    if (kind == nullptr) return;
    if (kind->queue == ddp::QueueNumber::kSend) return receive(row, *kind);
    if (kind->opcode == Opcode::kReadRequest) return read(row);
    if (kind->opcode == Opcode::kAtomicRequest) return atomic(row);
  }

  void place_tagged(Row& row) {
    const auto& header = *row.segment->tagged();
    const Access access{header.stag.value, header.offset.value, row.segment->payload};
    const bool response = row.segment->opcode == std::to_underlying(Opcode::kReadResponse);
    if (access.octets == 0) return;  // its STag means nothing (RDMAP-5.1-03, RDMAP-5.2.1-14)
    const auto region = region_of(receiver(row), access);
    if (!region) return;
    auto& rights = receiver(row).regions[*region].rights;
    (response ? rights.sink : rights.write) = true;
    row.effect.placed = Placed{Placed::Where::kRegion, *region, access.begin, access.octets};
  }

  void read(Row& row) {
    const auto request = rdmap::parse_read_request(message(row).front);
    if (!request || request->size == 0) return;
    const std::uint64_t octets = std::min<std::uint64_t>(request->size, Access::kMostClaimed);
    const auto source = region_of(receiver(row), {request->source_stag.value, request->source_offset.value, octets});
    const auto sink = region_of(sender(row), {request->sink_stag.value, request->sink_offset.value, octets});
    if (sink) sender(row).regions[*sink].rights.sink = true;
    if (!source) return;
    receiver(row).regions[*source].rights.read = true;
    row.effect.touched = Touched{Touched::How::kRead, *source, request->source_offset.value, octets};
  }

  void atomic(Row& row) {
    const auto request = rdmap::parse_atomic_request(message(row).front);
    if (!request) return;
    const auto target = region_of(receiver(row), {request->stag.value, request->offset.value, Access::kAtomic});
    if (!target) return;
    receiver(row).regions[*target].rights.atomic = true;
    row.effect.touched = Touched{Touched::How::kAtomic, *target, request->offset.value, Access::kAtomic};
  }

  // Immediate Data takes a receive and leaves its octets alone: the completion has them.
  void receive(Row& row, const rdmap::OpcodeRow& kind) {
    const auto& header = *row.segment->untagged();
    auto& receives = receiver(row).receives;
    const auto [receive, taken] = receives_.try_emplace(*row.message, receives.size());
    if (taken) receives.push_back({header.msn.value, message(row).octets});
    if (kind.content == rdmap::Content::kAside) row.effect.taken = receive->second;
    if (kind.content == rdmap::Content::kPlaced && row.segment->payload != 0)
      row.effect.placed = Placed{Placed::Where::kReceive, receive->second, header.offset.value, row.segment->payload};
    if (!kind.invalidates || !row.segment->last()) return;
    const auto region = region_of(receiver(row), {header.rsvd_ulp_word, 0, 0});
    row.effect.touched = Touched{Touched::How::kInvalidate, *region, 0, 0};
  }

  // What the Terminate says of the memory that was refused.
  void refused(const Row& row) {
    const Row& terminate = connection_.rows[*row.effect.refused];
    if (!row.segment || !row.message || !terminate.message) return;
    const auto report = rdmap::parse_terminate(message(terminate).front);
    if (!report) return;
    const auto& error = report->meant().error;
    const auto* const untagged = row.segment->untagged();
    if (untagged != nullptr && untagged->queue == std::to_underlying(ddp::QueueNumber::kSend))
      return refused_send(row, *untagged, error);
    const auto wanted = access_of(row, message(row));
    if (wanted) refused_access(row, *wanted, error);
  }

  // An error that comes after the look at the STag tells that it names something.
  void refused_access(const Row& row, const Access& wanted, const rdmap::ErrorCode& error) {
    const auto there = left_of(wanted, error);
    if (!there) return;
    auto& regions = receiver(row).regions;
    auto known = std::ranges::find(regions, there->stag, &Region::stag);
    if (known == regions.end())
      known = regions.insert(known, {.stag = there->stag, .begin = there->begin, .octets = there->octets});
    if (error == rdmap::error_code(rdmap::ProtectionError::kAccessRights)) return;
    switch (static_cast<Opcode>(row.segment->opcode)) {
      case Opcode::kReadRequest: known->rights.read = true; return;
      case Opcode::kAtomicRequest: known->rights.atomic = true; return;
      default: known->rights.write = true; return;
    }
  }

  // An error that comes after the look for a receive tells that there was one.
  void refused_send(const Row& row, const ddp::UntaggedHeader& header, const rdmap::ErrorCode& error) {
    const bool too_long = error == rdmap::error_code(ddp::UntaggedError::kTooLong);
    const bool outside = error == rdmap::error_code(ddp::UntaggedError::kInvalidOffset);
    const bool found = too_long || outside || error == rdmap::kCannotInvalidate ||
                       error == rdmap::error_code(rdmap::OperationError::kCannotInvalidate);
    if (!found) return;
    auto& receives = receiver(row).receives;
    const auto [receive, taken] = receives_.try_emplace(*row.message, receives.size());
    const std::uint64_t end = std::min(header.offset.value + row.segment->payload, Access::kMostClaimed);
    if (taken) receives.push_back({header.msn.value, end});
    if (too_long) receives[receive->second].octets = end == 0 ? 0 : end - 1;
  }

  // Up to now offsets are TOs, for where a region begins was not known.
  void count_from_begin(Row& row) {
    const auto& regions = receiver(row).regions;
    auto& [placed, touched, taken, refused, before, after] = row.effect;
    if (placed && placed->where == Placed::Where::kRegion) placed->offset -= regions[placed->index].begin;
    if (touched && touched->how != Touched::How::kInvalidate) touched->offset -= regions[touched->region].begin;
  }

  static void explain_region(Region& region) {
    const auto add = [&](bool seen, std::string_view words) {
      if (seen) region.why += (region.why.empty() ? "" : ", ") + std::string(words);
    };
    add(region.rights.write, "the target of the peer's RDMA Writes");
    add(region.rights.read, "the source of the peer's RDMA Reads");
    add(region.rights.atomic, "the target of the peer's atomic operations");
    add(region.rights.sink, "where its own RDMA Reads put what they read");
    add(region.why.empty(), "named, and not used");
  }

  Connection& connection_;
  std::array<bool, 2> over_{};                     // by direction
  std::map<std::size_t, std::size_t> receives_{};  // of messages: the receive that each took
};

}  // namespace

void Region::cover(std::uint64_t from, std::uint64_t count) noexcept {
  const std::uint64_t first = octets == 0 ? from : std::min(begin, from);
  octets = std::max(octets == 0 ? 0 : begin - first + octets, from - first + count);
  begin = first;
}

std::string_view name(Touched::How how) noexcept {
  switch (how) {
    case Touched::How::kRead: return "read";
    case Touched::How::kAtomic: return "atomic";
    case Touched::How::kInvalidate: return "invalidate";
  }
  return {};
}

void infer_memory(Connection& connection) { Inference(connection).run(); }

}  // namespace weft::explain
