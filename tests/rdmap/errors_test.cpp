// SPDX-License-Identifier: Apache-2.0
// What a lower layer found, as the Terminate message spells it: RFC 5040 section 4.8, figure 9, and RFC 5041 section 7.
#include "rdmap/errors.hpp"

#include <gtest/gtest.h>

namespace weft::rdmap {
namespace {

constexpr ErrorCode code(unsigned layer, std::uint8_t type, std::uint8_t code) {
  return {static_cast<Layer>(layer), type, code};
}

// RFC 5040 section 4.8: type 1 of RDMAP's errors and of DDP's, and no other layer's.
TEST(Errors, RefusedMemoryIsTypeOneOfTwoLayers) {
  EXPECT_TRUE(refuses_memory(code(0, 1, 0xff)));
  EXPECT_TRUE(refuses_memory(code(1, 1, 0)));
  EXPECT_FALSE(refuses_memory(code(0, 2, 1)));
  EXPECT_FALSE(refuses_memory(code(1, 2, 1)));
  EXPECT_FALSE(refuses_memory(code(2, 1, 1)));
  EXPECT_FALSE(refuses_memory(code(3, 1, 1))) << "a layer that no registry has";
}

// RDMAP-4.8-07
TEST(Errors, OfDdpsHeaderAreDdps) {
  EXPECT_EQ(error_code(ddp::HeaderError::kTaggedVersion), code(1, 1, 4));
  EXPECT_EQ(error_code(ddp::HeaderError::kUntaggedVersion), code(1, 2, 6));
  EXPECT_EQ(error_code(ddp::HeaderError::kTooShort), code(0, 2, 0xff)) << "which has none for that";
}

TEST(Errors, OfDdpKeepTypeAndCode) {
  EXPECT_EQ(error_code(ddp::TaggedError::kInvalidStag), code(1, 1, 0));
  EXPECT_EQ(error_code(ddp::TaggedError::kInvalidVersion), code(1, 1, 4));
  EXPECT_EQ(error_code(ddp::UntaggedError::kInvalidQueue), code(1, 2, 1));
  EXPECT_EQ(error_code(ddp::UntaggedError::kInvalidVersion), code(1, 2, 6));
}

// RDMAPX-8.2-05: a misaligned atomic is the one that is no protection error.
TEST(Errors, OfARequestsAccessAreRdmaps) {
  EXPECT_EQ(request_error(ddp::AccessError::kInvalidStag), code(0, 1, 0));
  EXPECT_EQ(request_error(ddp::AccessError::kBaseOrBounds), code(0, 1, 1));
  EXPECT_EQ(request_error(ddp::AccessError::kAccessRights), code(0, 1, 2));
  EXPECT_EQ(request_error(ddp::AccessError::kNotAssociated), code(0, 1, 3));
  EXPECT_EQ(request_error(ddp::AccessError::kOffsetWrap), code(0, 1, 4));
  EXPECT_EQ(request_error(ddp::AccessError::kUnaligned), code(0, 2, 7));
}

}  // namespace
}  // namespace weft::rdmap
