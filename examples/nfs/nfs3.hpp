// SPDX-License-Identifier: Apache-2.0
// Some procedures of NFS version 3 (RFC 1813) over RDMA (RFC 8267): enough to list a directory, and to read, write and
// remove files in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rpc_rdma.hpp"

namespace nfs {

using FileHandle = Octets;

// Asks the mount daemon, over TCP, for the handle of an exported directory.
[[nodiscard]] FileHandle mount(const weft::Endpoint& daemon, const std::string& directory,
                               std::chrono::milliseconds patience);

class Client {
 public:
  Client(Channel& channel, FileHandle directory);

  struct Entry {
    std::string name{};
    std::uint64_t size{};
  };
  [[nodiscard]] std::vector<Entry> list();
  // Calls `take` with the octets of a file, in order.
  void read(const std::string& name, const std::function<void(std::span<const std::byte>)>& take);
  // Creates or truncates a file, and writes what `give` puts into its argument, until it gives nothing. Returns when
  // the server has it on stable storage.
  void write(const std::string& name, const std::function<std::size_t(std::span<std::byte>)>& give);
  void remove(const std::string& name);

 private:
  static constexpr std::size_t kSlice = 131072;  // octets of one READ or WRITE
  [[nodiscard]] Channel::Reply call(std::uint32_t procedure, const Encoder& arguments, const Channel::Call& how = {});
  [[nodiscard]] FileHandle look_up(const std::string& name);
  [[nodiscard]] FileHandle create(const std::string& name);

  Channel& channel_;
  const FileHandle directory_;
  std::vector<std::byte> data_ = std::vector<std::byte>(kSlice);
  weft::Region data_region_;
};

}  // namespace nfs
