// SPDX-License-Identifier: Apache-2.0
// Handshake, reading, writing, and what the end was. SSL_get_error() is not asked: it would take an error that the
// application left in OpenSSL's list for ours.
#include "transport/tls/session.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "transport/cancellation.hpp"
#include "transport/tls/error_mark.hpp"
#include "transport/tls/facts.hpp"
#include "transport/tls/fault.hpp"

namespace weft::transport::tls {
namespace {

using Status = IoResult::Status;

constexpr std::byte kHandshake{0x16};  // the first octet of a ClientHello; of MPA's startup frame it is 'M'
// To a peer that speaks no TLS: the alert protocol_version. Its end sees that TLS was the matter.
constexpr std::array kNotPlain{std::byte{0x15}, std::byte{3}, std::byte{3},   std::byte{0},
                               std::byte{2},    std::byte{2}, std::byte{0x46}};

IoResult moved(std::size_t octets) noexcept { return {.status = Status::kMoved, .octets = octets}; }
IoResult lost(std::error_code error) noexcept { return {.status = Status::kLost, .error = error}; }

}  // namespace

void Session::Free::operator()(SSL* ssl) const noexcept { SSL_free(ssl); }

std::unique_ptr<Session> Session::make(std::shared_ptr<const Context> context, Part part) noexcept {
  const ErrorMark others;
  try {
    return std::make_unique<Session>(std::move(context), part);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Session::Session(std::shared_ptr<const Context> context, Part part)
    : context_(std::move(context)), part_(part), ssl_(SSL_new(context_->get())) {
  BIO* const bio = ssl_ ? BIO_new(method()) : nullptr;
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL* const ssl = ssl_.get();
  SSL_set_bio(ssl, bio, bio);
  SSL_set_msg_callback(ssl, see_message);
  SSL_set_msg_callback_arg(ssl, this);
  const bool asks = context_->judges_peers();
  if (part == Part::kClient) {
    SSL_set_connect_state(ssl);
    SSL_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
    if (context_->has_ca()) Staple::ask(*ssl);
  } else {
    SSL_set_accept_state(ssl);
    Tickets::give(*ssl);
    SSL_set_max_cert_list(ssl, kMostCertificates);
    SSL_set_verify(ssl, asks ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_NONE, nullptr);
  }
}

Session::~Session() = default;

bool Session::is_resumed() const noexcept { return SSL_session_reused(ssl_.get()) == 1; }

// --- Handshake

std::optional<bool> Session::looks_plain() noexcept {
  std::byte first{};
  const auto io = socket_->peek({&first, 1});
  if (io.status == Status::kWouldBlock) return std::nullopt;
  greeted_ = io.status == Status::kMoved && first == kHandshake;
  return !greeted_;
}

// False when there is nothing to shake hands with: no octet yet, or no TLS.
bool Session::greet() noexcept {
  if (part_ == Part::kClient || greeted_) return true;
  const auto plain = looks_plain();
  if (plain != true) return plain.has_value();
  std::array<std::byte, 1024> dropped;  // else the kernel would answer what lies there with a reset
  if (read_wire(dropped).status != Status::kMoved) return true;  // over before it began: OpenSSL is told so
  inbound_.foreign = true;
  static_cast<void>(write_wire(kNotPlain));
  end_ = lost(make_error_code(Fault::kSpeaksNoTls));
  return false;
}

IoResult Session::shake_hands() noexcept {
  if (!greet()) return end_ ? *end_ : IoResult{.status = Status::kWouldBlock};
  const NoCancellation here;
  const bool first = !std::exchange(begun_, true);
  if (first && part_ == Part::kClient && context_->tickets() != nullptr) context_->tickets()->offer(*ssl_, *socket_);
  inbound_.look_again();
  if (SSL_do_handshake(ssl_.get()) != 1) return stopped(0);
  secured_ = true;
  count_handshake(is_resumed());
  held_ = holds_records();
  return {.status = Status::kSecured};
}

// --- Reading

IoResult Session::read(MutableBytes first, MutableBytes second) noexcept {
  if (end_) return held_ = false, *end_;
  inbound_.look_again();
  if (secured_ && !holds_records() && nothing_came()) return held_ = false, IoResult{.status = Status::kWouldBlock};
  const ErrorMark others;
  if (!secured_) return shake_hands();
  std::size_t octets = 0;
  for (MutableBytes place : {first, second}) {
    while (!place.empty() && (octets == 0 || !inbound_.drained || holds_records())) {
      std::size_t got = 0;
      if (SSL_read_ex(ssl_.get(), place.data(), place.size(), &got) != 1) return stopped(octets);
      octets += got;
      received_ += got;
      place = place.subspan(got);
    }
  }
  held_ = holds_records();
  return moved(octets);
}

// OpenSSL is not asked for what the socket has not: its no takes longer than the socket's, and those that poll ask
// often.
bool Session::nothing_came() noexcept {
  if (only_inside_) return true;
  const MutableBytes room = ahead_.room();
  if (room.empty()) return false;  // without memory OpenSSL reads what it has a place for
  const auto io = read_wire(room);
  ahead_.filled(io.octets);
  inbound_.drained = io.octets < room.size();
  if (io.status != Status::kMoved && io.status != Status::kWouldBlock) inbound_.told = io;
  return io.status == Status::kWouldBlock;
}

bool Session::holds_records() const noexcept { return !ahead_.empty() || SSL_has_pending(ssl_.get()) == 1; }

// OpenSSL gave nothing more: for now, or forever. What came before an end is told before the end.
IoResult Session::stopped(std::size_t octets) noexcept {
  const bool for_now = inbound_.blocked;
  if (!for_now) end_ = end_of_session();
  held_ = !for_now && octets != 0;
  if (octets != 0) return moved(octets);
  return for_now ? IoResult{.status = Status::kWouldBlock} : *end_;
}

IoResult Session::end_of_session() noexcept {
  constexpr std::uint8_t kCloseNotify = 0;
  if (secured_ && inbound_.alert == kCloseNotify) return {.status = Status::kEndOfStream};
  return lost(reason_of_failure());
}

std::error_code Session::reason_of_failure() const noexcept {
  if (inbound_.alert.value_or(0) != 0) return of_alert(*inbound_.alert);
  const bool reset = !secured_ && inbound_.lost == std::errc::connection_reset;
  if (inbound_.lost) return reset ? make_error_code(Fault::kEndedEarly) : inbound_.lost;
  if (is_flooded()) return make_error_code(Fault::kTooManyMessages);
  if (inbound_.too_long) return make_error_code(Fault::kHelloTooLong);
  if (inbound_.foreign && !secured_) return make_error_code(Fault::kSpeaksNoTls);
  if (inbound_.ended) return make_error_code(secured_ ? Fault::kTruncated : Fault::kEndedEarly);
  const long verified = SSL_get_verify_result(ssl_.get());
  return verified != X509_V_OK && !secured_ ? of_verification(verified) : of_library(ERR_peek_last_error());
}

// --- Writing

namespace {

// The octets of many pieces, one after the other.
class Front {
 public:
  explicit Front(std::span<const Bytes> pieces) noexcept : pieces_(pieces) {}
  void skip(std::size_t octets) noexcept {
    for (Bytes run = next(octets); !run.empty(); run = next(octets)) octets -= run.size();
  }
  [[nodiscard]] std::size_t octets() const noexcept {
    std::size_t sum = 0;
    for (const Bytes piece : pieces_) sum += piece.size();
    return sum - offset_;
  }
  // Joined, so that a record is as large as it may be; what lies in one run is not copied. Empty: there is no more.
  Bytes record(MutableBytes joined) noexcept {
    Bytes run = next(joined.size());
    if (run.size() == joined.size() || pieces_.empty()) return run;
    std::size_t used = 0;
    for (; !run.empty(); run = next(joined.size() - used)) {
      std::memcpy(joined.data() + used, run.data(), run.size());
      used += run.size();
    }
    return joined.first(used);
  }

 private:
  // A run of at most as many.
  Bytes next(std::size_t most) noexcept {
    if (pieces_.empty() || most == 0) return {};
    const Bytes rest = pieces_.front().subspan(offset_);
    const Bytes run = rest.first(std::min(rest.size(), most));
    offset_ += run.size();
    if (run.size() == rest.size()) pieces_ = pieces_.subspan(1), offset_ = 0;
    return run;
  }

  std::span<const Bytes> pieces_;
  std::size_t offset_ = 0;  // in the first
};

}  // namespace

// The front that was written and not told is offered again, the same octets: its records are here.
IoResult Session::write(std::span<const Bytes> pieces) noexcept {
  const auto before = flush();
  if (before.status != Status::kMoved) return before;
  if (!secured_) return {.status = Status::kWouldBlock};
  const ErrorMark others;
  Front front(pieces);
  std::size_t told = std::exchange(owed_, 0);
  front.skip(told);
  const std::size_t rest = front.octets();
  corked_ = rest > kRecord ? std::min(rest, kMostOfWrite) + kMostOfWrite / kRecord * kOverhead : 0;
  for (;;) {
    std::array<std::byte, kRecord> joined;  // not initialised: only the front is used
    Bytes record = front.record(joined);
    if (record.empty()) return corked_ = 0, moved(told);
    for (; !record.empty(); record = owed_ < kMostOfWrite ? front.record(joined) : Bytes()) encrypt(record);
    const auto io = flush();
    if (io.status == Status::kMoved) told += std::exchange(owed_, 0);
    if (io.status != Status::kMoved) return corked_ = 0, told != 0 ? moved(told) : io;
  }
}

void Session::encrypt(Bytes record) noexcept {
  std::size_t put = 0;
  if (lost_out_) return;
  if (SSL_write_ex(ssl_.get(), record.data(), record.size(), &put) != 1 && !lost_out_)
    lost_out_ = end_ && end_->error ? end_->error : of_library(ERR_peek_last_error());
  owed_ += put;
}

IoResult Session::flush() noexcept {
  const ErrorMark others;
  if (part_ == Part::kClient && !begun_) {
    only_inside_ = true;  // an answer that is here already is for read(), which tells that the handshake is over
    const auto io = shake_hands();
    only_inside_ = false;
    if (io.status == Status::kLost) return io;
  }
  while (!unsent_.empty() && !lost_out_) {
    const auto io = write_wire(unsent_);
    if (io.status == Status::kWouldBlock) return io;
    if (io.status == Status::kLost) lost_out_ = io.error;
    unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(io.octets));
  }
  if (lost_out_) return lost(lost_out_);
  if (unsent_.capacity() > kRecord / 4) unsent_ = {};  // an idle connection holds none
  return moved(0);
}

void Session::close_write() noexcept {
  const ErrorMark others;
  const bool done = (SSL_get_shutdown(ssl_.get()) & SSL_SENT_SHUTDOWN) != 0;  // again, it would read
  if (secured_ && !lost_out_ && !done) SSL_shutdown(ssl_.get());
}

std::error_code Session::failure() const noexcept {
  const auto error = end_ && end_->status == Status::kLost ? end_->error : std::error_code{};
  return reason_of(error) ? error : std::error_code{};
}

}  // namespace weft::transport::tls
