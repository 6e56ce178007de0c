// SPDX-License-Identifier: Apache-2.0
#include "transport/pipe.hpp"

#include <utility>

#include "transport/pcap_tap.hpp"
#include "transport/tls/session.hpp"

namespace weft::transport {

Pipe::Pipe(Socket socket) noexcept : socket_(std::move(socket)) {}

Pipe::Pipe(Socket socket, std::unique_ptr<tls::Session> tls) noexcept
    : socket_(std::move(socket)), tls_(std::move(tls)) {
  if (tls_) tls_->attach(socket_);
}

Pipe::~Pipe() = default;

// A listener that takes both kinds of peer learns by the first octet which this one is.
IoResult Pipe::read_tls(MutableBytes first, MutableBytes second) noexcept {
  if (tls_->may_be_plain()) {
    const auto plain = tls_->looks_plain();
    if (!plain) return {.status = IoResult::Status::kWouldBlock};
    if (*plain) {
      tls_.reset();
      return second.empty() ? socket_.read(first) : socket_.read(first, second);
    }
  }
  return tls_->read(first, second);
}

IoResult Pipe::write_tls(std::span<const Bytes> pieces) noexcept { return tls_->write(pieces); }
bool Pipe::holds_tls() const noexcept { return tls_->holds(); }
bool Pipe::holds_part_tls() const noexcept { return tls_->is_inside_record(); }
bool Pipe::takes_octets_tls() const noexcept { return tls_->is_secured(); }
bool Pipe::has_output_tls() const noexcept { return tls_->has_output(); }

void Pipe::only_inside(bool on) noexcept {
  if (tls_) tls_->only_inside(on);
}

IoResult Pipe::flush() noexcept {
  const auto io = tls_ ? tls_->flush() : IoResult{.status = IoResult::Status::kMoved};
  if (io.status == IoResult::Status::kMoved && std::exchange(fin_waits_, false)) {
    socket_.shutdown_write();
    if (records()) recorded_->fin_sent();
  }
  return io;
}

void Pipe::record(PcapStream& stream) noexcept {
  recorded_ = &stream;
  if (tls_) tls_->record(stream);
}

void Pipe::shutdown_write() noexcept {
  if (tls_) tls_->close_write();
  fin_waits_ = true;
  static_cast<void>(flush());
}

void Pipe::close() noexcept {
  if (tls_ && socket_.is_open()) {
    tls_->close_write();
    static_cast<void>(tls_->flush());
  }
  socket_.close();
}

std::error_code Pipe::failure() const noexcept { return tls_ ? tls_->failure() : std::error_code{}; }

std::optional<PeerIdentity> Pipe::identity() const {
  if (!tls_ || !tls_->is_secured()) return std::nullopt;
  return tls_->identity();
}

}  // namespace weft::transport
