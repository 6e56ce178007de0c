// SPDX-License-Identifier: Apache-2.0
#include "transport/pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "transport/pcap_tap.hpp"
#include "transport/same_host/session.hpp"
#include "transport/tls/session.hpp"

namespace weft::transport {

Pipe::Pipe(Socket socket) noexcept : socket_(std::move(socket)) {}

Pipe::Pipe(Socket socket, std::unique_ptr<tls::Session> tls) noexcept
    : socket_(std::move(socket)), plain_(!tls), tls_(std::move(tls)) {
  if (tls_) tls_->attach(socket_);
}

Pipe::~Pipe() = default;

// --- Shared memory

void Pipe::share(std::unique_ptr<same_host::Session> shared) noexcept {
  shared_ = std::move(shared);
  plain_ = false;
}

// The doorbell ends with it: the peer reads what is in the ring, and then finds the end.
void Pipe::stop_sharing() noexcept {
  shared_.reset();
  plain_ = true;
}

bool Pipe::rest(bool sleeps) noexcept {
  if (sleeps) return shared_->sleep();
  shared_->awake();
  return false;
}

// --- Data path

IoResult Pipe::read_other(MutableBytes first, MutableBytes second) noexcept {
  return shared_ ? shared_->read(first, second) : read_tls(first, second);
}

IoResult Pipe::write_other(std::span<const Bytes> pieces) noexcept {
  return shared_ ? shared_->write(pieces) : tls_->write(pieces);
}

Bytes Pipe::lend_shared(std::size_t octets) noexcept { return shared_->lend(octets); }
void Pipe::take_back(std::size_t octets) noexcept { shared_->take_back(octets); }
MutableBytes Pipe::room_shared() noexcept { return shared_->room_in_place(); }

// A listener that takes both kinds of peer learns by the first octet which this one is.
IoResult Pipe::read_tls(MutableBytes first, MutableBytes second) noexcept {
  if (tls_->may_be_plain()) {
    const auto plain = tls_->looks_plain();
    if (!plain) return {.status = IoResult::Status::kWouldBlock};
    if (*plain) {
      tls_.reset();
      plain_ = true;
      return second.empty() ? socket_.read(first) : socket_.read(first, second);
    }
  }
  return tls_->read(first, second);
}

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
  if (shared_) shared_->shutdown_write();
}

void Pipe::close() noexcept {
  if (tls_ && socket_.is_open()) {
    tls_->close_write();
    static_cast<void>(tls_->flush());
  }
  if (shared_) shared_->shutdown_write();
  socket_.close();
  if (shared_) stop_sharing();
}

// A peer that is woken by the end of the doorbell finds what TCP says of it.
void Pipe::reset() noexcept {
  if (shared_) shared_->reset();
  socket_.reset();
  if (shared_) stop_sharing();
}

void Pipe::leave_to_parent(int nowhere) noexcept {
  if (nowhere < 0 || !socket_.is_open()) return;
  ::dup3(nowhere, socket_.descriptor(), O_CLOEXEC);
  if (shared_) shared_->leave_to_parent(nowhere);
}

// --- Queries

std::size_t Pipe::unacknowledged() const noexcept {
  return shared_ ? shared_->unread_by_peer() : socket_.unacknowledged();
}

bool Pipe::peer_has_closed() const noexcept { return shared_ ? shared_->peer_has_closed() : socket_.peer_has_closed(); }

bool Pipe::peer_takes_nothing() const noexcept {
  return shared_ ? shared_->unread_by_peer() != 0 : socket_.peer_takes_nothing();
}

bool Pipe::is_ready(bool to_read, bool to_write) const noexcept {
  return shared_ ? (to_read && shared_->is_readable()) || (to_write && shared_->is_writable())
                 : socket_.is_ready(to_read, to_write);
}

PipeFailure Pipe::failure() const noexcept {
  return {.tls = tls_ ? tls_->failure() : std::error_code{},
          .offer_refused = shared_ && shared_->has_ended() && !socket_.peer_has_closed()};
}

std::optional<PeerIdentity> Pipe::identity() const {
  if (!tls_ || !tls_->is_secured()) return std::nullopt;
  return tls_->identity();
}

}  // namespace weft::transport
