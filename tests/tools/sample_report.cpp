// SPDX-License-Identifier: Apache-2.0
#include "sample_report.hpp"

#include <cstring>

#include "probe/forge.hpp"
#include "probe/messages.hpp"
#include "probe/runner.hpp"

namespace weft::test {
namespace {

using namespace std::chrono_literals;
using probe::Case;
using probe::Part;
using probe::Verdict;

// One connection, told octet by octet.
class Told {
 public:
  explicit Told(std::uint16_t port, bool peer_opened = false) {
    exchange_.prober = *transport::Endpoint::parse("198.51.100.1:" + std::to_string(port));
    exchange_.peer = *transport::Endpoint::parse("192.0.2.7:4420");
    exchange_.peer_opened = peer_opened;
  }
  Told& octets(bool peer, std::vector<std::byte> octets) { return put(Part::kOctets, peer, std::move(octets)); }
  Told& start(const probe::StartUp& ours = {}, const probe::StartUp& peers = {}) {
    const bool peer = exchange_.peer_opened;
    octets(peer, probe::forge(mpa::FrameKind::kRequest, peer ? peers : ours));
    return octets(!peer, probe::forge(mpa::FrameKind::kReply, peer ? ours : peers));
  }
  Told& fpdu(bool peer, const probe::Ulpdu& ulpdu, const probe::FpduFault& fault = {}) {
    return octets(peer, framers_[peer].fpdu(ulpdu, fault));
  }
  Told& fin(bool peer) { return put(Part::kFin, peer); }
  Told& reset(bool peer) { return put(Part::kReset, peer); }
  Told& breaks_startup() {
    exchange_.prober_breaks_startup = true;
    return *this;
  }
  probe::Exchange done() { return std::move(exchange_); }

 private:
  Told& put(Part::Kind kind, bool peer, std::vector<std::byte> octets = {}) {
    at_ += 250us;
    exchange_.parts.push_back({kind, peer, std::move(octets), at_});
    return *this;
  }
  probe::Exchange exchange_{};
  std::array<probe::Framer, 2> framers_{};
  Duration at_{};
};

std::vector<std::byte> hostile_octets() {
  std::vector<std::byte> octets(std::strlen(kHostile));
  std::memcpy(octets.data(), kHostile, octets.size());
  return octets;
}

probe::Ulpdu bad_crc() {
  rdmap::Terminate terminate;
  terminate.error = {rdmap::Layer::kLlp, 0, 0x02};
  return probe::Messages().terminate(terminate);
}

probe::Exchange passed() {
  probe::Messages make;
  return Told(40001)
      .start()
      .fpdu(false, make.send(probe::pattern(32)), {.crc_xor = 1})
      .fpdu(true, bad_crc())
      .fin(true)
      .fin(false)
      .done();
}

// The peer opens, and its PAD is not zero: a rule of the auditor.
probe::Exchange failed() {
  probe::Messages make;
  return Told(40002, true)
      .start()
      .fpdu(true, make.send(probe::pattern(33)), {.pad = std::byte{0x5A}})
      .fpdu(false, make.write(ddp::Stag{0x1234}, ddp::TaggedOffset{64}, probe::pattern(20000)))
      .reset(true)
      .done();
}

probe::Exchange hostile() {
  return Told(40003)
      .start({}, {.private_data = hostile_octets()})
      .octets(true, hostile_octets())
      .octets(true, probe::pattern(3000))
      .done();
}

probe::Exchange flooded() {
  probe::Messages make;
  Told told(40004);
  told.start();
  for (int i = 0; i < 1500; ++i) told.fpdu(true, make.send(probe::pattern(100)));
  auto exchange = told.done();
  exchange.cut = true;
  return exchange;
}

probe::Exchange refused() {
  return Told(40005)
      .breaks_startup()
      .octets(false,
              probe::forge(mpa::FrameKind::kRequest, {.key = std::array{'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e',
                                                                        'q', ' ', 'F', 'r', 'a', 'm', 'f'}}))
      .fin(true)
      .done();
}

const Case kPassed{.name = "passed",
                   .clause = "MPA-4.4-19",
                   .what = "A Send has a wrong CRC: Terminate 2/0/02.",
                   .also = {"MPA-6-01", "MPA-8-02"}};
const Case kWarned{.name = "warned", .clause = "DDP-7.1-09", .what = "An MSN is repeated."};
const Case kFailed{.name = "failed", .clause = "RDMAP-7.2-03", .what = "The RDMAP version is <0> & no other."};
const Case kHostileCase{.name = "hostile", .clause = "MPA-4.4-19", .what = "The private data is a page."};
const Case kFlooded{.name = "flooded", .clause = "DDP-5.3-01", .what = "The peer floods."};
const Case kRefused{.name = "refused", .clause = "MPA-7.1.1-04", .what = "The key is wrong."};
const Case kUnreached{.name = "unreached", .clause = "XXX-1-01", .what = "No catalogue has this clause."};
const Case kLate{.name = "crc.first.send.bit-0.whole.apart",
                 .clause = "MPA-4.4-19",
                 .what = "The time of the depth is over.",
                 .planned = true};

}  // namespace

probe::Report sample_report() {
  probe::Report report{.target = "192.0.2.7:4420", .profile = "it's mine", .seed = 7};
  report.started = std::chrono::sys_days(std::chrono::year(2026) / 2 / 3) + 4h + 5min + 6s;
  report.took = 12345ms;
  const auto add = [&](const Case& what, Verdict verdict, std::string reason, std::vector<probe::Exchange> exchanges) {
    report.cases.push_back({&what, verdict, std::move(reason), std::move(exchanges), 1234ms});
  };
  add(kPassed, Verdict::kPass, "", {passed()});
  add(kWarned, Verdict::kWarn, "it went on", {passed(), passed()});
  add(kFailed, Verdict::kFail, "RST came, and a Terminate should have come", {failed()});
  add(kHostileCase, Verdict::kFail, std::string("this came: ") + kHostile, {hostile()});
  add(kFlooded, Verdict::kPass, "", {flooded()});
  add(kRefused, Verdict::kPass, "", {refused()});
  add(kUnreached, Verdict::kNotApplicable, "the peer has no memory for atomics (RFC 7306)", {});
  add(kLate, Verdict::kNotApplicable, "the time for combinations of depth quick was over", {});
  report.cases.back().out_of_time = true;
  report.rules = probe::judge(report.cases);
  return report;
}

}  // namespace weft::test
