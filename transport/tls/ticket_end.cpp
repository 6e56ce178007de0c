// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/ticket_end.hpp"

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <cstdint>

namespace weft::transport::tls {
namespace {

// OpenSSL copies the pointer with the session. The time is the pointer itself: nothing has to be freed.
int end_index() noexcept {
  static const int index = SSL_SESSION_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

// A time that cannot be read is past.
std::time_t seconds_of(const ASN1_TIME& time) noexcept {
  std::tm parts{};
  return ASN1_TIME_to_tm(&time, &parts) == 1 ? ::timegm(&parts) : 1;
}

// The latest end of the lists of the certificate's issuer; a file may have an old list as well. Null: there is none.
const ASN1_TIME* end_of_lists(X509_STORE& store, const X509& certificate) noexcept {
  const ASN1_TIME* latest = nullptr;
  const STACK_OF(X509_OBJECT)* const objects = X509_STORE_get0_objects(&store);
  for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
    const X509_CRL* const list = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(objects, i));
    if (list == nullptr || X509_NAME_cmp(X509_CRL_get_issuer(list), X509_get_issuer_name(&certificate)) != 0) continue;
    const ASN1_TIME* const end = X509_CRL_get0_nextUpdate(list);
    if (end != nullptr && (latest == nullptr || ASN1_TIME_compare(end, latest) > 0)) latest = end;
  }
  return latest;
}

}  // namespace

void limit_tickets(SSL& ssl, const ASN1_TIME& until) noexcept {
  SSL_SESSION* const session = SSL_get_session(&ssl);
  if (session == nullptr) return;
  const auto before = end_of_tickets(*session);
  const std::time_t end = std::max<std::time_t>(seconds_of(until), 1);  // 0 is none
  if (before && *before <= end) return;
  SSL_SESSION_set_ex_data(session, end_index(), reinterpret_cast<void*>(static_cast<std::intptr_t>(end)));
}

void limit_tickets(X509_STORE_CTX& chain) noexcept {
  auto* const ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(&chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  X509_STORE* const store = X509_STORE_CTX_get0_store(&chain);
  const STACK_OF(X509)* const certificates = X509_STORE_CTX_get0_chain(&chain);
  if (ssl == nullptr || store == nullptr || X509_STORE_lock(store) != 1) return;
  for (int i = 0; i < sk_X509_num(certificates); ++i) {
    const X509& one = *sk_X509_value(certificates, i);
    limit_tickets(*ssl, *X509_get0_notAfter(&one));
    if (const ASN1_TIME* const end = end_of_lists(*store, one)) limit_tickets(*ssl, *end);
  }
  X509_STORE_unlock(store);
}

std::optional<std::time_t> end_of_tickets(const SSL_SESSION& session) noexcept {
  const void* const kept = SSL_SESSION_get_ex_data(&session, end_index());
  if (kept == nullptr) return std::nullopt;
  return static_cast<std::time_t>(reinterpret_cast<std::intptr_t>(kept));
}

}  // namespace weft::transport::tls
