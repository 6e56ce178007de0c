# SPDX-License-Identifier: Apache-2.0
"""RDMAP: headers and opcodes, requests and responses, atomics and Immediate Data."""

from . import TABLE

HEADER, READ, ATOMICS, IMMEDIATE = "RDMAP header", "Read", "atomics", "Immediate Data"
admit = TABLE.file("rdmap/admit.hpp")
VERSION = "RDMAP-4.1-19 RDMAP-7.2-03 RDMAP-7.2-06 RDMAP-4.8-31 RDMAPX-8.2-03"
admit("rdmap-version-unchecked", HEADER, VERSION, "A message of any RDMAP version is taken.", "version_bits(control) != Control::kVersion", "false")
admit("rdmap-version-error-code", HEADER, VERSION, "A wrong version is told as an unexpected opcode.",
      "error_code(OperationError::kInvalidVersion)", "error_code(OperationError::kUnexpectedOpcode)")
admit("opcode-error-code", HEADER, "RDMAP-4.8-32 RDMAP-7.2-02 RDMAP-7.2-05 RDMAP-4.1-15 RDMAP-4.1-16 RDMAP-IANA-3.4-01 RDMAPX-8.2-02",
      "An unexpected opcode is told as a wrong version.",
      "error_code(OperationError::kUnexpectedOpcode)", "error_code(OperationError::kInvalidVersion)")
admit("queue-of-opcode-unchecked", HEADER, "RDMAP-4.1-16 RDMAP-7.2-02 RDMAP-7.2-05 RDMAP-7.2-01 RDMAPX-8.2-02",
      "An opcode is taken on any untagged queue.",
      "kind.queue && std::to_underlying(*kind.queue) == untagged->queue", "kind.queue.has_value()")
admit("invalidate-word-of-send-checked", HEADER, "RDMAP-4.1-24 RDMAPX-4.1-04",
      "A message with an STag in a field that means nothing there is refused.",
      "return kind->opcode;",
      "if (const auto* u = std::get_if<ddp::UntaggedHeader>(&header); u != nullptr && !kind->invalidates && u->rsvd_ulp_word != 0) "
      "return std::unexpected(error_code(OperationError::kUnexpectedOpcode)); return kind->opcode;")
opcodes = TABLE.file("rdmap/opcodes.hpp")
opcodes("unknown-opcode-is-a-send", HEADER, "RDMAP-7.2-02 RDMAP-4.1-15 RDMAP-IANA-3.4-01 RDMAP-4.1-16",
        "An opcode that is not defined counts as a Send.",
        "value < kOpcodeTable.size() ? &kOpcodeTable[value] : nullptr", "value < kOpcodeTable.size() ? &kOpcodeTable[value] : &kOpcodeTable[3]")
opcodes("send-without-solicited", "Send and Invalidate", "RDMAP-4.1-12 RDMAP-4.1-05 RDMAP-5.3-06",
        "A Send with Solicited Event is sent as without.",
        "solicited ? Opcode::kSendSolicited : Opcode::kSend", "Opcode::kSend")
control = TABLE.file("rdmap/control.hpp")
control("rdmap-reserved-checked", HEADER, "RDMAP-4.1-21", "Reserved bits of the RDMAP Control Field count as version.",
        "control & Control::kVersionMask", "control & 0xF0")
OCTET = "static_cast<std::uint8_t>(Control::kVersion | std::to_underlying(opcode))"
control("rdmap-version-sent", HEADER, "RDMAP-4.1-17 RDMAPX-4.1-01 RDMAP-4.1-18",
        "RDMAP version 0 is sent.", OCTET, "static_cast<std::uint8_t>(opcode)")
control("rdmap-reserved-sent", HEADER, "RDMAP-4.1-20", "A reserved bit of the RDMAP Control Field is sent as 1.",
        OCTET, "static_cast<std::uint8_t>(Control::kVersion | 0x10 | std::to_underlying(opcode))")
control("invalidate-word-sent", HEADER, "RDMAP-4.1-23 RDMAPX-4.1-03 RDMAP-4.1-10 RDMAP-4.1-14",
        "Messages that invalidate nothing have an STag in that field.",
        "kind.invalidates ? invalidate.value : 0", "kind.invalidates ? invalidate.value : 1")

