// SPDX-License-Identifier: Apache-2.0
#include "rdmap/terminate.hpp"

#include <algorithm>

#include "rdmap/error_table.hpp"

namespace weft::rdmap {

std::optional<HeaderCopy> HeaderCopy::front_of(Bytes ulpdu) noexcept {
  if (ulpdu.empty()) return std::nullopt;
  const bool tagged = (ddp::TaggedLayout::Ctrl::get(ulpdu) & ddp::Control::kTagged) != 0;
  HeaderCopy copy;
  copy.size_ = tagged ? ddp::TaggedLayout::kSize : ddp::UntaggedLayout::kSize;
  if (ulpdu.size() < copy.size_) return std::nullopt;
  std::ranges::copy(ulpdu.first(copy.size_), copy.octets_.begin());
  return copy;
}

SegmentInError segment_in_error(Bytes ulpdu) noexcept {
  return {HeaderCopy::front_of(ulpdu), static_cast<std::uint16_t>(ulpdu.size()), std::nullopt};
}

// --- Building

namespace {

// Figure 10, first column: which errors quote the segment.
constexpr bool quotes_ddp_header(const ErrorCode& error) noexcept {
  switch (error.layer) {
    case Layer::kRdmap: return error.type != std::to_underlying(ErrorType::kLocalCatastrophic);  // RDMAP-4.8-37
    case Layer::kDdp: return true;                                                               // RDMAP-4.8-40
    case Layer::kLlp: return false;                                                              // RDMAP-4.8-41
  }
  return false;
}

// Second column: a Read Request is quoted with a protection error only (RDMAP-4.8-38, RDMAP-4.8-39).
constexpr bool quotes_rdma_header(const ErrorCode& error) noexcept {
  return error.layer == Layer::kRdmap && error.type == std::to_underlying(ErrorType::kRemoteProtection);
}

}  // namespace

Terminate make_terminate(const ErrorCode& error, const SegmentInError* segment) noexcept {
  Terminate message{error, {}, {}, {}};
  // "If possible": a ULPDU too short for a header has none to quote.
  if (segment == nullptr || !segment->header || !quotes_ddp_header(error)) return message;
  message.segment_length = segment->length;
  message.ddp_header = segment->header;
  if (quotes_rdma_header(error)) message.read_request = segment->read_request;  // RDMAP-4.8-18, RDMAPX-8.1-02
  return message;
}

std::size_t serialize(const Terminate& message, MutableBytes out) noexcept {
  using L = TerminateLayout;
  const auto bit = [](bool set, std::uint8_t mask) { return set ? mask : std::uint8_t{0}; };
  L::LayerAndType::put(out,
                       static_cast<std::uint8_t>(std::to_underlying(message.error.layer) << 4 | message.error.type));
  L::Code::put(out, message.error.code);
  L::HeaderBits::put(out, bit(message.segment_length.has_value(), L::kLengthValid) |
                              bit(message.ddp_header.has_value(), L::kDdpHeader) |
                              bit(message.read_request.has_value(), L::kRdmaHeader));
  L::Reserved::put(out, 0);  // RDMAP-4.8-11
  if (!message.segment_length) return L::kShortest;
  L::SegmentLength::put(out, *message.segment_length);
  if (!message.ddp_header) return L::kDdpHeaderAt;
  std::size_t size = L::kDdpHeaderAt;
  std::ranges::copy(message.ddp_header->octets(), out.subspan(size).begin());
  size += message.ddp_header->octets().size();
  if (message.read_request) size += serialize(*message.read_request, out.subspan(size));
  return size;
}

// --- Parsing

namespace {

struct HeaderBits {
  bool length{};
  bool ddp{};
  bool rdma{};
  [[nodiscard]] bool any() const noexcept { return length || ddp || rdma; }
};

HeaderBits rfc_bits(std::uint8_t octet) noexcept {
  using L = TerminateLayout;
  return {(octet & L::kLengthValid) != 0, (octet & L::kDdpHeader) != 0, (octet & L::kRdmaHeader) != 0};
}

HeaderBits siw_bits(std::uint8_t octet) noexcept { return {(octet & 1) != 0, (octet & 2) != 0, (octet & 4) != 0}; }

ErrorCode error_of(std::uint8_t layer, std::uint8_t type, std::uint8_t code) noexcept {
  return {static_cast<Layer>(layer), type, code};
}

// Takes what the bits announce as far as it is there.
Terminate read_headers(const ErrorCode& error, const HeaderBits& bits, Bytes payload) noexcept {
  using L = TerminateLayout;
  Terminate message{error, {}, {}, {}};
  if (payload.size() < L::kDdpHeaderAt) return message;
  if (bits.length) message.segment_length = L::SegmentLength::get(payload);
  if (!bits.ddp) return message;
  message.ddp_header = HeaderCopy::front_of(payload.subspan(L::kDdpHeaderAt));
  if (!message.ddp_header || !bits.rdma) return message;
  const Bytes rest = payload.subspan(L::kDdpHeaderAt + message.ddp_header->octets().size());
  if (rest.size() < ReadRequestLayout::kSize) return message;
  if (const auto request = parse_read_request(rest.first(ReadRequestLayout::kSize))) message.read_request = *request;
  return message;
}

}  // namespace

std::expected<TerminateReport, OperationError> parse_terminate(Bytes payload) noexcept {
  using L = TerminateLayout;
  if (payload.size() < L::kShortest) return std::unexpected(OperationError::kUnspecified);
  const std::uint8_t control = L::LayerAndType::get(payload);
  const std::uint8_t high = control >> 4;
  const std::uint8_t low = control & 0x0f;
  const std::uint8_t code = L::Code::get(payload);
  const HeaderBits rfc = rfc_bits(L::HeaderBits::get(payload));
  const HeaderBits siw = siw_bits(L::HeaderBits::get(payload));

  TerminateReport report{read_headers(error_of(high, low, code), rfc, payload), {}, false};
  const ErrorCode swapped = error_of(low, high, code);
  if (find_error(swapped) == nullptr) return report;
  report.as_siw = read_headers(swapped, siw, payload);
  report.siw_layout = siw.any() != rfc.any() ? siw.any() : find_error(report.as_rfc.error) == nullptr;
  return report;
}

}  // namespace weft::rdmap
