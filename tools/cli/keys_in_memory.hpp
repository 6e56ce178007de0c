// SPDX-License-Identifier: Apache-2.0
// A CA and one certificate for both ends of a connection on this machine, made for this run: in files that lie in
// memory, without a name in the file system, and go with the process.
#pragma once

#include <string>

#include "tools/cli/memory_file.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools {

class KeysInMemory {
 public:
  static Outcome<KeysInMemory> make();

  [[nodiscard]] std::string certificate() const { return certificate_.path(); }  // with its key
  [[nodiscard]] std::string ca() const { return ca_.path(); }

 private:
  KeysInMemory() = default;

  MemoryFile certificate_{"certificate and key"};
  MemoryFile ca_{"CA"};
};

}  // namespace weft::tools
