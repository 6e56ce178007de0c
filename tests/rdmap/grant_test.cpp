// SPDX-License-Identifier: Apache-2.0
#include "rdmap/grant.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft::rdmap {
namespace {

using ddp::AccessError;
using ddp::LocalFault;

class GrantChecks : public ::testing::Test {
 protected:
  std::vector<std::byte> memory = std::vector<std::byte>(100);
  Grant grant{.start = memory.data(), .length = 100, .first_offset = 1000, .access = kAllAccess, .domain = 7};
  Accessor who{.domain = 7, .stream = 3};

  std::expected<std::byte*, AccessError> write(std::uint64_t offset, std::uint64_t length) {
    return resolve_remote(grant, who, Access::kRemoteWrite, offset, length);
  }
};

// DDP-8.3.1-04,
// SEC-6.2.1-02: octet granularity.
TEST_F(GrantChecks, BoundsToTheOctet) {
  EXPECT_EQ(write(1000, 100), memory.data());
  EXPECT_EQ(write(1099, 1), memory.data() + 99);
  EXPECT_EQ(write(1100, 0), memory.data() + 100);
  EXPECT_EQ(write(999, 1).error(), AccessError::kBaseOrBounds);
  EXPECT_EQ(write(1099, 2).error(), AccessError::kBaseOrBounds);
  EXPECT_EQ(write(1100, 1).error(), AccessError::kBaseOrBounds);
  EXPECT_EQ(write(1000, 101).error(), AccessError::kBaseOrBounds);
}

TEST_F(GrantChecks, OffsetWrapIsToldFromBounds) {
  EXPECT_EQ(write(~0ULL, 2).error(), AccessError::kOffsetWrap);
  EXPECT_EQ(write(~0ULL, 1).error(), AccessError::kBaseOrBounds);
  EXPECT_EQ(write(~0ULL - 99, 100).error(), AccessError::kBaseOrBounds);
  EXPECT_EQ(write(~0ULL - 99, 101).error(), AccessError::kOffsetWrap);
}

TEST_F(GrantChecks, UpToTheVeryEndOfTheOffsets) {
  grant.first_offset = ~0ULL - 99;
  EXPECT_EQ(write(~0ULL, 1), memory.data() + 99);
  EXPECT_EQ(write(~0ULL - 99, 100), memory.data());
}

// DDP-8.3.1-02,
// RDMAP-8.1.1-01, SEC-2.2.4-02, SEC-6.1.1-03
TEST_F(GrantChecks, AnotherDomainIsRefused) {
  who.domain = 8;
  EXPECT_EQ(write(1000, 1).error(), AccessError::kNotAssociated);
}

// DDP-8.3.1-03,
// RDMAP-8.1.1-02, SEC-2.2.5-02, SEC-6.1.1-04
TEST_F(GrantChecks, AnotherStreamIsRefusedWhenTheStagIsForOne) {
  grant.only_stream = 3;
  EXPECT_TRUE(write(1000, 1));
  who.stream = 4;
  EXPECT_EQ(write(1000, 1).error(), AccessError::kNotAssociated);
}

// The order that ddp::AccessError promises: association, rights, wrap, bounds.
TEST_F(GrantChecks, TheFirstMistakeIsTheOneReported) {
  grant.access = Access::kLocalWrite;
  who.domain = 8;
  EXPECT_EQ(write(~0ULL, 2).error(), AccessError::kNotAssociated);
  who.domain = 7;
  EXPECT_EQ(write(~0ULL, 2).error(), AccessError::kAccessRights);
  grant.access = kAllAccess;
  EXPECT_EQ(write(~0ULL, 2).error(), AccessError::kOffsetWrap);
  EXPECT_EQ(write(0, 2).error(), AccessError::kBaseOrBounds);
}

// DDP-8.3.1-06, RDMAP-8.1.1-05,
// SEC-2.2.2-02, SEC-6.3.5-02: each right on its own.
TEST_F(GrantChecks, EachRightOnItsOwn) {
  for (const Access given : {Access::kRemoteWrite, Access::kRemoteRead, Access::kRemoteAtomic}) {
    grant.access = given;
    for (const Access needed : {Access::kRemoteWrite, Access::kRemoteRead, Access::kRemoteAtomic}) {
      EXPECT_EQ(resolve_remote(grant, who, needed, 1000, 8).has_value(), given == needed);
    }
  }
}

TEST_F(GrantChecks, LocalLists) {
  EXPECT_EQ(resolve_local(grant, who, Access::kLocalWrite, 1000, 100), memory.data());
  EXPECT_EQ(resolve_local(grant, who, Access::kLocalWrite, 1000, 101).error(), LocalFault::kBaseOrBounds);
  grant.access = Access::kRemoteRead;
  EXPECT_TRUE(resolve_local(grant, who, Access::kNone, 1000, 100));  // reading one's own memory needs no right
  EXPECT_EQ(resolve_local(grant, who, Access::kLocalWrite, 1000, 1).error(), LocalFault::kAccessRights);
  who.domain = 8;
  EXPECT_EQ(resolve_local(grant, who, Access::kNone, 1000, 1).error(), LocalFault::kInvalidKey);
  who.domain = 7;
  grant.window = true;  // a window has no lkey
  EXPECT_EQ(resolve_local(grant, who, Access::kNone, 1000, 1).error(), LocalFault::kInvalidKey);
}

}  // namespace
}  // namespace weft::rdmap
