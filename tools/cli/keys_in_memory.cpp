// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/keys_in_memory.hpp"

#include "transport/tls/authority.hpp"

namespace weft::tools {

using transport::tls::Authority;

Outcome<KeysInMemory> KeysInMemory::make() {
  const auto authority = Authority::make("weft of this run", Authority::Days(2));
  if (!authority) return failure("cannot make keys for TLS: " + std::string(authority.error()) + ".");
  const auto issued = authority->issue({.common_name = "both ends of this run", .valid_until = Authority::Days(2)});
  if (!issued) return failure("cannot make keys for TLS: " + std::string(issued.error()) + ".");
  KeysInMemory keys;
  if (keys.certificate_.append(issued->certificate + issued->key) && keys.ca_.append(authority->certificate()))
    return keys;
  return failure("cannot make keys for TLS: no memory.");
}

}  // namespace weft::tools
