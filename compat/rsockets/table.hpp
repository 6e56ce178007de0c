// SPDX-License-Identifier: Apache-2.0
// The rsockets of this process, by their number.
#pragma once

#include <memory>
#include <vector>

#include "compat/rsockets/socket.hpp"

namespace weft::compat::rsockets {

// Its number, which belongs to it until it was removed and the last call on it is over.
int enter(std::shared_ptr<Socket> socket);
// Null when there is none of that number, or it is a parent process's: EBADF in errno.
std::shared_ptr<Socket> find(int number);
// As find, and from now on the number finds nothing.
std::shared_ptr<Socket> remove(int number);
// All that there are.
std::vector<std::shared_ptr<Socket>> everyone();
// In a child of fork(): closes the number that it has from its parent, whose rsocket it stays. False: it is none such.
bool close_inherited(int number);

}  // namespace weft::compat::rsockets
