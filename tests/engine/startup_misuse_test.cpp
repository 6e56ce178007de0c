// SPDX-License-Identifier: Apache-2.0
// connect, accept and reject by a user who may not: refused by name, and nothing is sent.
#include <gtest/gtest.h>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test {
namespace {

const mpa::StartupFrame kRequest{.kind = mpa::FrameKind::kRequest, .crc = true, .revision = 1};

TEST(StartupMisuse, AfterTheEndItIsTooLate) {
  Rogue caller(initiator()), called;
  called.send_frame(kRequest);
  for (Rogue* rogue : {&caller, &called}) rogue->end.engine.abort({});
  EXPECT_EQ(caller.end.engine.connect({}), std::unexpected(StartupError::kWrongState));
  EXPECT_EQ(called.end.engine.accept({}, {}), std::unexpected(StartupError::kWrongState));
  EXPECT_EQ(called.end.engine.reject({}), std::unexpected(StartupError::kWrongState));
}

TEST(StartupMisuse, EachRoleHasItsCalls) {
  Rogue caller(initiator()), called;
  called.send_frame(kRequest);
  EXPECT_EQ(caller.end.engine.accept({}, {}), std::unexpected(StartupError::kWrongRole));
  EXPECT_EQ(caller.end.engine.reject({}), std::unexpected(StartupError::kWrongRole));
  EXPECT_EQ(called.end.engine.connect({}), std::unexpected(StartupError::kWrongRole));
}

TEST(StartupMisuse, NotBeforeTheRequest) {
  Rogue called;
  EXPECT_EQ(called.end.engine.accept({}, {}), std::unexpected(StartupError::kWrongState));
  EXPECT_EQ(called.end.engine.reject({}), std::unexpected(StartupError::kWrongState));
  called.flush();
  EXPECT_TRUE(called.end.sent.empty());
}

// MPA2-9-02: 14 bits, or all of them without negotiation; each is looked at by itself.
TEST(StartupMisuse, DepthsHaveARange) {
  for (const AcceptParameters& wrong : {AcceptParameters{.ird = 0x10000, .ord = 1}, {.ird = 1, .ord = 0x10000}}) {
    Rogue called;
    called.send_frame(kRequest);
    EXPECT_EQ(called.end.engine.accept({}, wrong), std::unexpected(StartupError::kIrdOrdOutOfRange));
    EXPECT_TRUE(called.end.engine.accept({}, {.ird = 1, .ord = 1}));
  }
}

// MPA-7.1.1-28: 512 octets of private data; the user may try again with fewer.
TEST(StartupMisuse, PrivateDataHasALimit) {
  const auto longest = pattern(512), longer = pattern(513);
  Rogue caller(initiator()), accepts, rejects;
  EXPECT_EQ(caller.end.engine.connect(longer), std::unexpected(StartupError::kPrivateDataTooLong));
  accepts.send_frame(kRequest);
  rejects.send_frame(kRequest);
  EXPECT_EQ(accepts.end.engine.accept(longer, {}), std::unexpected(StartupError::kPrivateDataTooLong));
  EXPECT_EQ(rejects.end.engine.reject(longer), std::unexpected(StartupError::kPrivateDataTooLong));
  EXPECT_TRUE(accepts.end.engine.accept(longest, {}));
  EXPECT_TRUE(rejects.end.engine.reject(longest));
  for (Rogue* rogue : {&accepts, &rejects}) {
    rogue->flush();
    EXPECT_EQ(rogue->end.sent.size(), mpa::kFixedFrameSize + 512);
  }
}

}  // namespace
}  // namespace weft::engine::test
