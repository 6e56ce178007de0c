// SPDX-License-Identifier: Apache-2.0
// The rsockets of this process, by their numbers.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compat/rsockets/socket.hpp"

namespace weft::compat::rsockets {

// Enters a socket and returns its descriptor, which stays reserved until remove() and the end of the last call on it.
// Returns -1 with EMFILE for a descriptor of 2^20 or more.
int enter(std::shared_ptr<Socket> socket);
// Returns the rsocket of this number. Returns null with EBADF if there is none, or if it belongs to a parent process. A
// listener of the parent, however, becomes one of this process at the same port: both accept from one queue.
std::shared_ptr<Socket> find(int number);
// Enters another number for the rsocket `number`: `copy`, a descriptor that dup(2) made of it. Returns -1 with EBADF if
// there is no such rsocket, or with EMFILE as above.
int enter_copy(int number, int copy);
// --- Datagram rsockets are UDP sockets of the kernel (docs/decisions/0032-datagrams.md). Only their sizes are kept,
// which have no effect. A child of fork() shares them with its parent.
int enter_datagram(int number);
std::optional<Sizes> find_datagram(int number);  // nothing: there is none of that number
void set_sizes_of_datagram(int number, const Sizes& sizes);
bool close_datagram(int number);  // false: there is none

// From now on the number finds nothing.
struct Removed {
  std::shared_ptr<Socket> socket{};  // null: as find
  bool last = false;                 // it has no other number
};
Removed remove(int number);
// The numbers of this process from `first` to `last`.
std::vector<int> numbers(unsigned first, unsigned last);
// All that there are.
std::vector<std::shared_ptr<Socket>> all_sockets();
// In a child of fork(): closes the number that it has from its parent, whose rsocket it stays. False: it is none such.
bool close_inherited(int number);

}  // namespace weft::compat::rsockets
