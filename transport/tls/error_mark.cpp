// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/error_mark.hpp"

#include <openssl/err.h>

namespace weft::transport::tls {

ErrorMark::ErrorMark() noexcept { ERR_set_mark(); }
ErrorMark::~ErrorMark() { ERR_pop_to_mark(); }

}  // namespace weft::transport::tls
