// SPDX-License-Identifier: Apache-2.0
// What two ends send each other after a clean startup, ULPDU by ULPDU, and what the auditor finds in it.
#pragma once

#include "tests/conformance/conversation.hpp"

namespace weft::conformance::test {

// Each ULPDU is an FPDU with a packet of its own. In front of them the Initiator sends an empty RDMA Write: with that
// either end may send, and no queue of DDP has been used yet.
class Exchange {
 public:
  explicit Exchange(const Conversation& conversation = {});

  Exchange& initiator(const Octets& ulpdu, const FpduStream::Wrong& wrong = {});
  Exchange& responder(const Octets& ulpdu);
  // Sent when the last `less` octets of the other end had not arrived; nothing: what had arrived is unknown.
  Exchange& blind(End from, const Octets& ulpdu, std::optional<std::size_t> less);
  Exchange& gap(End from);                        // the capture lost some
  Exchange& lose(End from, const Octets& ulpdu);  // the capture lost this packet
  Exchange& close(End from, Closing how = Closing::kFin);

  // "violation DDP-4.1-13 initiator 2 octet 0": severity, clause, who, which step of the exchange (from 1), and the
  // octet of the ULPDU, if any.
  [[nodiscard]] Clauses found() const;
  // Their sentences.
  [[nodiscard]] std::vector<std::string> told() const;

 private:
  Conversation conversation_;
  Script script_;
};

inline const Clauses kNothing{};

// --- ULPDUs; opcodes of RFC 5040 figure 4 and RFC 7306 figure 2

inline constexpr unsigned kWrite = 0, kReadRequest = 1, kReadResponse = 2, kSend = 3, kSendInvalidate = 4,
                          kSendSolicited = 5, kSendSolicitedInvalidate = 6, kTerminate = 7, kImmediate = 8,
                          kImmediateSolicited = 9, kAtomicRequest = 10, kAtomicResponse = 11;

// With other octets from `at` on.
Octets changed(Octets ulpdu, std::size_t at, std::uint64_t value, unsigned size = 1);
// Without its last octets.
Octets first(const Octets& all, std::size_t count);

struct Read {  // RFC 5040 figure 6
  unsigned msn = 1;
  unsigned sink = 0x55;
  std::uint64_t sink_offset = 0x2000;
  unsigned size = 24;
  [[nodiscard]] Octets request() const;
  // One segment of the response, `skipped` octets from its start.
  [[nodiscard]] Octets response(std::size_t octets, std::size_t skipped = 0, bool last = true) const;
  [[nodiscard]] Octets response() const { return response(size); }
};

struct Atomic {  // RFC 7306 figures 5 and 6
  unsigned msn = 1;
  unsigned operation = 0;  // with the 28 reserved bits
  unsigned id = 0x77;
  std::uint64_t compare = 0;
  std::uint64_t compare_mask = ~std::uint64_t{0};
  [[nodiscard]] Octets request() const;
  [[nodiscard]] Octets response(unsigned response_msn = 1) const;
};

struct TerminateMessage {  // RFC 5040 figures 7 and 8
  unsigned layer = 1, type = 1, code = 0;
  unsigned bits = 0xc0;  // M 80, D 40, R 20
  unsigned reserved = 0;
  std::optional<std::size_t> length{};  // DDP Segment Length
  Octets header{}, rdma{};
  [[nodiscard]] Octets payload() const;
  [[nodiscard]] Octets ulpdu() const { return untagged(kTerminate, 2, 1, payload()); }
};
// M and D, of this ULPDU.
TerminateMessage over(const Octets& ulpdu);

}  // namespace weft::conformance::test
