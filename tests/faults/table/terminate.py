# SPDX-License-Identifier: Apache-2.0
"""The Terminate: what it says and quotes, when it is sent, and what ends after it."""

from . import TABLE

GROUP, CLOSE = "Terminate", "close"
STAYS = "out.appended += 1; ending.begin({});"  # as if an octet were never written: whatever the application does, no FIN is due
at = TABLE.file("rdmap/terminate.cpp")
at("no-ddp-header", GROUP, "RDMAP-4.8-09 RDMAP-4.8-17 RDMAP-4.8-38 RDMAP-4.8-39 RDMAP-4.8-40 RDMAP-7.1-03 RDMAP-4.8-15 DDP-7.1-19",
   "A Terminate quotes no DDP header.",
   "message.ddp_header = segment->header;", "")
at("no-headers", GROUP, "RDMAP-4.8-08 RDMAP-4.8-09 RDMAP-4.8-38 RDMAP-4.8-39 RDMAP-4.8-40 RDMAP-7.1-03 RDMAP-7.1-04 DDP-7.1-19",
   "A Terminate quotes nothing at all.",
   "segment == nullptr || !segment->header || !quotes_ddp_header(error)", "true")
at("m-bit-unset", GROUP, "RDMAP-4.8-08 RDMAP-4.8-13 RDMAP-4.8-38 RDMAP-4.8-39 RDMAP-4.8-40",
   "The segment length is there without its bit.",
   "bit(message.segment_length.has_value(), L::kLengthValid)", "std::uint8_t{0}")
at("d-bit-unset", GROUP, "RDMAP-4.8-09 RDMAP-4.8-17 RDMAP-4.8-38 RDMAP-4.8-39 RDMAP-4.8-40",
   "The DDP header is there without its bit.",
   "bit(message.ddp_header.has_value(), L::kDdpHeader)", "std::uint8_t{0}")
at("r-bit-unset", GROUP, "RDMAP-4.8-10 RDMAP-4.8-19 RDMAP-4.8-38 RDMAP-4.8-18", "The Read Request is there without its bit.",
   "bit(message.read_request.has_value(), L::kRdmaHeader)", "std::uint8_t{0}")
at("r-bit-always", GROUP, "RDMAP-4.8-10 RDMAP-4.8-19 RDMAP-4.8-39 RDMAP-4.8-40 RDMAP-4.8-41 RDMAP-4.8-18",
   "The bit of the Read Request is set though none is there.",
   "bit(message.read_request.has_value(), L::kRdmaHeader)", "L::kRdmaHeader")
at("layer-and-type-swapped", GROUP, "RDMAP-4.8-04 RDMAP-4.8-05 RDMAP-4.8-06 RDMAP-4.8-02",
   "Layer and error type stand in each other's place.",
   "std::to_underlying(message.error.layer) << 4 | message.error.type", "message.error.type << 4 | std::to_underlying(message.error.layer)")
at("terminate-reserved-sent", GROUP, "RDMAP-4.8-11",
   "Reserved bits of the Terminate are sent as 1.", "L::Reserved::put(out, 0);", "L::Reserved::put(out, 0xFF);")
at("segment-length-of-fpdu", GROUP, "RDMAP-4.8-13 DDP-7.1-19", "The segment length counts MPA's length field, too.",
   "static_cast<std::uint16_t>(ulpdu.size())", "static_cast<std::uint16_t>(ulpdu.size() + 2)")
at("read-request-not-quoted", GROUP, "RDMAP-4.8-18 RDMAP-4.8-38 RDMAP-7.1-04 RDMAP-4.8-10 RDMAP-4.8-20",
   "A Read that is refused is not quoted.",
   "error.layer == Layer::kRdmap && error.type == std::to_underlying(ErrorType::kRemoteProtection)", "false")
at("ddp-errors-quote-nothing", GROUP, "RDMAP-4.8-40 RDMAP-7.1-03 RDMAP-4.8-08 RDMAP-4.8-09 DDP-7.1-19 RDMAP-3.1-09",
   "Errors of DDP quote no segment.",
   "return true;", "return false;", near="case Layer::kDdp: return true;")
at("operation-errors-quote-nothing", GROUP, "RDMAP-4.8-39 RDMAP-7.1-03 RDMAPX-8.1-02 RDMAP-4.8-08 RDMAP-4.8-09",
   "Errors of the operation quote no segment.",
   "error.type != std::to_underlying(ErrorType::kLocalCatastrophic)", "error.type == std::to_underlying(ErrorType::kRemoteProtection)")
