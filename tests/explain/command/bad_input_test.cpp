// SPDX-License-Identifier: Apache-2.0
// `weft explain` of what cannot be explained: it says so in one line, shows what could be decoded, and does not pretend.
#include <gmock/gmock.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "explain/tour/wire.hpp"

namespace weft::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string of_samples(const std::string& name) { return std::string(WEFT_PCAP_SAMPLES) + '/' + name; }

bool one_line(const std::string& text) { return text.find('\n') == text.size() - 1; }

void write_octets(const std::string& path, const std::string& octets) {
  std::ofstream(path, std::ios::binary) << octets;
}

std::string octets_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As pcap files have them: least significant octet first here.
std::string word(std::uint32_t value) {
  std::string octets(4, '\0');
  for (int i = 0; i < 4; ++i) octets[static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i) & 0xff);
  return octets;
}

std::string file_header() { return word(0xa1b2c3d4) + word(0x00040002) + word(0) + word(0) + word(262144) + word(1); }

// A capture in which a client sends these octets.
std::string capture_of(std::string_view octets) {
  std::string file = file_header();
  explain::TourWire wire([&](const conformance::Packet& packet) {
    const auto size = static_cast<std::uint32_t>(packet.captured.size());
    file += word(0) + word(static_cast<std::uint32_t>(packet.time / 1000)) + word(size) + word(size);
    file.append(reinterpret_cast<const char*>(packet.captured.data()), size);
  });
  wire.open();
  wire.send(explain::TourEnd::kInitiator, std::as_bytes(std::span(octets)));
  wire.finish(explain::TourEnd::kInitiator);
  wire.finish(explain::TourEnd::kResponder);
  return file;
}

class BadInput : public testing::Test {
 protected:
  // Of a file with these octets, in each form of the output; nothing is printed. Of a capture that could be read, a page
  // says the same as the one line; of what is no capture there is none.
  void expect_refused(const std::string& octets, int exit_code, const std::string& words) {
    write_octets(path_, octets);
    std::filesystem::remove(page_);
    for (const auto& form : {std::vector<std::string>{"--json"}, {"--text"}, {"-o", page_}}) {
      std::vector<std::string> arguments{"explain", path_};
      arguments.insert(arguments.end(), form.begin(), form.end());
      const Ended ended = run(arguments);
      EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
      EXPECT_EQ(ended.out, "");
      EXPECT_TRUE(one_line(ended.err)) << ended.err;
      EXPECT_THAT(ended.err, HasSubstr("weft explain: "));
      EXPECT_THAT(ended.err, HasSubstr(words));
      const bool page = form[0] == "-o" && exit_code == 3;
      EXPECT_THAT(octets_in(page_), page ? HasSubstr(words) : HasSubstr(""));
      EXPECT_EQ(octets_in(page_).empty(), !page);
    }
  }

  TemporaryDirectory folder_;
  std::string path_ = folder_.file("trace.pcap");
  std::string page_ = folder_.file("trace.html");
};

TEST_F(BadInput, AnEmptyFile) { expect_refused("", 2, "trace.pcap"); }

TEST_F(BadInput, NoCapture) { expect_refused("A letter to a friend, and no capture at all.", 2, "trace.pcap"); }

TEST_F(BadInput, NoPackets) { expect_refused(file_header(), 3, "trace.pcap has no packets."); }

TEST_F(BadInput, NoTcp) {
  const std::string frame(64, '\x55');
  expect_refused(file_header() + word(0) + word(0) + word(64) + word(64) + frame, 3,
                 "none of its 1 packets could be read as TCP.");
}

TEST_F(BadInput, NoIwarp) {
  expect_refused(capture_of("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"), 3,
                 "of its 1 TCP connection none has an MPA startup frame or FPDUs.");
  expect_refused(octets_in(of_samples("32-refused-no-mpa.pcap")), 3, "no iWARP connection in ");
}

TEST_F(BadInput, Tls) {
  using namespace std::string_view_literals;
  // A record with the beginning of a ClientHello (RFC 8446 sections 4.1.2 and 5.1).
  std::string hello(
      "\x16\x03\x01\x00\x2f"
      "\x01\x00\x00\x2b\x03\x03"sv);
  hello += std::string(32, 'r') + std::string("\x00\x00\x02\x13\x01\x01\x00\x00\x00"sv);
  expect_refused(capture_of(hello), 3, "is encrypted with TLS, and was not decrypted: ");
}

// What is in front of the damage is explained.
TEST_F(BadInput, ACaptureThatIsCutShort) {
  std::string octets = octets_in(of_samples("01-rping.pcap"));
  octets.resize(octets.size() * 2 / 3);
  write_octets(path_, octets);
  const Ended shown = run({"explain", "--json", path_});
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_TRUE(one_line(shown.err)) << shown.err;
  const json model = json::parse(shown.out);
  EXPECT_EQ(model["connections"].size(), 1U);
  ASSERT_EQ(model["notes"].size(), 1U);
  EXPECT_EQ("weft explain: " + model["notes"][0].get<std::string>() + '\n', shown.err);
  const Ended page = run({"explain", "-o", page_, path_});
  EXPECT_EQ(page.exit_code, 2);
  EXPECT_THAT(octets_in(page_), HasSubstr("RDMA Read Request"));
}

// Nothing that a capture or its name holds is markup, or a command to the terminal.
TEST_F(BadInput, HostileNamesAndPayloads) {
  const std::string mark = "<img src=x onerror=alert(1)>\x1b[31m</script>";
  const std::string hostile = folder_.file("<img src=x onerror=alert(1)>\x1b[31m.pcap");
  write_octets(hostile, capture_of(std::string("MPA ID Req Frame\x40\x01\x00\x2a", 20) + mark));
  const Ended text = run({"explain", "--text", hostile});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ((text.out + text.err).find('\x1b'), std::string::npos);
  EXPECT_THAT(text.out, HasSubstr("42 octets of private data"));
  ASSERT_EQ(run({"explain", "-o", page_, hostile}).exit_code, 0);
  const std::string page = octets_in(page_);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  const json model = json::parse(run({"explain", "--json", hostile}).out);
  EXPECT_THAT(model["source"].get<std::string>(), HasSubstr("<img src=x onerror=alert(1)>"));
}

TEST_F(BadInput, AFileThatIsNotThere) {
  const Ended ended = run({"explain", folder_.file("nothing.pcap")});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(one_line(ended.err)) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("nothing.pcap"));
}

struct Mistake {
  std::vector<std::string> arguments;
  int exit_code;
  std::string sentence;
};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreToldInOneLine) {
  std::vector<std::string> arguments{"explain"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const Ended ended = run(arguments);
  EXPECT_EQ(ended.exit_code, GetParam().exit_code);
  EXPECT_EQ(ended.out, "");
  EXPECT_TRUE(one_line(ended.err)) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(Explain, Mistakes,
                         testing::Values(Mistake{{}, 2, "name a capture, or ask for the tour with --demo"},
                                         Mistake{{"--demo", "trace.pcap"}, 2, "--demo"},
                                         Mistake{{"--demo", "--step"}, 2, "--step"},
                                         Mistake{{"--demo", "--text", "--step"}, 2, "--step needs a terminal"},
                                         Mistake{{"--demo", "--text", "--json"}, 2, "--json"},
                                         Mistake{{"--demo", "--text", "-o", "x.html"}, 2, "--text"},
                                         Mistake{{"--demo", "--connection", "9"},
                                                 1,
                                                 "there is no iWARP connection 9: that of the capture is 0."}));

}  // namespace
}  // namespace weft::test
