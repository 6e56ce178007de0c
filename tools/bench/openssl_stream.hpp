// SPDX-License-Identifier: Apache-2.0
// OpenSSL over TCP as a careful program without weft has it, which weft over TLS is held against: TLS 1.3, records of
// 16 KiB, many records to a read; both ends show a certificate, and verify the other's by the CA.
#pragma once

#include <array>
#include <memory>

#include "tools/bench/raw_stream.hpp"
#include "tools/cli/outcome.hpp"
#include "verbs/policy.hpp"

struct bio_st;
struct bio_method_st;
struct ssl_ctx_st;
struct ssl_session_st;
struct ssl_st;

namespace weft::tools::bench {

class OpenSslStream final : public RawStream {
 public:
  static constexpr std::size_t kRecord = 16 * 1024;  // octets in clear (RFC 8446 section 5.1)

  OpenSslStream(UniqueFd socket, ssl_ctx_st& context);
  ssize_t send(std::span<const iovec> pieces, int flags) override;
  ssize_t receive(MutableBytes place, int flags) override;
  void close_write() override;
  [[nodiscard]] std::shared_ptr<ssl_session_st> session() const override;

  // Sleeps until it is over. `session`: to resume, or none.
  Outcome<void> connect(ssl_session_st* session);
  Outcome<void> accept();
  [[nodiscard]] bool has_resumed() const noexcept;

 private:
  struct Free {
    void operator()(ssl_st* ssl) const noexcept;
  };
  template <typename Call>
  ssize_t step(int flags, Call call);
  Outcome<void> shake_hands();
  Bytes joined(std::span<const iovec> pieces) noexcept;
  static bio_method_st* method() noexcept;
  static int read_socket(bio_st* bio, char* into, int octets) noexcept;
  static int write_socket(bio_st* bio, const char* from, int octets) noexcept;

  std::unique_ptr<ssl_st, Free> ssl_;
  int flags_ = 0;    // of the call under way
  int blocked_ = 0;  // what the socket said in it
  std::array<std::byte, kRecord> record_{};
};

// Whether connections may be resumed.
enum class Sessions : std::uint8_t { kNone, kResumed };

// With the policy's files.
Outcome<std::shared_ptr<ssl_ctx_st>> openssl_context(const verbs::Policy& policy, Sessions sessions);

}  // namespace weft::tools::bench