errors = TABLE.file("rdmap/errors.hpp")
REQUEST = "case ddp::AccessError::{0}: return error_code(ProtectionError::{0});"


def request_error(name, clauses, what, was, now):
    errors(name, READ, clauses, what, f"return error_code(ProtectionError::{was});", f"return error_code(ProtectionError::{now});",
           near=REQUEST.format(was))


request_error("read-invalid-stag-error-code", "RDMAP-4.8-24 RDMAP-7.2-09 SEC-5.1.1-01",
              "An invalid STag of a Read is told as out of bounds.",
              "kInvalidStag", "kBaseOrBounds")
request_error("read-foreign-stag-error-code", "RDMAP-4.8-27 RDMAP-7.2-10 SEC-6.1.1-01 SEC-6.1.1-03 SEC-6.1.1-04",
              "A foreign STag of a Read is told as one without the right.",
              "kNotAssociated", "kAccessRights")
request_error("read-rights-error-code", "RDMAP-4.8-26 RDMAP-7.2-11 SEC-6.3.5-02 SEC-2.2.2-02",
              "A Read without the right is told as one out of bounds.",
              "kAccessRights", "kBaseOrBounds")
request_error("read-bounds-error-code", "RDMAP-4.8-25 RDMAP-7.2-12 RDMAP-7.2-13 SEC-6.3.1-01",
              "A Read out of bounds is told as an invalid STag.",
              "kBaseOrBounds", "kInvalidStag")
errors("unaligned-error-code", ATOMICS, "RDMAPX-8.2-05 RDMAPX-8.2-04 RDMAPX-5.1.1-05 RDMAPX-5.1.1-07 RDMAPX-5.1.2-09 RDMAPX-5.1.2-10 RDMAPX-5.2.1-08",
       "A misaligned atomic is told as out of bounds.",
       "return error_code(OperationError::kCatastrophicStream);", "return error_code(ProtectionError::kBaseOrBounds);")
reads = TABLE.file("rdmap/read_request.hpp")
reads("long-read-request", READ, "RDMAP-4.2-02 RDMAP-4.2-01 RDMAP-5.2.1-05 RDMAP-4.4-01",
      "A Read Request may have octets after its header.",
      "payload.size() != L::kSize", "payload.size() < L::kSize")
reads("remainder-not-told", "Terminate", "RDMAP-4.8-21", "A Read that fails midway is quoted as it came.",
      "left.size -= sent;", "left = request;")
window = TABLE.file("rdmap/request_window.cpp")
BAD_RESPONSE = "RDMAP-5.2.2-05 RDMAP-5.2.2-08 RDMAP-7.2-01 RDMAP-3.2-09 DDP-7.1-12 DDP-7.1-14 DDP-7.1-15 DDP-4.2-07"
window("response-stag-unchecked", READ, BAD_RESPONSE, "A Read Response with another STag than was asked for is taken.",
       "if (header.stag != read.sink_stag) return std::unexpected(error_code(ddp::TaggedError::kInvalidStag));", "")
window("short-response-taken", READ, BAD_RESPONSE + " RDMAP-5.5-23 DDP-5.4-03",
       "A Read Response that is too short completes the Read.",
       "again || !whole", "again")
window("atomic-identifier-unchecked", ATOMICS, "RDMAPX-5.2.2-10 RDMAPX-5.2.2-02 RDMAPX-5-08",
       "An Atomic Response with another identifier is taken.",
       "atomic == nullptr || atomic->request_id != response.request_id", "atomic == nullptr")
responses = TABLE.file("rdmap/response_queue.hpp")
responses("responses-out-of-order", "ordering",
          "RDMAP-5.2.2-07 RDMAP-5.2.1-08 RDMAP-5.5-24 RDMAPX-5.2.2-11 RDMAPX-5.2.1-21 RDMAPX-5.4-09 RDMAPX-5.4-10 RDMAP-5.5-12 RDMAP-B-09",
          "The second and third request that wait are answered in the other order.",
          "if (!waiting_.push(request)) return std::unexpected(OperationError::kCatastrophicStream);",
          "if (!waiting_.push(request)) return std::unexpected(OperationError::kCatastrophicStream); "
          "if (waiting_.size() == 3) { const InboundRequest third = waiting_[2]; waiting_[2] = waiting_[1]; waiting_[1] = third; }")
