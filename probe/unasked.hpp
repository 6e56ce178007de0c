// SPDX-License-Identifier: Apache-2.0
// What a peer may send at any time on an established stream, whatever a case waits for: Sends, Immediate Data, RDMA
// Writes without octets or to memory that it was told of, Requests for RDMA Reads and atomics (RFC 5040 section 5,
// RFC 7306 section 5), and answers to earlier Requests of the prober. One place knows it, for all cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mpa/startup_frame.hpp"
#include "probe/messages.hpp"
#include "probe/peer_fpdu.hpp"

namespace weft::probe {

class Unasked {
 public:
  static constexpr std::size_t kMostKnown = 4096;  // Requests of each end
  // The prober's IRD: more Requests at a time are not tolerated.
  void take_at_most(std::uint16_t requests) noexcept { depth_ = requests; }
  // The peer's IRD and ORD, where the startup has told them.
  void peer_has(const mpa::EnhancedData& depths) noexcept;
  // Returns whether more Requests of the prober's are outstanding than the peer has said that it takes.
  [[nodiscard]] bool asks_too_much() const noexcept;
  // Returns whether the peer has as many Requests outstanding as it can.
  [[nodiscard]] bool peer_waits() const noexcept { return owed_.size() >= peer_ord_; }
  [[nodiscard]] std::size_t peer_ird() const noexcept { return peer_ird_; }  // kMostKnown: not told
  [[nodiscard]] std::size_t peer_ord() const noexcept { return peer_ord_; }
  // Returns whether it is an answer to a Request.
  [[nodiscard]] static bool is_answer(const PeerFpdu& fpdu) noexcept;
  // Notes a ULPDU of the prober's, in the order of the stream.
  void on_sent(Bytes ulpdu);
  // Notes an FPDU of the peer's, once, in the order of the stream. Returns whether the peer may send it at any time.
  bool on_received(const PeerFpdu& fpdu);
  // The case has no use for the FPDU that was received last: if it is a Request, it is answered when its turn comes.
  void skip(const PeerFpdu& fpdu);
  // Returns whether the last FPDU is a segment of a Read Response, and the Read that it answers was requested before
  // the one with this sink.
  [[nodiscard]] bool is_of_an_earlier_read(ddp::Stag sink, ddp::TaggedOffset offset) const;
  // Returns the answers that are due, in the order of the Requests. A Request that a case has to answer holds back
  // those after it.
  [[nodiscard]] std::vector<Ulpdu> due(Messages& make);
  // Names what was skipped since the last call of forget(): "a Send of 7 octets, an RDMA Write of 0 octets". For
  // people.
  [[nodiscard]] std::string skipped() const;
  void forget() noexcept;

 private:
  // A Read of the prober's.
  struct Asked {
    rdmap::ReadRequest request{};
    std::uint64_t answered{};  // octets
    bool done{};
  };
  // A Request of the peer's.
  struct Owed {
    std::variant<rdmap::ReadRequest, rdmap::AtomicRequest> request{};
    bool skipped{};
  };

  bool takes_answer(const PeerFpdu& fpdu);
  void answered();
  bool owe(const Owed& owed);

  static constexpr std::uint32_t kMostRead = 1U << 20U;  // octets of an answer
  static constexpr std::size_t kMostNamed = 4;
  std::deque<Asked> asked_{};
  std::optional<std::size_t> answers_{};  // which of them the last FPDU answers
  std::size_t atomics_asked_ = 0;
  std::deque<Owed> owed_{};
  std::size_t depth_ = kMostKnown;
  std::size_t peer_ird_ = kMostKnown;
  std::size_t peer_ord_ = kMostKnown;
  std::vector<std::string> named_{};
  std::size_t skipped_ = 0;
};

}  // namespace weft::probe
