// SPDX-License-Identifier: Apache-2.0
#include "tests/captures/wire_fields.hpp"

#include <array>
#include <stdexcept>

#include "ddp/header.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/control.hpp"
#include "rdmap/read_request.hpp"
#include "rdmap/terminate.hpp"

namespace weft::captures {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string octets(Bytes bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    if (!text.empty()) text += ':';
    text += kDigits[std::to_integer<std::size_t>(b >> 4)];
    text += kDigits[std::to_integer<std::size_t>(b & std::byte{0xf})];
  }
  return text;
}

std::runtime_error fault(std::string text) { return std::runtime_error(std::move(text)); }
std::runtime_error fault(const std::string& text, std::uint64_t value) { return fault(text + ": " + number(value)); }

void add_header(const ddp::TaggedHeader& header, Bytes, Fields& fields) {
  fields["iwarp_ddp.tagged_flag"] = "1";
  fields["iwarp_ddp.last_flag"] = number(header.last);
  fields["iwarp_ddp.stag"] = number(header.stag.value);
  fields["iwarp_ddp.tagged_offset"] = number(header.offset.value);
}

void add_header(const ddp::UntaggedHeader& header, Bytes ulpdu, Fields& fields) {
  fields["iwarp_ddp.tagged_flag"] = "0";
  fields["iwarp_ddp.last_flag"] = number(header.last);
  fields["iwarp_ddp.rsvdulp"] = octets(ulpdu.subspan(1, 5));
  fields["iwarp_ddp.qn"] = number(header.queue);
  fields["iwarp_ddp.msn"] = number(header.msn.value);
  fields["iwarp_ddp.mo"] = number(header.offset.value);
}

void add_read_request(Bytes payload, Fields& fields) {
  const auto request = rdmap::parse_read_request(payload);
  if (!request) throw fault("octets of a Read Request", payload.size());
  fields["iwarp_rdma.sinkstag"] = number(request->sink_stag.value);
  fields["iwarp_rdma.sinkto"] = number(request->sink_offset.value);
  fields["iwarp_rdma.rdmardsz"] = number(request->size);
  fields["iwarp_rdma.srcstag"] = number(request->source_stag.value);
  fields["iwarp_rdma.srcto"] = number(request->source_offset.value);
}

constexpr const char* type_field(rdmap::Layer layer) {
  switch (layer) {
    case rdmap::Layer::kRdmap: return "iwarp_rdma.term_etype_rdma";
    case rdmap::Layer::kDdp: return "iwarp_rdma.term_etype_ddp";
    case rdmap::Layer::kLlp: return "iwarp_rdma.term_etype_llp";
  }
  return "iwarp_rdma.term_etype";
}

// Wireshark has a field for each list of codes.
const char* code_field(const rdmap::ErrorCode& error) {
  using enum rdmap::Layer;
  if (error.layer == kRdmap && (error.type == 1 || error.type == 2)) return "iwarp_rdma.term_errcode_rdma";
  if (error.layer == kDdp && error.type == 1) return "iwarp_rdma.term_errcode_ddp_tagged";
  if (error.layer == kDdp && error.type == 2) return "iwarp_rdma.term_errcode_ddp_untagged";
  if (error.layer == kLlp && error.type == 0) return "iwarp_rdma.term_errcode_llp";
  return "iwarp_rdma.term_errcode";  // a type that the layer does not have
}

// As RFC 5040 lays it out: Wireshark knows nothing of siw's departure either.
void add_terminate(Bytes payload, Fields& fields) {
  const auto report = rdmap::parse_terminate(payload);
  if (!report) throw fault("octets of a Terminate", payload.size());
  const rdmap::Terminate& message = report->as_rfc;
  fields["iwarp_rdma.term_layer"] = number(std::to_underlying(message.error.layer));
  fields[type_field(message.error.layer)] = number(message.error.type);
  fields[code_field(message.error)] = number(message.error.code);
  fields["iwarp_rdma.term_hdrct_m"] = number(message.segment_length.has_value());
  fields["iwarp_rdma.hdrct_d"] = number(message.ddp_header.has_value());
  fields["iwarp_rdma.hdrct_r"] = number(message.read_request.has_value());
  fields["iwarp_rdma.term_rsvd"] = number(Be<2, std::uint16_t>::get(payload) & 0x1fffU);
  using L = rdmap::TerminateLayout;
  if (message.segment_length)
    fields["iwarp_rdma.term_ddp_seg_len"] = octets(payload.subspan(L::SegmentLength::end - 2, 2));
  if (!message.ddp_header) return;
  fields["iwarp_rdma.term_ddp_h"] = octets(message.ddp_header->octets());
  if (!message.read_request) return;
  std::array<std::byte, rdmap::ReadRequestLayout::kSize> request{};
  rdmap::serialize(*message.read_request, request);
  fields["iwarp_rdma.term_rdma_h"] = octets(request);
}

