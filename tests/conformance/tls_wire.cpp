// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/tls_wire.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "transport/tls/authority.hpp"

namespace weft::conformance::test {
namespace {

void must(bool done, const char* what) {
  if (!done) throw std::runtime_error(what);
}

BIO* bio_of(const std::string& text) { return BIO_new_mem_buf(text.data(), static_cast<int>(text.size())); }

void use_certificate(SSL_CTX* context) {
  using transport::tls::Authority;
  const auto issued = Authority::make("test", Authority::Days(10)).value().issue({.common_name = "end"}).value();
  BIO* const certificate_text = bio_of(issued.certificate);
  BIO* const key_text = bio_of(issued.key);
  X509* const certificate = PEM_read_bio_X509(certificate_text, nullptr, nullptr, nullptr);
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(key_text, nullptr, nullptr, nullptr);
  must(SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1, "certificate");
  X509_free(certificate);
  EVP_PKEY_free(key);
  BIO_free(certificate_text);
  BIO_free(key_text);
}

}  // namespace

Octets from_hex(std::string_view digits) {
  Octets octets;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
    octets.push_back(static_cast<std::byte>(std::stoi(std::string(digits.substr(at, 2)), nullptr, 16)));
  }
  return octets;
}

TlsWire::Ssl TlsWire::make(const char* suite, bool server) {
  const std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()));
  if (suite != nullptr) must(SSL_CTX_set_ciphersuites(context.get(), suite) == 1, "suite");
  const int version = suite != nullptr ? TLS1_3_VERSION : TLS1_2_VERSION;
  must(SSL_CTX_set_min_proto_version(context.get(), version) == 1, "version");
  must(SSL_CTX_set_max_proto_version(context.get(), version) == 1, "version");
  if (server) {
    use_certificate(context.get());
    SSL_CTX_set_keylog_callback(context.get(), [](const SSL* ssl, const char* line) {
      static_cast<TlsWire*>(SSL_get_app_data(ssl))->key_log += std::string(line) + '\n';
    });
  }
  Ssl ssl(SSL_new(context.get()));
  SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  if (server) SSL_set_accept_state(ssl.get());
  if (!server) SSL_set_connect_state(ssl.get());
  return ssl;
}

TlsWire::TlsWire(const char* suite) : ends_{make(suite, false), make(suite, true)} {
  for (const auto& end : ends_) SSL_set_app_data(end.get(), this);
  for (bool more = true; more;) {
    more = false;
    for (const End each : {End::kFirst, End::kSecond}) {
      SSL_do_handshake(end(each));
      more = carry(each) || more;
    }
  }
  for (const auto& end : ends_) must(SSL_is_init_finished(end.get()) == 1, "handshake");
}

// What this end has written goes to the other.
bool TlsWire::carry(End from) {
  BIO* const out = SSL_get_wbio(end(from));
  Octets octets(BIO_ctrl_pending(out));
  if (octets.empty()) return false;
  must(BIO_read(out, octets.data(), static_cast<int>(octets.size())) == static_cast<int>(octets.size()), "read");
  BIO_write(SSL_get_rbio(end(opposite(from))), octets.data(), static_cast<int>(octets.size()));
  flights.push_back({from, std::move(octets)});
  return true;
}

void TlsWire::say(End from, Bytes octets) {
  must(SSL_write(end(from), octets.data(), static_cast<int>(octets.size())) == static_cast<int>(octets.size()), "say");
  carry(from);
}

void TlsWire::update_key(End from) {
  must(SSL_key_update(end(from), SSL_KEY_UPDATE_NOT_REQUESTED) == 1 && SSL_do_handshake(end(from)) == 1, "update");
  carry(from);
}

void TlsWire::close(End from) {
  SSL_shutdown(end(from));
  carry(from);
}

void Listener::hear(const Flight& flight, std::size_t piece_size) {
  ++packet;
  const Bytes all(flight.octets);
  auto& offset = offsets_[static_cast<std::size_t>(flight.from)];
  take(TcpSegment{flight.from, packet, offset, static_cast<std::uint32_t>(all.size()), false});
  for (std::size_t at = 0; at < all.size(); at += piece_size) {
    const Bytes piece = all.subspan(at, std::min(piece_size, all.size() - at));
    const Octets passing(piece.begin(), piece.end());  // gone after this event
    take(TcpOctets{flight.from,
                   passing,
                   {packet, kHeaders + static_cast<std::uint32_t>(at)},
                   offset,
                   offsets_[static_cast<std::size_t>(opposite(flight.from))]});
    offset += passing.size();
  }
}

void Listener::lose(End from, std::size_t octets) {
  auto& offset = offsets_[static_cast<std::size_t>(from)];
  take(TcpGap{from, offset, octets, ++packet});
  offset += octets;
}

void Listener::take(const TcpEvent& event) {
  layer.feed(event);
  drain();
}

void Listener::finish() {
  layer.finish();
  drain();
}

void Listener::drain() {
  while (const TcpEvent* event = layer.next()) {
    const auto* const octets = std::get_if<TcpOctets>(event);
    if (octets == nullptr) {
      others.push_back(*event);
      continue;
    }
    Octets& all = clear[static_cast<std::size_t>(octets->from)];
    EXPECT_EQ(octets->stream_offset, all.size());
    all.insert(all.end(), octets->octets.begin(), octets->octets.end());
    runs.push_back({octets->from, octets->place, octets->octets.size()});
  }
}

}  // namespace weft::conformance::test
