// SPDX-License-Identifier: Apache-2.0
// Remote access that must fail, in both directions: the right Terminate, and what each end makes of the other's. siw
// lays out the Terminate's control field with swapped nibbles: weft must understand it, name the departure, and itself
// write what RFC 5040 says. siw then reads ours wrongly in its log; the test expects just that, for it shows what was
// on the wire.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "tests/captures/tshark.hpp"
#include "tests/interop/vm.hpp"
#include "tests/interop/weft_end.hpp"
#include "verbs/options.hpp"

namespace weft::interop {
namespace {

using testing::HasSubstr;
using verbs::WcStatus;

WeftEnd connect(Session& guest, const EndSetup& setup = {}) {
  if (!guest.wait_for("listening")) throw std::runtime_error(guest.transcript());
  return WeftEnd::connect(Vm::instance().peer_port(), setup);
}

void expect_error(const std::optional<verbs::StreamError>& error, bool remote, int layer, int type, int code) {
  ASSERT_TRUE(error.has_value()) << "the stream ended without a Terminate";
  EXPECT_EQ(error->remote, remote);
  EXPECT_EQ(error->layer, layer) << error->sentence;
  EXPECT_EQ(error->type, type) << error->sentence;
  EXPECT_EQ(error->code, code) << error->sentence;
}

// --- siw refuses what weft asks for

class SiwRefuses : public testing::Test {
 protected:
  SiwRefuses() { testing::internal::CaptureStderr(); }
  ~SiwRefuses() override {
    if (!log_taken_) static_cast<void>(testing::internal::GetCapturedStderr());
  }
  // Each of siw's Terminates departs from RFC 5040 section 4.8, and weft's log says so.
  void expect_departure_named() {
    log_taken_ = true;
    EXPECT_TRUE(verbs::flush_log(std::chrono::seconds(10)));
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("siw"));
  }

  Session guest_ = Vm::instance().start("siw_peer listen 7471 closed");

