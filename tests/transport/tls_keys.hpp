// SPDX-License-Identifier: Apache-2.0
// A folder with a CA and certificates of its own, gone with the object.
#pragma once

#include <stdlib.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/temporary_directory.hpp"
#include "transport/tls/authority.hpp"
#include "transport/tls/context.hpp"

namespace weft::transport::test {

class TlsKeys {
 public:
  using Authority = tls::Authority;

  TlsKeys() : ca_(Authority::make("weft test CA", Authority::Days(10)).value()) {
    put("ca.pem", ca_.certificate());
    issue("server", {.common_name = "server", .names = {"dns:server.example", "ip:127.0.0.1", "uri:weft://server"}});
    issue("client", {.common_name = "client", .names = {"dns:client.example"}});
  }
  TlsKeys(const TlsKeys&) = delete;
  TlsKeys& operator=(const TlsKeys&) = delete;

  [[nodiscard]] const Authority& ca() const { return ca_; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  // NAME.pem: the certificate and its key.
  std::string issue(const std::string& name, const Authority::Subject& subject) const {
    const auto issued = ca_.issue(subject).value();
    put(name + ".pem", issued.certificate + issued.key);
    return path(name + ".pem");
  }
  // Those of a listener and of an end that connects; each knows the other by the CA.
  [[nodiscard]] tls::Settings server() const { return of("server"); }
  [[nodiscard]] tls::Settings client() const { return of("client"); }
  [[nodiscard]] tls::Settings of(const std::string& name) const {
    return {.certificate = path(name + ".pem"), .ca = path("ca.pem")};
  }

 private:
  Authority ca_;
  const weft::test::TemporaryDirectory folder_{};
};

}  // namespace weft::transport::test