void add_atomic_request(Bytes payload, Fields& fields) {
  const auto request = rdmap::parse_atomic_request(payload);
  if (!request) throw fault("octets of an Atomic Request", payload.size());
  const rdmap::AtomicOperation& operation = request->operation;
  const bool swap = operation.kind == rdmap::AtomicOperation::Kind::kCmpSwap;
  fields["iwarp_rdma.atomic.reserved"] = "0";
  fields["iwarp_rdma.atomic.opcode"] = number(std::to_underlying(operation.kind));
  fields["iwarp_rdma.atomic.request_identifier"] = number(request->request_id);
  fields["iwarp_rdma.atomic.remote_stag"] = number(request->stag.value);
  fields["iwarp_rdma.atomic.remote_tagged_offset"] = number(request->offset.value);
  fields[swap ? "iwarp_rdma.atomic.swap_data" : "iwarp_rdma.atomic.add_data"] = number(operation.add_or_swap);
  fields[swap ? "iwarp_rdma.atomic.swap_mask" : "iwarp_rdma.atomic.add_mask"] = number(operation.add_or_swap_mask);
  fields["iwarp_rdma.atomic.compare_data"] = number(operation.compare);
  fields["iwarp_rdma.atomic.compare_mask"] = number(operation.compare_mask);
}

void add_atomic_response(Bytes payload, Fields& fields) {
  const auto response = rdmap::parse_atomic_response(payload);
  if (!response) throw fault("octets of an Atomic Response", payload.size());
  fields["iwarp_rdma.atomic.original_request_identifier"] = number(response->request_id);
  fields["iwarp_rdma.atomic.original_remote_data_value"] = number(response->original);
}

// The RsvdULP word: an STag for Sends that invalidate, else reserved. Wireshark shows it again under RDMAP, but only
// for the messages of RFC 5040.
void add_rsvdulp_word(const ddp::UntaggedHeader& header, const rdmap::OpcodeRow& kind, Bytes ulpdu, Fields& fields) {
  if (kind.invalidates) {
    fields["iwarp_rdma.inval_stag"] = number(header.rsvd_ulp_word);
  } else if (kind.opcode <= rdmap::Opcode::kTerminate) {
    fields["iwarp_rdma.reserved"] = octets(ulpdu.subspan(2, 4));
  }
}

void add_payload(rdmap::Opcode opcode, Bytes payload, Fields& fields) {
  using enum rdmap::Opcode;
  switch (opcode) {
    case kReadRequest: return add_read_request(payload, fields);
    case kTerminate: return add_terminate(payload, fields);
    case kAtomicRequest: return add_atomic_request(payload, fields);
    case kAtomicResponse: return add_atomic_response(payload, fields);
    case kWrite:
    case kReadResponse:
    case kSend:
    case kSendInvalidate:
    case kSendSolicited:
    case kSendSolicitedInvalidate:
    case kImmediate:
    case kImmediateSolicited: return;  // the user's octets
  }
}

Fields take_startup_frame(Bytes& stream, mpa::FrameKind kind) {
  const auto parsed = mpa::parse_startup_frame(stream, kind);
  if (!parsed) throw fault(std::string(mpa::explain(parsed.error()).sentence));
  if (!*parsed) throw fault("the startup frame is not complete");
  stream = stream.subspan((*parsed)->size());
  return startup_fields(**parsed);
}

// Everything that is no Marker, in order.
std::vector<std::byte> without_markers(Bytes stream) {
  std::vector<std::byte> bare;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    if (i % mpa::kMarkerPeriod >= mpa::kMarkerSize) bare.push_back(stream[i]);
  }
  return bare;
}

// The Markers of the FPDU at [from, to) of the stream, as Wireshark lists them.
void add_markers(Bytes stream, std::size_t from, std::size_t to, Fields& fields) {
  const std::size_t first = from + mpa::octets_to_marker(from);
  for (std::size_t at = first; at < to; at += mpa::kMarkerPeriod) {
    const auto append = [&](const char* name, std::uint16_t value) {
      std::string& list = fields[name];
      list += (list.empty() ? "" : " ") + number(value);
    };
    append("iwarp_mpa.marker_res", mpa::MarkerLayout::Reserved::get(stream.subspan(at)));
    append("iwarp_mpa.marker_fpduptr", mpa::MarkerLayout::FpduPtr::get(stream.subspan(at)));
  }
}

// The receiver verifies CRCs and Markers; the fields are then read from the octets without Markers.
void take_fpdus(Bytes stream, mpa::Framing framing, std::vector<Fields>& frames) {
  const std::vector<std::byte> copy =
      framing.markers ? without_markers(stream) : std::vector(stream.begin(), stream.end());
  std::vector<std::byte> consumable(stream.begin(), stream.end());
  Bytes bare = copy;
  mpa::FpduReceiver receiver(framing);
  for (std::size_t at = 0; at < stream.size();) {
    const auto fpdu = receiver.next(MutableBytes(consumable).subspan(at));
    if (!fpdu) throw fault(std::string(mpa::explain(fpdu.error().fault).sentence), fpdu.error().stream_offset);
    if (!*fpdu) throw fault("octets left that are no whole FPDU", stream.size() - at);
    const std::size_t size = mpa::bare_fpdu_size((*fpdu)->ulpdu.size());
    frames.push_back(fpdu_fields(bare.first(size), framing.crc));
    if (framing.markers) add_markers(stream, at, at + (*fpdu)->consumed, frames.back());
    bare = bare.subspan(size);
    at += (*fpdu)->consumed;
  }
}

}  // namespace