 private:
  bool log_taken_ = false;
};

TEST_F(SiwRefuses, WriteToUnknownStag) {
  WeftEnd weft = connect(guest_);
  static_cast<void>(
      weft.write_to(weft.guest().stag ^ 0x00abcd00, weft.guest().address, 100));  // may succeed locally (RDMAP-5.1)
  expect_error(weft.wait_disconnected(), true, 1, 1, 0x00);
  expect_departure_named();
}

TEST_F(SiwRefuses, WriteOutOfBounds) {
  WeftEnd weft = connect(guest_);
  static_cast<void>(weft.write(4000, weft.guest().length - 2000));
  expect_error(weft.wait_disconnected(), true, 1, 1, 0x01);
  expect_departure_named();
}

TEST_F(SiwRefuses, ReadOfUnknownStag) {
  WeftEnd weft = connect(guest_);
  EXPECT_EQ(weft.read_from(weft.guest().stag ^ 0x00abcd00, weft.guest().address, 100).status,
            WcStatus::kRemoteAccessError);
  expect_error(weft.wait_disconnected(), true, 0, 1, 0x00);
  expect_departure_named();
}

TEST_F(SiwRefuses, ReadOutOfBounds) {
  WeftEnd weft = connect(guest_);
  EXPECT_EQ(weft.read(4000, weft.guest().length - 2000).status, WcStatus::kRemoteAccessError);
  expect_error(weft.wait_disconnected(), true, 0, 1, 0x01);
  expect_departure_named();
}

TEST(SiwRefusesMore, SendWithoutReceive) {
  Session guest = Vm::instance().start("siw_peer listen 7471 -R 0 closed");
  WeftEnd weft = connect(guest);
  static_cast<void>(weft.send(100));
  expect_error(weft.wait_disconnected(), true, 1, 2, 0x02);
}

TEST(SiwRefusesMore, WriteAfterSendWithInvalidate) {
  for (const bool solicited : {false, true}) {
    Session guest = Vm::instance().start("siw_peer listen 7471 recv closed");
    WeftEnd weft = connect(guest);
    EXPECT_EQ(weft.write(100, kHalf).status, WcStatus::kSuccess);
    EXPECT_EQ(weft.send(10, solicited, weft.guest().stag).status, WcStatus::kSuccess);
    static_cast<void>(weft.write(100, kHalf));
    expect_error(weft.wait_disconnected(), true, 1, 1, 0x00);
    guest.finish();
    EXPECT_THAT(guest.transcript(), HasSubstr("received status=0 (success) length=10"));
  }
}

// --- weft refuses what siw asks for

struct Refusal {
  const char* name{};
  const char* operation{};  // of siw_peer
  int layer{};
  int type{};
  int code{};
  bool read_request_quoted{};
  int receives = 16;
};

void PrintTo(const Refusal& r, std::ostream* out) { *out << r.name; }

class WeftRefuses : public testing::TestWithParam<Refusal> {
 protected:
  // siw's reading of RFC 5040's octet: layer from the low nibble, type from the high one.
  static std::string as_siw_reads(const Refusal& r) {
    return "layer " + std::to_string(r.type) + ", type " + std::to_string(r.layer) + ", code " + std::to_string(r.code);
  }
};

// The Terminate that weft wrote, as tshark reads it.
captures::Fields terminate_in(const std::string& capture, std::uint16_t weft_port) {
  captures::Fields found;
  for (const captures::Frame& frame : captures::dissect(capture).frames) {
    const auto opcode = frame.fields.find("iwarp_rdma.opcode");
    if (frame.source_port == weft_port && opcode != frame.fields.end() && opcode->second == "7") found = frame.fields;
  }
  return found;
}

void expect_on_the_wire(const captures::Fields& terminate, const Refusal& r) {
  ASSERT_FALSE(terminate.empty()) << "weft sent no Terminate";
  EXPECT_EQ(terminate.at("iwarp_rdma.term_layer"), std::to_string(r.layer));
  EXPECT_EQ(terminate.at(r.layer == 0 ? "iwarp_rdma.term_etype_rdma" : "iwarp_rdma.term_etype_ddp"),
            std::to_string(r.type));
  const char* code = r.layer == 0  ? "iwarp_rdma.term_errcode_rdma"
                     : r.type == 1 ? "iwarp_rdma.term_errcode_ddp_tagged"
                                   : "iwarp_rdma.term_errcode_ddp_untagged";
  EXPECT_EQ(terminate.at(code), std::to_string(r.code));
  EXPECT_EQ(terminate.at("iwarp_rdma.term_hdrct_m"), "1");
  EXPECT_EQ(terminate.at("iwarp_rdma.hdrct_d"), "1");
  EXPECT_EQ(terminate.at("iwarp_rdma.hdrct_r"), r.read_request_quoted ? "1" : "0");
  EXPECT_EQ(terminate.at("iwarp_rdma.term_rsvd"), "0");
}

// What siw said of the Terminate. Nothing when it did not read it: the FIN comes soon after, and where siw works on
// the end of the connection at that very moment, its receiver cannot have the lock that it tries
// (siw_qp_llp_data_ready), and leaves the octets where they are.
std::string refused(const Refusal& r, const std::string& capture) {
  EXPECT_TRUE(verbs::set_capture_file(capture));
  Vm::instance().run("dmesg -c >/dev/null");
  WeftServer server({.startup = {.no_receive = verbs::NoReceive::kTerminate}});
  Session guest = Vm::instance().start("siw_peer connect 10.0.2.2 " + std::to_string(server.port()) + " " +
                                       r.operation + " closed");
  EndSetup setup;
  setup.receives = static_cast<std::uint32_t>(r.receives);
  WeftEnd weft = server.accept(setup);
  expect_error(weft.wait_disconnected(), false, r.layer, r.type, r.code);
  guest.finish();
  EXPECT_THAT(guest.transcript(), HasSubstr("DISCONNECTED")) << "siw must see the end of the connection";
  EXPECT_TRUE(verbs::set_capture_file(""));
  if (captures::have_tshark()) expect_on_the_wire(terminate_in(capture, server.port()), r);
  return Vm::instance().run("dmesg | grep TERMINATE || true");
}

TEST_P(WeftRefuses, WithTheRightTerminate) {
  const Refusal& r = GetParam();
  const std::string capture = WEFT_INTEROP_OUTPUT "/refusal-" + std::string(r.name) + ".pcap";
  std::string said;
  for (int times = 0; said.empty() && times < 5; ++times) said = refused(r, capture);
  EXPECT_THAT(said, HasSubstr(as_siw_reads(r)));
  std::filesystem::remove(capture);
}

INSTANTIATE_TEST_SUITE_P(Siw, WeftRefuses,
                         testing::Values(Refusal{"write_unknown_stag", "bad-write=100", 1, 1, 0x00, false},
                                         Refusal{"write_out_of_bounds", "oob-write=4000", 1, 1, 0x01, false},
                                         Refusal{"read_unknown_stag", "bad-read=100", 0, 1, 0x00, true},
                                         Refusal{"read_out_of_bounds", "oob-read=4000", 0, 1, 0x01, true},
                                         Refusal{"send_without_receive", "send=100", 1, 2, 0x02, false, 0},
                                         Refusal{"send_too_long", "send=300001", 1, 2, 0x05, false},
                                         Refusal{"invalidate_unknown_stag", "bad-send-inv=10", 0, 1, 0x09, false},
                                         Refusal{"write_after_invalidate", "send-inv=10 write=100", 1, 1, 0x00, false},
                                         Refusal{"read_after_invalidate", "send-se-inv=10 read=100", 0, 1, 0x00, true}),
                         [](const auto& info) { return info.param.name; });

// No octet of a refused Write arrives, not even of the part that lies inside.
TEST(WeftRefusesMore, MemoryStaysAsItWas) {
  WeftServer server;
  Session guest =
      Vm::instance().start("siw_peer connect 10.0.2.2 " + std::to_string(server.port()) + " oob-write=1000 closed");
  WeftEnd weft = server.accept({});
  expect_error(weft.wait_disconnected(), false, 1, 1, 0x01);
  for (const std::byte b : weft.memory().subspan(kHalf)) ASSERT_EQ(b, std::byte{0});
}

// The default policy: a Send that finds no receive waits for one instead of ending the stream.
TEST(WeftRefusesMore, SendWaitsForAReceive) {
  WeftServer server;
  Session guest = Vm::instance().start("siw_peer connect 10.0.2.2 " + std::to_string(server.port()) +
                                       " send=1 send=2 send=3 closed");
  WeftEnd weft = server.accept({.receives = 1});
  for (const std::size_t length : {1U, 2U, 3U}) EXPECT_EQ(weft.receive().octets.size(), length);
  weft.disconnect();
  EXPECT_EQ(guest.finish(), 0) << guest.transcript();
}

}  // namespace
}  // namespace weft::interop
