// SPDX-License-Identifier: Apache-2.0
// Messages and errors in words, and the tables of fields against the figures of RFC 5040, RFC 5041 and RFC 7306.
#include "rdmap/text.hpp"

#include <gtest/gtest.h>

#include "ddp/text.hpp"
#include "rdmap/control.hpp"

namespace weft::rdmap {
namespace {

constexpr ErrorCode kInvalidStagError = error_code(ddp::TaggedError::kInvalidStag);

TEST(Text, OfAnErrorHasItsNumbers) {
  EXPECT_EQ(text(kInvalidStagError), "layer 1, type 1, code 0x00");
  EXPECT_EQ(text_with_layer(kInvalidStagError), "layer 1 (DDP), type 1, code 0x00");
  EXPECT_EQ(short_text(error_code(OperationError::kUnspecified)), "0/2/ff");
  EXPECT_EQ(text_with_layer({static_cast<Layer>(9), 15, 1}), "layer 9 (unknown), type 15, code 0x01");
}

TEST(Text, OfATerminateHasTheSentenceAndTheLayout) {
  const TerminateReport rfc{.as_rfc = {.error = kInvalidStagError}};
  EXPECT_EQ(text(rfc), "layer 1, type 1, code 0x00: the STag is invalid, or allows no placement");
  const TerminateReport siw{.as_rfc = {}, .as_siw = Terminate{.error = kInvalidStagError}, .siw_layout = true};
  EXPECT_EQ(short_text(siw), "1/1/00: the STag is invalid, or allows no placement (laid out as Linux siw does)");
}

TEST(Text, NamesMessagesAndWhatIsNone) {
  EXPECT_EQ(name(std::uint8_t{3}), "Send");
  EXPECT_EQ(name(std::uint8_t{13}), "opcode 13");
  EXPECT_EQ(control_text(0x43), "RV=1 Rsv=0 opcode 3: Send");
  EXPECT_EQ(control_text(0xBC), "RV=2 Rsv=3 opcode 12: unassigned");
}

TEST(Text, OfAnAtomicSaysWhatItDoes) {
  using enum AtomicOperation::Kind;
  EXPECT_EQ(text(AtomicOperation{kFetchAdd, 16, 0, 0, 0}), "FetchAdd of 0x10");
  EXPECT_EQ(text(AtomicOperation{kCmpSwap, 2, ~0ULL, 1, ~0ULL}), "CmpSwap of 0x1 for 0x2");
  EXPECT_EQ(text(AtomicOperation{kCmpSwap, 2, ~0ULL, 1, 0}), "CmpSwap without comparison: swap in 0x2");
  EXPECT_EQ(aopcode_text(0xFFFFFFF2), "CmpSwap");
  EXPECT_EQ(aopcode_text(1), "unknown");
}

TEST(Text, OfAHeaderSaysWhereItGoes) {
  EXPECT_EQ(ddp::text(ddp::TaggedHeader{.stag = {0xAB}, .offset = {0x40}}), "STag 0x000000ab, TO 0x40");
  EXPECT_EQ(ddp::text(ddp::UntaggedHeader{.queue = 1, .msn = {3}, .offset = {0}}), "queue 1, MSN 3, MO 0");
}

// The bits of a field are all of it, as in the figures: RFC 5040, RFC 5041 and RFC 7306.
TEST(Fields, ConsistOfAllTheirBits) {
  for (const std::span<const FieldInfo> table :
       {std::span<const FieldInfo>(ddp::kControlFields), std::span<const FieldInfo>(kControlFields),
        fields_of(Opcode::kAtomicRequest), fields_of(Opcode::kTerminate)}) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      const bool last = table[i].bits != 0 && (i + 1 == table.size() || table[i + 1].bits == 0);
      EXPECT_TRUE(!last || table[i].shift == 0) << table[i].name;
    }
  }
  const std::array octets{std::byte{0xC1}, std::byte{0x43}};
  EXPECT_EQ(ddp::kControlFields[1].value(octets), 1U) << "T";
  EXPECT_EQ(ddp::kControlFields[4].value(octets), 1U) << "DV";
  EXPECT_EQ(kControlFields[3].value(octets), 3U) << "Opcode";
}

// A message is either all header or has payload; each of its fields says what it is for, in one sentence.
TEST(Fields, HaveASentenceEach) {
  for (const OpcodeRow& row : kOpcodeTable) {
    const bool carries_payload = row.tagged() || (row.queue == ddp::QueueNumber::kSend && !is_immediate(row.opcode));
    EXPECT_EQ(fields_of(row.opcode).empty(), carries_payload) << row.name;
    for (const FieldInfo& field : fields_of(row.opcode)) {
      EXPECT_TRUE(field.sentence.ends_with('.')) << field.name;
      EXPECT_EQ(field.sentence.find(". "), std::string_view::npos) << field.name;
    }
  }
}

}  // namespace
}  // namespace weft::rdmap