fault = TABLE.file("engine/fault.cpp")
fault("llp-error-of-layer-1", GROUP, "RDMAP-4.8-06 RDMAP-4.8-07 RDMAP-4.8-41 MPA2-8-02 RDMAP-IANA-3.3-* MPA-8-01 MPA-8-02 MPA-4.4-19 MPA-6-03",
      "Errors of MPA are told as errors of DDP.",
      "rdmap::Layer::kLlp", "rdmap::Layer::kDdp", near="return {rdmap::Layer::kLlp, mpa::kErrorType,")
end = TABLE.file("engine/state_end.cpp")
end("no-terminate", GROUP, "RDMAP-6.2.1-01 RDMAP-7.1-03 RDMAP-7.1-04 RDMAP-3.2-04 RDMAP-3.2-06 RDMAP-3.2-09 MPA-8-16 DDP-6.2.2-06",
    "After an error the stream ends without a word.",
    "may_speak && !fault.in_terminate", "false")
end("open-after-terminate", CLOSE, "RDMAP-7-01 RDMAP-7-04 DDP-3-13 RDMAP-6.2.1-05 RDMAP-7-03 MPA-8-15",
    "The connection stays open after a Terminate.",
    "ending.begin(now + config.close_timeout);", STAYS, near="    rdma->outbound.stop();\n  }\n  ending.begin(now + config.close_timeout);")
end("reset-after-terminate", CLOSE, "RDMAP-6.2.1-05", "A reset follows a Terminate, in place of a FIN.",
    "ending.send_fin(now + config.close_timeout);",
    "if (stream == StreamState::kTerminating) return end(Disposition::kReset, false); ending.send_fin(now + config.close_timeout);")
end("reset-at-close", CLOSE, "DDP-6.2.1-02 RDMAP-6.2-02 MPA-7.2-01 RDMAP-6.2-01", "A graceful end is a reset.",
    "ending.begin(now + config.finish_timeout);", "return end(Disposition::kReset, false);")
receive = TABLE.file("engine/state_receive.cpp")
receive("terminate-answered", GROUP, "RDMAP-5.4-10 RDMAP-5.4-11 RDMAP-7-03 RDMAP-5.4-06", "A Terminate is answered by another.",
        "rdma->outbound.stop();", "rdma->outbound.terminate(rdmap::make_terminate(rdmap::kLocalCatastrophic));")
receive("open-after-peers-terminate", CLOSE, "RDMAP-7-01 RDMAP-7-04 RDMAP-5.4-06 RDMAP-6.2.1-04 RDMAP-6.2.1-05 DDP-3-13 RDMAP-6.2-01",
        "The connection stays open after the peer's Terminate.",
        "ending.begin(now + config.close_timeout);", STAYS)
receive("fin-in-fpdu-unnoticed", CLOSE, "MPA-8-01 RDMAP-IANA-3.3-01", "A FIN inside an FPDU is a graceful end.",
        "if (unconsumed > 0) return fail(make_fault(mpa::Fault::kClosedInsideFpdu, rdma->inbound.position()), now);", "")
receive("abandons-at-fin", CLOSE, "DDP-6.2.1-06 DDP-6.2.1-07 DDP-6.2.1-08 RDMAP-6.2-02 DDP-6.2.1-02 MPA-7.2-01",
        "The peer's FIN ends both directions by a reset.",
        "events.push(PeerClosed{});", "return end(Disposition::kReset, true);")
state = TABLE.file("rdmap/stream_state.hpp")
state("works-on-after-error", CLOSE, "DDP-7.1-20 RDMAP-7-01 RDMAP-7-03 DDP-3-10 MPA-8-13 DDP-7.1-17",
      "Segments after one in error are placed.",
      "state == StreamState::kOperational || state == StreamState::kClosing",
      "state == StreamState::kOperational || state == StreamState::kClosing || state == StreamState::kTerminating")
outbound = TABLE.file("engine/outbound.cpp")
outbound("work-behind-terminate", "ordering", "RDMAP-5.4-10 RDMAP-7-03 DDP-3-10 RDMAP-5.4-11",
         "What waits to be sent follows the Terminate.",
         "if (ended_) return false;", "")
