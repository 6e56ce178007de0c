// SPDX-License-Identifier: Apache-2.0
#include "tests/captures/tshark.hpp"

#include <algorithm>
#include <boost/property_tree/json_parser.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace weft::captures {
namespace {

using Tree = boost::property_tree::ptree;  // keeps members of the same name, in order: a packet can hold many FPDUs

// Without the first option port 4420 goes to NVMe/TCP; the payload of Sends is none of iWARP's business.
constexpr const char* kOptions =
    " -o tcp.try_heuristic_first:TRUE --disable-protocol smb_direct --disable-protocol rpcordma"
    " --enable-heuristic iwarp_mpa_tcp";

// A user's own Wireshark settings must not decide a test.
std::string run(const std::string& arguments) {
  const std::string command = "WIRESHARK_CONFIG_DIR=/nonexistent tshark " + arguments + kOptions + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) throw std::runtime_error("cannot run tshark");
  std::string output;
  char buffer[65536];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe.get())) output.append(buffer, n);
  return output;
}

// "0x12" and "18" are the same number; octet strings stay as they are, also those of one octet.
std::string normalized(const std::string& name, const std::string& value) {
  const bool octets = name == "iwarp_mpa.pad" || name == "iwarp_mpa.privatedata";
  if (octets || value.find(':') != std::string::npos) return value;
  std::size_t used = 0;
  try {
    const std::uint64_t number = std::stoull(value, &used, 0);
    return used == value.size() ? std::to_string(number) : value;
  } catch (const std::logic_error&) {
    return value;
  }
}

void add_leaves(const Tree& tree, Fields& fields) {
  for (const auto& [name, child] : tree) {
    if (child.empty() && !child.data().empty()) {
      std::string& value = fields[name];
      value += (value.empty() ? "" : " ") + normalized(name, child.data());
    }
    add_leaves(child, fields);
  }
}

FrameType type_of(const Tree& mpa) {
  if (mpa.count("iwarp_mpa.req") != 0) return FrameType::kRequest;
  return mpa.count("iwarp_mpa.rep") != 0 ? FrameType::kReply : FrameType::kFpdu;
}

void add_packet(const Tree& layers, Dissection& result) {
  const auto port = layers.get_child("tcp").get<std::uint16_t>(Tree::path_type("tcp.srcport", '/'));
  const auto connection = layers.get_child("tcp").get<std::size_t>(Tree::path_type("tcp.stream", '/'));
  for (const auto& [name, layer] : layers) {
    if (name == "iwarp_mpa") {
      result.frames.push_back({type_of(layer), connection, port, {}});
      add_leaves(layer, result.frames.back().fields);
    } else if (name == "iwarp_ddp_rdmap") {
      if (result.frames.empty()) throw std::runtime_error("tshark: a DDP segment outside an FPDU");
      add_leaves(layer, result.frames.back().fields);
    } else if (name.starts_with("_ws.")) {
      const auto number = layers.get_child("frame").get<std::string>(Tree::path_type("frame.number", '/'));
      result.notes.push_back("packet " + number + ": " + name);
    }
  }
}

// "Transmission Control Protocol, Src Port: 7174, Dst Port: 40000, ..." stands above what a segment holds.
std::optional<std::pair<std::uint16_t, std::uint16_t>> ports(const std::string& line) {
  unsigned source = 0;
  unsigned destination = 0;
  constexpr const char* kForm = "Transmission Control Protocol, Src Port: %u, Dst Port: %u";
  if (std::sscanf(line.c_str(), kForm, &source, &destination) != 2) return {};
  return std::pair{static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(destination)};
}

void count(const std::string& line, Tally& tally) {
  tally.fpdus += line.contains("ULPDU length: ") ? 1 : 0;
  tally.good_crcs += line.contains("(Good CRC32)") ? 1 : 0;
  tally.bad_crcs += line.contains("(Bad CRC32") ? 1 : 0;
  tally.malformed += line.contains("[Malformed Packet") ? 1 : 0;
}

}  // namespace

bool have_tshark() {
  static const bool found = std::system("tshark --version >/dev/null 2>&1") == 0;
  return found;
}

Verdict judge(const std::string& path) {
  std::istringstream text(run("-r '" + path + "' -Y 'iwarp_mpa || _ws.malformed' -O iwarp_mpa"));
  Verdict verdict;
  Tally nowhere;
  Tally* stream = &nowhere;
  for (std::string line; std::getline(text, line);) {
    if (const auto pair = ports(line)) stream = &verdict.streams[*pair];
    count(line, verdict);
    count(line, *stream);
  }
  return verdict;
}

Dissection dissect(const std::string& path) {
  const std::string filter = " -Y 'iwarp_mpa || _ws.malformed'";
  std::istringstream json(
      run("-r '" + path + "'" + filter + " -T json -J 'frame tcp iwarp_mpa iwarp_ddp_rdmap _ws.malformed'"));
  Tree packets;
  boost::property_tree::read_json(json, packets);
  Dissection result;
  for (const auto& [unnamed, packet] : packets) add_packet(packet.get_child("_source.layers"), result);
  const bool crc =
      std::ranges::any_of(result.frames, [](const Frame& f) { return f.fields.contains("iwarp_mpa.crc_check"); });
  if (!crc) return result;
  const Verdict verdict = judge(path);  // JSON has the CRC's value, but not the dissector's verdict
  result.good_crcs = verdict.good_crcs;
  result.bad_crcs = verdict.bad_crcs;
  return result;
}

}  // namespace weft::captures
