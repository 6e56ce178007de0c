// SPDX-License-Identifier: Apache-2.0
// OCSP's answer about a certificate, "stapled" to it in the handshake (RFC 8446 section 4.4.2.1): the CA's word that it
// is not revoked, some days old at most. A listener shows what a file has; its administrator has a tool that renews the
// file. An end that connects judges what it is shown. (No listener asks: OpenSSL 3.0 has no staple of a client's.)
#pragma once

#include <string_view>
#include <vector>

struct ssl_ctx_st;
struct ssl_st;

namespace weft::transport::tls {

// The OCSP response of one context. Outlives the context.
class Staple {
 public:
  // What the context's listeners show. False: it is no answer.
  [[nodiscard]] bool take(std::string_view octets);
  // Whether a listener has to show one, whatever its certificate says.
  void require(bool on) noexcept { required_ = on; }
  void serve(ssl_ctx_st& context) noexcept;
  // Before the handshake of an end that connects. An answer that is wrong, old, or "revoked" ends the handshake. So
  // does none where it is required, here or by the certificate itself (RFC 7633).
  static void ask(ssl_st& ssl) noexcept;

 private:
  static int see(ssl_st* ssl, void* self) noexcept;
  [[nodiscard]] int show(ssl_st& ssl) const noexcept;
  [[nodiscard]] int judge(ssl_st& ssl) const noexcept;

  std::vector<unsigned char> answer_{};
  bool required_ = false;
};

}  // namespace weft::transport::tls
