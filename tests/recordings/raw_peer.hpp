// SPDX-License-Identifier: Apache-2.0
// A peer at a plain socket, which sends whatever octets a scene likes and reads what weft answers. The stream it sends
// is its own: frames and FPDUs, sent when the scene says so.
#pragma once

#include <cstdint>
#include <vector>

#include "ddp/header.hpp"
#include "mpa/fpdu_receiver.hpp"
#include "mpa/fpdu_sender.hpp"
#include "mpa/startup_frame.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/read_request.hpp"
#include "rdmap/terminate.hpp"
#include "tests/raw_tcp.hpp"

namespace weft::recordings {

using Octets = std::vector<std::byte>;
using test::RawListener, test::RawSocket;

class RawPeer {
 public:
  RawPeer(RawSocket socket, mpa::Framing out, mpa::Framing in) : socket_(std::move(socket)), out_(out), in_(in) {}

  // --- Startup
  void send_frame(const mpa::StartupFrame& frame);
  void hear_frame();

  // --- FPDUs
  void send(const Octets& octets) { socket_.send(octets); }
  [[nodiscard]] Octets fpdu(const Octets& ulpdu);
  [[nodiscard]] static Octets ulpdu(const ddp::Header& header, const Octets& payload);
  void segment(const ddp::Header& header, const Octets& payload) { send(fpdu(ulpdu(header, payload))); }
  void tagged(rdmap::Opcode opcode, std::uint32_t stag, std::uint64_t offset, const Octets& payload);
  void untagged(rdmap::Opcode opcode, std::uint32_t msn, const Octets& payload, std::uint32_t offset = 0);
  void finish() { socket_.shutdown_write(); }

  // --- What weft says to that: reads up to its FIN, of which the last FPDU is a Terminate.
  [[nodiscard]] rdmap::Terminate hear_terminate();
  void hear_end() { socket_.read_to_end(); }  // whatever comes before its FIN

 private:
  RawSocket socket_;
  mpa::FpduSender out_;
  mpa::FpduReceiver in_;
};

// `size` octets: 0, 1, 2 ...
[[nodiscard]] Octets pattern(std::size_t size);
// Makes the CRC right again after octets of an FPDU were changed.
void repair_crc(Octets& fpdu);

}  // namespace weft::recordings
