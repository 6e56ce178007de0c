// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/openssl_stream.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace weft::tools::bench {
namespace {

OpenSslStream* stream_of(BIO* bio) { return static_cast<OpenSslStream*>(BIO_get_data(bio)); }

std::unexpected<Failure> openssl_failure(const std::string& doing) {
  char why[256] = "no reason given";
  if (const unsigned long error = ERR_peek_last_error(); error != 0) ERR_error_string_n(error, why, sizeof why);
  return failure("openssl: " + doing + ": " + why + ".");
}

}  // namespace

void OpenSslStream::Free::operator()(SSL* ssl) const noexcept { SSL_free(ssl); }

OpenSslStream::OpenSslStream(UniqueFd socket, SSL_CTX& context)
    : RawStream(std::move(socket)), ssl_(SSL_new(&context)) {
  BIO* const bio = ssl_ ? BIO_new(method()) : nullptr;
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
}

// OpenSSL's own BIO would raise SIGPIPE, and its socket either always waits or never.
BIO_METHOD* OpenSslStream::method() noexcept {
  static BIO_METHOD* const one = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (made == nullptr) return made;
    BIO_meth_set_read(made, [](BIO* bio, char* into, int octets) { return read_socket(bio, into, octets); });
    BIO_meth_set_write(made, [](BIO* bio, const char* from, int octets) { return write_socket(bio, from, octets); });
    BIO_meth_set_ctrl(made, [](BIO*, int what, long, void*) { return what == BIO_CTRL_FLUSH ? 1L : 0L; });
    return made;
  }();
  return one;
}

int OpenSslStream::read_socket(BIO* bio, char* into, int octets) noexcept {
  OpenSslStream& self = *stream_of(bio);
  BIO_clear_retry_flags(bio);
  const ssize_t got = ::recv(self.descriptor(), into, static_cast<std::size_t>(octets), self.flags_);
  if (got < 0) self.blocked_ = errno;
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

int OpenSslStream::write_socket(BIO* bio, const char* from, int octets) noexcept {
  OpenSslStream& self = *stream_of(bio);
  BIO_clear_retry_flags(bio);
  const auto length = static_cast<std::size_t>(octets);
  const ssize_t sent = ::send(self.descriptor(), from, length, MSG_NOSIGNAL | self.flags_);
  if (sent < 0) self.blocked_ = errno;
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

// One call of OpenSSL's, told as the system would tell it.
template <typename Call>
ssize_t OpenSslStream::step(int flags, Call call) {
  flags_ = flags;
  blocked_ = 0;
  ERR_clear_error();
  std::size_t moved = 0;
  if (call(moved) == 1) return static_cast<ssize_t>(moved);
  switch (SSL_get_error(ssl_.get(), 0)) {
    case SSL_ERROR_ZERO_RETURN: return 0;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: errno = blocked_ != 0 ? blocked_ : EINTR; break;
    default: errno = blocked_ != 0 ? blocked_ : EPROTO;
  }
  return -1;
}

ssize_t OpenSslStream::send(std::span<const iovec> pieces, int flags) {
  const Bytes octets = joined(pieces);
  return step(flags, [&](std::size_t& put) { return SSL_write_ex(ssl_.get(), octets.data(), octets.size(), &put); });
}

ssize_t OpenSslStream::receive(MutableBytes place, int flags) {
  return step(flags, [&](std::size_t& got) { return SSL_read_ex(ssl_.get(), place.data(), place.size(), &got); });
}

void OpenSslStream::close_write() {
  step(0, [&](std::size_t&) { return SSL_shutdown(ssl_.get()); });
  RawStream::close_write();
}

// Small pieces share a record; a large one is not copied.
Bytes OpenSslStream::joined(std::span<const iovec> pieces) noexcept {
  const iovec& first = pieces.front();
  if (pieces.size() == 1 || first.iov_len >= kRecord)
    return {static_cast<const std::byte*>(first.iov_base), first.iov_len};
  std::size_t used = 0;
  for (const iovec& piece : pieces) {
    const std::size_t length = std::min(piece.iov_len, kRecord - used);
    std::memcpy(record_.data() + used, piece.iov_base, length);
    used += length;
    if (used == kRecord) break;
  }
  return Bytes(record_).first(used);
}

Outcome<void> OpenSslStream::shake_hands() {
  while (step(0, [&](std::size_t&) { return SSL_do_handshake(ssl_.get()); }) < 0) {
    if (errno == EINTR) continue;
    if (const long verified = SSL_get_verify_result(ssl_.get()); verified != X509_V_OK)
      return failure(std::string("openssl: the peer's certificate: ") + X509_verify_cert_error_string(verified) + ".");
    return openssl_failure("handshake");
  }
  return {};
}

Outcome<void> OpenSslStream::connect(SSL_SESSION* session) {
  SSL_set_connect_state(ssl_.get());
  if (session != nullptr) SSL_set_session(ssl_.get(), session);
  return shake_hands();
}

Outcome<void> OpenSslStream::accept() {
  SSL_set_accept_state(ssl_.get());
  return shake_hands();
}

std::shared_ptr<SSL_SESSION> OpenSslStream::session() const {
  SSL_SESSION* const last = SSL_get1_session(ssl_.get());
  if (last == nullptr) return nullptr;
  std::shared_ptr<SSL_SESSION> owned(last, &SSL_SESSION_free);
  return SSL_SESSION_is_resumable(last) == 1 ? owned : nullptr;
}

bool OpenSslStream::has_resumed() const noexcept { return SSL_session_reused(ssl_.get()) == 1; }

namespace {

bool take_files(SSL_CTX* context, const verbs::Policy& policy) {
  const std::string& key = policy.tls.key.empty() ? policy.tls.certificate : policy.tls.key;
  return SSL_CTX_use_certificate_chain_file(context, policy.tls.certificate.c_str()) == 1 &&
         SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) == 1 &&
         SSL_CTX_load_verify_file(context, policy.tls.ca.c_str()) == 1;
}

// One ticket: a client that comes again needs no more. What is resumed has to be of this program.
void set_sessions(SSL_CTX* context, Sessions sessions) {
  constexpr unsigned char kOurs[] = "weft bench";
  SSL_CTX_set_num_tickets(context, sessions == Sessions::kResumed ? 1 : 0);
  SSL_CTX_set_session_id_context(context, kOurs, sizeof kOurs);
  if (sessions == Sessions::kResumed) return;
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
}

}  // namespace

Outcome<std::shared_ptr<SSL_CTX>> openssl_context(const verbs::Policy& policy, Sessions sessions) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_method()), &SSL_CTX_free);
  ERR_clear_error();
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1) return openssl_failure("TLS 1.3");
  if (!take_files(context.get(), policy)) return openssl_failure("tls-certificate, tls-key and tls-ca");
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context.get(), 1);
  set_sessions(context.get(), sessions);
  return context;
}

}  // namespace weft::tools::bench
