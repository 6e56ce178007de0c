// SPDX-License-Identifier: Apache-2.0
// OpenSSL keeps a list of errors for each thread. The thread is the application's, which may have errors of its own in
// there and reads them later: what our calls add goes again. (A handshake empties the list; OpenSSL does that itself.)
#pragma once

namespace weft::transport::tls {

class ErrorMark {
 public:
  ErrorMark() noexcept;
  ~ErrorMark();
  ErrorMark(const ErrorMark&) = delete;
  ErrorMark& operator=(const ErrorMark&) = delete;
};

}  // namespace weft::transport::tls
