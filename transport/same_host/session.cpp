// SPDX-License-Identifier: Apache-2.0
#include "transport/same_host/session.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <utility>

#include "transport/detail/system_calls.hpp"

namespace weft::transport::same_host {

using Status = IoResult::Status;

Session::Session(Memory memory, Socket doorbell, Memory::From writes) noexcept
    : memory_(std::move(memory)),
      doorbell_(std::move(doorbell)),
      in_(memory_.ring(writes == Memory::From::kInitiator ? Memory::From::kAcceptor : Memory::From::kInitiator)),
      out_(memory_.ring(writes)) {}

IoResult Session::lose(std::errc error) noexcept {
  lost_ = std::make_error_code(error);
  return lost();
}

// A full socket holds octets that the peer has not drained, so it is awake, or will be. A bell that cannot be rung for
// another reason would leave a peer asleep, so it counts as the end of the connection: the next read tells.
void Session::ring() noexcept {
  const std::byte octet{};
  ssize_t put = 0;
  do {
    put = send(doorbell_.descriptor(), Bytes(&octet, 1), MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (put < 0 && errno == EINTR);
  if (put < 0 && errno != EAGAIN && peer_ == Peer::kThere) peer_ = Peer::kGone;
}

// What is left after one call keeps the doorbell readable. A peer that keeps to the rules rings twice at most: once for
// octets, once for room.
void Session::drain() noexcept {
  if (peer_ != Peer::kThere) return;
  std::array<std::byte, 64> octets;
  const IoResult result = doorbell_.read(octets);
  if (result.status == Status::kEndOfStream || result.status == Status::kLost) peer_ = Peer::kGone;
}

IoResult Session::read(MutableBytes first, MutableBytes second) noexcept {
  if (lost_) return lost();
  const bool wanted = !first.empty() || !second.empty();
  RingResult result = in_.read(first, second);
  if (wanted && result.octets == 0 && looks_once_more()) result = in_.read(first, second);
  if (result.impossible) return lose(std::errc::protocol_error);
  if (result.rings) ring();
  if (wanted && result.octets == 0) return nothing_to_read();
  reads_in_vain_ = 0;
  return {.status = Status::kMoved, .octets = result.octets};
}

// Returns whether the peer was found to have gone: what it wrote came before its end, and is visible by now.
bool Session::looks_once_more() noexcept {
  const bool asks = ++reads_in_vain_ % kReadsPerLook == 0;
  if (asks && peer_ == Peer::kThere && doorbell_.peer_has_closed()) peer_ = Peer::kGone;
  return peer_ != Peer::kThere;
}

// Returns what a read that finds no octets returns. If a process ends, the kernel sends a FIN, or a reset if that
// process had unread octets; this reports the same.
IoResult Session::nothing_to_read() noexcept {
  if (peer_ != Peer::kThere) peer_ = Peer::kGoneAndTold;
  end_was_told_ = in_.ended();
  if (in_.was_reset()) return lose(std::errc::connection_reset);
  if (end_was_told_) return {.status = Status::kEndOfStream};
  if (peer_ == Peer::kThere) return {.status = Status::kWouldBlock};
  if (out_.unread() != 0) return lose(std::errc::connection_reset);
  return {.status = Status::kEndOfStream};
}

void Session::take_back(std::size_t octets) noexcept {
  if (in_.take_back(octets)) ring();
}

MutableBytes Session::room_in_place() noexcept {
  if (lost_) return {};
  const MutableBytes room = out_.room_in_place(kMostInPlace / 2);
  return room.first(std::min(room.size(), kMostInPlace));
}

// An end that polls never sleeps, and its peer rings it each time that a full ring has room. If nobody drained those
// bells, they would fill the peer's side of the doorbell, which epoll sets then no longer report as writable. While
// this end is announced as asleep, a bell may be what wakes it, so it is left to sleep().
IoResult Session::write(std::span<const Bytes> pieces) noexcept {
  if (lost_) return lost();
  if (out_.ended() || peer_ != Peer::kThere) {
    return {.status = Status::kLost, .error = std::make_error_code(std::errc::broken_pipe)};
  }
  const RingResult result = out_.write(pieces);
  if (result.rung && !in_.has_announced()) drain();
  if (result.rings) ring();
  if (result.impossible) return lose(std::errc::protocol_error);
  if (result.full && result.octets == 0) return {.status = Status::kWouldBlock};
  return {.status = Status::kMoved, .octets = result.octets};
}

// The doorbell is drained before the announcement. In the other order, a bell for octets that were read already could
// take the flag of this announcement and be drained with it: this end would sleep, and no octet would ring.
bool Session::sleep() noexcept {
  if (lost_) return false;
  drain();
  in_.announce_sleep();
  const bool awake = has_news();
  if (awake) in_.withdraw_sleep();
  return awake;
}

bool Session::has_news() noexcept {
  if (!in_.look()) return true;  // the read that follows tells
  return !in_.empty() || (in_.ended() && !end_was_told_) || peer_ == Peer::kGone || out_.room_was_made();
}

void Session::shutdown_write() noexcept {
  if (lost_ || out_.ended()) return;
  static_cast<void>(out_.end());
  ring();  // whether it sleeps or not: an owner that leaves octets in the ring still asks for the end
}

void Session::reset() noexcept {
  if (!lost_ && !out_.ended()) static_cast<void>(out_.end(RingHeader::kReset));  // the end of the doorbell rings
}

void Session::leave_to_parent(int nowhere) noexcept {
  if (nowhere >= 0) ::dup3(nowhere, doorbell_.descriptor(), O_CLOEXEC);
  static_cast<void>(lose(std::errc::operation_canceled));
}

}  // namespace weft::transport::same_host
