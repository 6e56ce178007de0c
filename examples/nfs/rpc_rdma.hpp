// SPDX-License-Identifier: Apache-2.0
// ONC RPC (RFC 5531) over RDMA: the requester of RPC-over-RDMA version 1 (RFC 8166), one call at a time.
//
// A call is a Send. Bulk data does not travel in it: the call says where the client's memory is, and the server moves
// the data itself. A read chunk is what it reads from there (the octets of an NFS WRITE), a write chunk is where it
// writes (those of a READ), and the reply chunk is where it writes a reply that is too long for a Send (a directory).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "xdr.hpp"

namespace nfs {

// The message of a call, with the credentials of this process (AUTH_SYS, RFC 5531 appendix A).
[[nodiscard]] Octets rpc_call(std::uint32_t xid, std::uint32_t program, std::uint32_t version, std::uint32_t procedure,
                              std::span<const std::byte> arguments);
// Goes to the results in the reply to this call. Throws if it was not accepted.
void expect_accepted(Decoder& reply, std::uint32_t xid);
// Differs from those of earlier processes, because a server may remember replies.
[[nodiscard]] std::uint32_t first_xid();

class Channel {
 public:
  struct Call {
    std::uint32_t program{};
    std::uint32_t version{};
    std::uint32_t procedure{};
    Octets arguments{};
    std::optional<weft::RemoteRegion> read_chunk{};   // the octets that follow the arguments
    std::optional<weft::RemoteRegion> write_chunk{};  // where octets of the results go
    bool long_reply = false;                          // may come by the reply chunk
  };
  struct Reply {
    Octets results{};
    std::uint32_t written = 0;  // octets in the write chunk
  };

  // Linux's siw may overlook an FPDU that follows its MPA Reply at once (6.1.192), until the next one comes.
  static constexpr std::chrono::milliseconds kPause{200};

  // `patience`: for the connection, and for each call. `pause`: before the first call. `crc`: whether CRCs are
  // requested; the server may want them in any case.
  Channel(const weft::Endpoint& server, std::chrono::milliseconds patience, std::chrono::milliseconds pause = kPause,
          bool crc = true);
  [[nodiscard]] Reply call(const Call& call);
  // Memory for chunks. It must outlive the region.
  [[nodiscard]] weft::Region share(std::span<std::byte> memory, weft::Access access);

 private:
  static constexpr std::size_t kInline = 4096;  // octets of a Send
  static constexpr std::size_t kReceives = 4;
  static constexpr std::size_t kLongest = 65536;  // octets of a reply by the reply chunk

  struct Message {
    std::size_t slot{};
    std::size_t size{};
  };
  void post_receive(std::size_t slot);
  [[nodiscard]] Message exchange(std::size_t size);
  [[nodiscard]] Octets header_of(const Call& call) const;
  [[nodiscard]] Reply parse(const Call& call, std::span<const std::byte> message) const;

  const std::chrono::milliseconds patience_;
  std::uint32_t xid_ = first_xid();
  std::vector<std::byte> outgoing_ = std::vector<std::byte>(kInline);
  std::vector<std::byte> incoming_ = std::vector<std::byte>(kReceives * kInline);
  std::vector<std::byte> long_reply_ = std::vector<std::byte>(kLongest);
  weft::Connection connection_;
  weft::Region outgoing_region_;
  weft::Region incoming_region_;
  weft::Region long_reply_region_;
};

}  // namespace nfs
