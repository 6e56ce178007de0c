// SPDX-License-Identifier: Apache-2.0
// The captures of real siw: the same octets in each direction of each connection as libtins' StreamFollower finds, and
// as tshark does; and each octet lies in the file where we say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "conformance/capture_reader.hpp"
#include "tests/captures/capture_file.hpp"
#include "tests/captures/tshark.hpp"
#include "tests/conformance/tcp_history.hpp"

namespace weft::conformance::testing {
namespace {

std::vector<std::string> samples() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_PCAP_SAMPLES)) {
    if (entry.path().extension() == ".pcap") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

struct Replay {
  TcpHistory history{};
  std::vector<Octets> packets{};  // by number - 1
};

void replay(const std::string& path, Replay& into) {
  auto reader = CaptureReader::open(path);
  ASSERT_TRUE(reader) << reader.error().sentence;
  for (;;) {
    const auto next = reader->next();
    const auto* packet = std::get_if<Packet>(&next);
    if (packet == nullptr) {
      ASSERT_TRUE(std::holds_alternative<CaptureEnd>(next));
      break;
    }
    into.packets.emplace_back(packet->captured.begin(), packet->captured.end());
    into.history.take(*packet);
  }
  into.history.finish();
}

// A server's port is the same in all captures' connections; the client opened the connection.
std::string stream(const captures::Connection& connection, captures::Side side) {
  return text(captures::octets_from(connection, side));
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, TheSameOctetsAsLibtins) {
  Replay ours;
  replay(GetParam(), ours);
  // StreamFollower knows only connections whose handshake it saw to the end.
  const auto theirs = captures::read_connections(GetParam());
  std::size_t compared = 0;
  for (std::size_t i = 0; i < ours.history.connections(); ++i) {
    const auto& over = ours.history.connection(i).over;
    ASSERT_TRUE(over);
    const auto same = std::ranges::find(theirs, over->info.first.port, &captures::Connection::client_port);
    if (same == theirs.end()) continue;
    ++compared;
    EXPECT_EQ(over->info.second.port, same->server_port);
    EXPECT_TRUE(ours.history.from(End::kFirst, i).stream == stream(*same, captures::Side::kClient));
    EXPECT_TRUE(ours.history.from(End::kSecond, i).stream == stream(*same, captures::Side::kServer));
  }
  EXPECT_EQ(compared, theirs.size());
}

TEST_P(Golden, EveryOctetLiesWhereItsPlaceSays) {
  Replay ours;
  replay(GetParam(), ours);
  for (std::size_t i = 0; i < ours.history.connections(); ++i) {
    for (const End end : {End::kFirst, End::kSecond}) {
      const auto& direction = ours.history.from(end, i);
      EXPECT_THAT(direction.gaps, ::testing::IsEmpty());
      std::string found;
      for (const Place& place : direction.places) {
        found += std::to_integer<char>(ours.packets.at(place.packet - 1).at(place.octet));
      }
      EXPECT_TRUE(found == direction.stream);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, Golden, ::testing::ValuesIn(samples()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param).stem();
  std::ranges::replace(name, '-', '_');
  return name;
});

// What `tshark -z follow,tcp,raw` shows: octets in hexadecimal, those of the second end indented with a tab.
std::array<std::string, 2> followed(const std::string& path) {
  const std::string command = "tshark -r '" + path + "' -q -z follow,tcp,raw,0 2>/dev/null";
  std::array<std::string, 2> streams{};
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return streams;
  std::string output;
  std::array<char, 65536> chunk{};
  while (const std::size_t size = std::fread(chunk.data(), 1, chunk.size(), pipe)) output.append(chunk.data(), size);
  ::pclose(pipe);
  constexpr std::string_view kHexadecimal = "0123456789abcdef";
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    std::string_view line = std::string_view(output).substr(at, end - at);
    at = end + 1;
    const bool second = line.starts_with('\t');
    if (second) line.remove_prefix(1);
    if (line.empty() || line.find_first_not_of(kHexadecimal) != std::string_view::npos) continue;
    for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
      streams.at(second ? 1 : 0) += static_cast<char>(kHexadecimal.find(line[i]) * 16 + kHexadecimal.find(line[i + 1]));
    }
  }
  return streams;
}

TEST(Golden, TheSameOctetsAsTshark) {
  if (!captures::have_tshark()) GTEST_SKIP() << "tshark is not installed: nothing is compared (Debian package tshark)";
  const std::string path = WEFT_PCAP_SAMPLES "/06-read-bw-32k.pcap";
  Replay ours;
  replay(path, ours);
  const auto theirs = followed(path);
  EXPECT_FALSE(theirs[0].empty());
  EXPECT_TRUE(ours.history.from(End::kFirst).stream == theirs[0]);
  EXPECT_TRUE(ours.history.from(End::kSecond).stream == theirs[1]);
}

}  // namespace
}  // namespace weft::conformance::testing