Fields startup_fields(const mpa::StartupFrame& frame) {
  std::vector<std::byte> wire(frame.size());
  mpa::serialize(frame, wire);
  const Bytes private_data = Bytes(wire).subspan(mpa::kFixedFrameSize);
  Fields fields{
      {frame.kind == mpa::FrameKind::kRequest ? "iwarp_mpa.key.req" : "iwarp_mpa.key.rep",
       octets(Bytes(wire).first(mpa::kKeySize))},
      {"iwarp_mpa.marker_flag", number(frame.markers)},
      {"iwarp_mpa.crc_flag", number(frame.crc)},
      {"iwarp_mpa.rej_flag", number(frame.reject)},
      {"iwarp_mpa.res", number(frame.reserved | (frame.enhanced ? 0x10U : 0U))},  // Wireshark 4.0 knows no S bit
      {"iwarp_mpa.rev", number(frame.revision)},
      {"iwarp_mpa.pdlength", number(private_data.size())},
  };
  if (!private_data.empty()) fields["iwarp_mpa.privatedata"] = octets(private_data);
  return fields;
}

void add_ulpdu_fields(Bytes ulpdu, Fields& fields) {
  const auto header = ddp::parse(ulpdu);
  if (!header) throw fault("no DDP header in a ULPDU of so many octets", ulpdu.size());
  const auto control = ddp::TaggedLayout::Ctrl::get(ulpdu);
  fields["iwarp_ddp.rsvd"] = number(control >> 2 & 0xfU);
  fields["iwarp_ddp.dv"] = number(control & ddp::Control::kVersionMask);
  std::visit([&](const auto& h) { add_header(h, ulpdu, fields); }, *header);

  const auto rdmap_control = ddp::TaggedLayout::RsvdUlp::get(ulpdu);
  fields["iwarp_rdma.version"] = number(rdmap::version_bits(rdmap_control) >> 6);
  fields["iwarp_rdma.rsv"] = number(rdmap_control >> 4 & 0x3U);
  fields["iwarp_rdma.opcode"] = number(rdmap::opcode_bits(rdmap_control));
  const rdmap::OpcodeRow* kind = rdmap::find_opcode(rdmap::opcode_bits(rdmap_control));
  if (kind == nullptr) throw fault("unknown opcode", rdmap::opcode_bits(rdmap_control));
  if (const auto* untagged = std::get_if<ddp::UntaggedHeader>(&*header)) {
    add_rsvdulp_word(*untagged, *kind, ulpdu, fields);
    add_payload(kind->opcode, ulpdu.subspan(ddp::UntaggedLayout::kSize), fields);
  }
}

Fields fpdu_fields(Bytes framed, bool crc) {
  const std::size_t length = mpa::UlpduLength::get(framed);
  Fields fields{{"iwarp_mpa.ulpdulength", number(length)}};
  if (const std::size_t pad = mpa::pad_size(length)) {
    fields["iwarp_mpa.pad"] = octets(framed.subspan(mpa::kLengthSize + length, pad));
  }
  using Crc = Be<0, std::uint32_t>;  // Wireshark shows the four octets in the order of the wire
  fields[crc ? "iwarp_mpa.crc_check" : "iwarp_mpa.crc"] = number(Crc::get(framed.last(mpa::kCrcSize)));
  add_ulpdu_fields(framed.subspan(mpa::kLengthSize, length), fields);
  return fields;
}

bool speaks_mpa(const Connection& connection) {
  return mpa::frame_kind(octets_from(connection, Side::kClient)) == mpa::FrameKind::kRequest;
}

std::vector<Fields> read_frames(const Connection& connection, Side side) {
  const bool client = side == Side::kClient;
  const std::vector<std::byte> stream = octets_from(connection, side);
  const std::vector<std::byte> other = octets_from(connection, client ? Side::kServer : Side::kClient);
  std::vector<Fields> frames;
  if (!speaks_mpa(connection) || stream.empty()) return frames;
  const auto kind = [](bool request) { return request ? mpa::FrameKind::kRequest : mpa::FrameKind::kReply; };
  Bytes rest = stream;
  Bytes peer = other;
  frames.push_back(take_startup_frame(rest, kind(client)));
  const Fields answer = take_startup_frame(peer, kind(!client));
  const auto flag = [](const Fields& fields, const char* name) { return fields.at(name) == "1"; };
  const mpa::Framing framing{flag(frames[0], "iwarp_mpa.crc_flag") || flag(answer, "iwarp_mpa.crc_flag"),
                             flag(answer, "iwarp_mpa.marker_flag")};  // an end that asks for Markers gets them
  take_fpdus(rest, framing, frames);
  return frames;
}

}  // namespace weft::captures