order = TABLE.file("rdmap/send_order.hpp")
order("ord-ignored", "resources", "RDMAP-6.1-08 RDMAP-6.1-06 MPA2-3-02 MPA2-9.1-14 MPA2-9.1-10 SEC-6.4.3.3-04",
      "More Reads are sent than the peer can hold.",
      "if (head.is_request && outstanding >= ord) return Start::kAwaitsCredit;", "")
order("fence-ignored", "ordering", "RDMAP-5.5-16", "Work after a fence does not wait for the Reads before it.",
      "if (head.fence && outstanding > 0) return Start::kAwaitsFence;", "")

sums = TABLE.file("rdmap/atomics.hpp")
sums("add-mask-ignored", ATOMICS, "RDMAPX-5.1.1-02 RDMAPX-5.1.1-01", "FetchAdd adds all 64 bits, whatever the mask.",
     "((value & ~mask) + (addend & ~mask)) ^ ((value ^ addend) & mask)", "value + addend")
sums("compare-mask-ignored", ATOMICS, "RDMAPX-5.1.2-01 RDMAPX-5.1.2-05", "CmpSwap compares all 64 bits, whatever the mask.",
     "((value ^ compare) & compare_mask) != 0", "value != compare")
sums("swap-mask-ignored", ATOMICS, "RDMAPX-5.1.2-02 RDMAPX-5.1.2-05", "CmpSwap swaps all 64 bits, whatever the mask.",
     "(value & ~swap_mask) | (swap & swap_mask)", "swap")
sums("swap-always", ATOMICS, "RDMAPX-5.1.2-01 RDMAPX-5.1.2-02 RDMAPX-5.1.2-05", "CmpSwap swaps though the comparison failed.",
     "if (((value ^ compare) & compare_mask) != 0) return value;", "")
atomics = TABLE.file("rdmap/atomic_messages.hpp")
atomics("aopcode-reserved-checked", ATOMICS, "RDMAPX-5.2.1-02", "The reserved bits beside AOpCode belong to it.",
        "L::AOpCode::get(payload) & L::kAOpCodeMask", "L::AOpCode::get(payload)")
atomics("unknown-aopcode-adds", ATOMICS, "RDMAPX-5.2.1-18 RDMAPX-10.1-01", "An AOpCode that is not defined is a FetchAdd.",
        "return std::nullopt;", "return AtomicOperation::Kind::kFetchAdd;", near="default: return std::nullopt;")
atomics("no-cmpswap", ATOMICS, "RDMAPX-5-03 RDMAPX-5.2.1-03 RDMAPX-1.1-01 RDMAPX-5.2.1-04", "CmpSwap is not there.",
        "return AtomicOperation::Kind::kCmpSwap;", "return std::nullopt;")
atomics("original-little-endian", ATOMICS, "RDMAPX-5.1.1-08 RDMAPX-5.1.2-04 RDMAPX-5.2.2-03 RDMAPX-5.2.2-01 RDMAPX-5.1.1-01 RDMAPX-5.1.2-03",
        "The original value is sent with its octets the other way round.",
        "L::Original::put(out, response.original);", "L::Original::put(out, __builtin_bswap64(response.original));")
atomics("fetchadd-compare-fields-read", ATOMICS, "RDMAPX-5.2.1-12 RDMAPX-5.2.1-13",
        "A FetchAdd whose compare fields are not as a sender writes them is refused.",
        "if (!kind) return std::unexpected(OperationError::kUnexpectedOpcode);",
        "if (!kind || (*kind == AtomicOperation::Kind::kFetchAdd && L::CompareData::get(payload) != 0)) "
        "return std::unexpected(OperationError::kUnexpectedOpcode);")

immediate = TABLE.file("rdmap/immediate.hpp")
SIZE = "RDMAPX-6.3-07 RDMAPX-6.3-05"
immediate("long-immediate-error-code", IMMEDIATE, SIZE, "Immediate Data that is too long is told as a Send that is too long.",
          "payload_size > ImmediateData{}.size()", "false")
immediate("short-immediate", IMMEDIATE, SIZE, "Immediate Data may be shorter than 8 octets.",
          "message.size() != data.size()", "message.size() > data.size()")
