// SPDX-License-Identifier: Apache-2.0
// The raw TCP connection that weft is compared with: plain sockets, TCP_NODELAY, the kernel's own buffer sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>

#include "common/wire.hpp"
#include "tools/bench/endpoint.hpp"
#include "tools/bench/options.hpp"
#include "tools/bench/raw_stream.hpp"
#include "tools/cli/unique_fd.hpp"

namespace weft::tools::bench {

inline constexpr std::size_t kStagingSize = 256 * 1024;  // that one receive fills
inline constexpr std::size_t kRequestSize = 28;          // as long as the payload of an RDMA Read Request

// What errno says of a call that failed.
std::unexpected<Failure> socket_failure(const char* call);

struct TcpListener {
  UniqueFd fd{};
  std::uint16_t port{};
};

struct TcpSettings {
  std::uint32_t emss = 0;  // octets of a full segment at most, 0: as the path has it. Of two ends the smaller one holds
  std::string congestion_control{};  // empty: the system's default
};
// As of the policy that weft's ends have.
[[nodiscard]] TcpSettings tcp_settings(const Options& options);

Outcome<TcpListener> tcp_listen_on_loopback(const TcpSettings& settings = {});
Outcome<UniqueFd> tcp_accept(const TcpListener& listener);
Outcome<UniqueFd> tcp_connect_to_loopback(std::uint16_t port, const TcpSettings& settings = {});

Outcome<void> tcp_send(RawStream& stream, Bytes octets, Waiting waiting);
// One sendmsg for `count` copies of the same message.
Outcome<void> tcp_send_list(RawStream& stream, Bytes message, std::uint32_t count, Waiting waiting);
Outcome<void> tcp_receive(RawStream& stream, MutableBytes octets, Waiting waiting);
// What there is, at least one octet.
Outcome<std::size_t> tcp_receive_some(RawStream& stream, MutableBytes octets, Waiting waiting);
// What is left until the peer has said that this was all.
Outcome<void> tcp_receive_end(RawStream& stream);

}  // namespace weft::tools::bench
