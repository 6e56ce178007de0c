// SPDX-License-Identifier: Apache-2.0
// What OpenSSL asks of the socket, by way of a BIO of our own. Its own one would raise SIGPIPE, and it would keep
// records that the socket does not take where no other code sees them.
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <new>
#include <utility>

#include "transport/pcap_tap.hpp"
#include "transport/tls/fault.hpp"
#include "transport/tls/session.hpp"

namespace weft::transport::tls {
namespace {

using Status = IoResult::Status;

// Record types of RFC 8446 section 5.1: change_cipher_spec, alert, handshake, application_data.
bool is_record(std::byte first) noexcept { return first >= std::byte{20} && first <= std::byte{23}; }

Session* session_of(BIO* bio) noexcept { return static_cast<Session*>(BIO_get_data(bio)); }

}  // namespace

BIO_METHOD* Session::method() noexcept {
  static BIO_METHOD* const one = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "weft socket");
    if (made == nullptr) return made;
    BIO_meth_set_read(made, [](BIO* bio, char* into, int octets) { return read_socket(bio, into, octets); });
    BIO_meth_set_write(made, [](BIO* bio, const char* from, int octets) { return write_socket(bio, from, octets); });
    BIO_meth_set_ctrl(
        made, [](BIO* bio, int what, long number, void* pointer) { return control(bio, what, number, pointer); });
    return made;
  }();
  return one;
}

// Without memory the capture of this connection ends, and the connection does not.
void Session::show(Bytes records, bool sent) noexcept {
  if (recorded_ == nullptr || records.empty()) return;
  try {
    if (sent) recorded_->sent(records);
    if (!sent) recorded_->received(records);
  } catch (const std::bad_alloc&) {
    recorded_ = nullptr;
  }
}

IoResult Session::read_wire(MutableBytes first, MutableBytes second) noexcept {
  const auto io = second.empty() ? socket_->read(first) : socket_->read(first, second);
  const std::size_t in_first = std::min(io.octets, first.size());
  show(first.first(in_first), false);
  show(second.first(io.octets - in_first), false);
  return io;
}

IoResult Session::write_wire(Bytes records) noexcept {
  const auto io = socket_->write({&records, 1});
  show(records.first(io.octets), true);
  return io;
}

// What lies after `place` is kept. It tells how many octets came in all.
IoResult Session::read_ahead(MutableBytes place) noexcept {
  if (only_inside_ || inbound_.drained) return {.status = Status::kWouldBlock};
  const MutableBytes behind = ahead_.room();
  const auto io = read_wire(place, behind);
  inbound_.drained = io.octets < place.size() + behind.size();
  ahead_.filled(io.octets - std::min(io.octets, place.size()));
  return io;
}

// The budget of messages is looked at here: of what the socket has, and of no more, a flood is read after its end.
int Session::read_socket(BIO* bio, char* into, int octets) noexcept {
  Session& self = *session_of(bio);
  Inbound& inbound = self.inbound_;
  BIO_clear_retry_flags(bio);
  if (self.is_flooded() || inbound.too_long) return -1;
  const MutableBytes place(reinterpret_cast<std::byte*>(into), static_cast<std::size_t>(octets));
  if (const std::size_t held = self.ahead_.take(place); held != 0) return self.hand_over(place.first(held));
  const auto io = inbound.told ? *inbound.told : self.read_ahead(place);
  switch (io.status) {
    case Status::kMoved:
      if (!std::exchange(inbound.begun, true)) inbound.foreign = !is_record(place.front());
      return self.hand_over(place.first(std::min(io.octets, place.size())));
    case Status::kWouldBlock: inbound.blocked = true; return BIO_set_retry_read(bio), -1;
    case Status::kEndOfStream: inbound.ended = true; return 0;
    case Status::kSecured: break;  // no socket says so
    case Status::kLost: inbound.lost = io.error; break;
  }
  return -1;
}

int Session::hand_over(Bytes octets) noexcept {
  inbound_.taken += octets.size();
  if (inbound_.begins && is_hello_too_long(octets)) return inbound_.too_long = true, -1;
  return static_cast<int>(octets.size());
}

// Returns whether the ClientHello that begins in this plaintext record is too long.
bool Session::is_hello_too_long(Bytes record) noexcept {
  const std::size_t more = std::min(record.size(), inbound_.head.size() - inbound_.heads);
  std::ranges::copy(record.first(more), inbound_.head.begin() + static_cast<std::ptrdiff_t>(inbound_.heads));
  inbound_.heads += more;
  if (inbound_.heads < inbound_.head.size()) return false;
  inbound_.begins = false;
  const auto octet = [this](std::size_t at) { return std::to_integer<std::size_t>(inbound_.head[at]); };
  return (octet(1) << 16 | octet(2) << 8 | octet(3)) > kMostOfHello;
}

int Session::write_socket(BIO* bio, const char* from, int octets) noexcept {
  BIO_clear_retry_flags(bio);
  const Bytes record(reinterpret_cast<const std::byte*>(from), static_cast<std::size_t>(octets));
  return session_of(bio)->take(record);
}

// Takes all: what the socket leaves waits in unsent_. So OpenSSL never has to be asked for the same record again.
int Session::take(Bytes record) noexcept {
  if (lost_out_) return -1;
  Bytes rest = record;
  if (!corked_ && unsent_.empty()) {
    const auto io = write_wire(record);
    if (io.status == Status::kLost) lost_out_ = io.error;
    rest = record.subspan(io.octets);
  }
  if (!lost_out_ && !keep(rest)) lost_out_ = make_error_code(Fault::kNoMemory);
  return lost_out_ ? -1 : static_cast<int>(record.size());
}

bool Session::keep(Bytes record) noexcept {
  try {
    if (unsent_.empty()) unsent_.reserve(corked_);
    unsent_.insert(unsent_.end(), record.begin(), record.end());
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

long Session::control(BIO* bio, int what, long, void*) noexcept {
  if (what == BIO_CTRL_EOF) return session_of(bio)->inbound_.ended ? 1 : 0;
  return what == BIO_CTRL_FLUSH || what == BIO_CTRL_DUP ? 1 : 0;
}

void Session::see_message(int sent, int, int type, const void* message, std::size_t octets, SSL*,
                          void* session) noexcept {
  auto& self = *static_cast<Session*>(session);
  if (sent != 0) return;
  const auto* const octet = static_cast<const std::uint8_t*>(message);
  if (type == SSL3_RT_HEADER && octets == SSL3_RT_HEADER_LENGTH) {  // the last two are the length of what follows
    const std::size_t length = (std::size_t{octet[3]} << 8) + octet[4];
    self.inbound_.announced += octets + length;
    self.see_record(octet[0], length);
  }
  if (type == SSL3_RT_HANDSHAKE) self.inbound_.inside = false;
  if (type == SSL3_RT_HANDSHAKE && self.secured_) ++self.messages_;
  if (type == SSL3_RT_ALERT && octets == 2) self.inbound_.alert = octet[1];
}

// A message whose length stands in more than one record is one of an attacker's.
void Session::see_record(std::uint8_t type, std::size_t length) noexcept {
  if (part_ == Part::kClient || type != SSL3_RT_HANDSHAKE || std::exchange(inbound_.inside, true)) return;
  inbound_.begins = true;
  inbound_.heads = 0;
  inbound_.too_long |= length < inbound_.head.size();
}

bool Session::is_flooded() const noexcept {
  constexpr std::uint64_t kOctetsOfMore = 1 << 20;
  return messages_ > kMostMessages + received_ / kOctetsOfMore;
}

}  // namespace weft::transport::tls
