// SPDX-License-Identifier: Apache-2.0
/// @file
/// Configuration files for programs that are not aware of weft (docs/drop-in.md).
///
/// A file has one "KEY = VALUE" per line. The rest of a line after a number sign is a comment.
///
///     log     = info
///     pcap    = /tmp/weft-%p.pcap
///     progress-threads = 2
///     exposed-memory = 4G      as set_exposed_memory_limit() takes it; K, M and G are powers of 1024
///     crc32c  = portable       implementation of CRC32C, as parse_crc32c() takes it
///     device  = roce           how devices present themselves: iwarp or roce
///     device.ucx_info = roce   the same for the program of this name alone
///     ports   = 20000-20255    TCP ports of queue pairs connected by ibv_modify_qp, as parse_port_range() takes them
///     confirm-writes = on      a signaled RDMA Write completes once the peer has placed it: off or on
///     mpa-rev = 1              any key that parse_policy() accepts
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/options.hpp"
#include "verbs/policy.hpp"

namespace weft::verbs {

/// Holds a range of TCP ports, both ends included. {0, 0}: the kernel chooses.
struct PortRange {
  std::uint16_t first = 0;  ///< lowest port: 0, or at least 1024
  std::uint16_t last = 0;   ///< highest port
};
/// Parses "20000-20255" or "20000". Returns nothing for ports below 1024, and for a range whose end precedes its start.
[[nodiscard]] std::optional<PortRange> parse_port_range(std::string_view text) noexcept;

/// Selects how the devices of the drop-in libraries present themselves. The octets on the network are the same.
enum class DeviceKind : std::uint8_t {
  kIwarp,  ///< an RNIC: node type RNIC, transport iWARP
  kRoce,   ///< an adapter for RoCE: node type CA, transport InfiniBand over Ethernet; for programs that refuse iWARP
};
/// Parses "iwarp" or "roce".
[[nodiscard]] std::optional<DeviceKind> parse_device_kind(std::string_view text) noexcept;

/// Parses "on" or "off".
[[nodiscard]] std::optional<bool> parse_on_off(std::string_view text) noexcept;

/// Holds the settings of a configuration file. A setting that the file does not contain keeps its default value.
struct Configuration {
  std::optional<LogLevel> log{};          ///< argument of set_log_level()
  std::string pcap{};                     ///< pattern of the capture file's path, as written; see capture_path()
  std::size_t progress_threads = 0;       ///< argument of set_progress_threads()
  std::uint64_t exposed_memory = 0;       ///< argument of set_exposed_memory_limit(), in octets
  std::optional<Crc32cRoutine> crc32c{};  ///< argument of set_crc32c()
  DeviceKind device{};                    ///< what devices show themselves as (drop-in libraries)
  PortRange ports{};            ///< TCP ports of queue pairs that a program connects itself (drop-in libraries)
  bool confirm_writes = false;  ///< whether queue pairs call QueuePair::confirm_writes() (drop-in libraries)
  Policy policy{};              ///< policy of every connection
  std::vector<std::string> complaints{};  ///< one message such as "weft.conf:3: ..." per line that was ignored
};

/// Parses the text of a configuration file. Lines that are not understood are ignored and reported in `complaints`.
/// `name` is the name of the file in complaints. `base` provides the policy's values that the text does not set.
[[nodiscard]] Configuration parse_configuration(std::string_view text, const std::string& name,
                                                const Policy& base = {});
/// Reads and parses a configuration file. A file that cannot be read yields the defaults and a complaint.
[[nodiscard]] Configuration read_configuration(const std::string& path, const Policy& base = {});

/// Returns `pattern` with each "%p" replaced by the id of `process`, so that each process writes a separate capture.
[[nodiscard]] std::string capture_path(std::string_view pattern, pid_t process);

}  // namespace weft::verbs
