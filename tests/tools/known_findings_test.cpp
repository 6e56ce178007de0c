// SPDX-License-Identifier: Apache-2.0
// --known FILE: what a file may contain, and which findings it covers.
#include <gtest/gtest.h>

#include "tools/cli/known_findings.hpp"

namespace weft::tools {
namespace {

bool any_id(std::string_view) { return true; }

Outcome<KnownFindings> parsed(std::string_view text) { return KnownFindings::parse(text, "known.txt", any_id); }

TEST(KnownFindings, HaveIdEndAndReason) {
  auto known = parsed("# firmware 1.2\n\n  MPA-4.4-13   responder  # ticket 4711\r\ncrc-wrong-write");
  ASSERT_TRUE(known) << known.error().sentence;
  const KnownFinding* const one = known->covers("MPA-4.4-13", "responder");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(in_words(*one, known->name()), "MPA-4.4-13 by the responder (line 3 of known.txt: ticket 4711)");
  const KnownFinding* const other = known->covers("crc-wrong-write");
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(in_words(*other, known->name()), "crc-wrong-write (line 4 of known.txt)");
}

TEST(KnownFindings, CoverWholeIdsAndTheirEndOnly) {
  auto known = parsed("MPA-4.4-13 responder\nDDP-5.2-11\nRDMAP-4.8-05 both");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->covers("MPA-4.4-13", "initiator"), nullptr);
  EXPECT_EQ(known->covers("MPA-4.4-13"), nullptr);
  EXPECT_EQ(known->covers("MPA-4.4-1", "responder"), nullptr) << "no prefixes";
  EXPECT_EQ(known->covers("MPA-4.4-130", "responder"), nullptr);
  EXPECT_EQ(known->covers("RDMAP-4.8-05", "initiator"), nullptr) << "a rule that both ends break is one finding";
  EXPECT_NE(known->covers("DDP-5.2-11", "initiator"), nullptr);
  EXPECT_NE(known->covers("DDP-5.2-11"), nullptr);
  EXPECT_NE(known->covers("RDMAP-4.8-05", "both"), nullptr);
}

TEST(KnownFindings, ThatDidNotOccurAreListedWhereTheyCouldHave) {
  auto known = parsed("A\nB initiator\nB\nC\nD");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->absent(any_id).size(), 5U);
  EXPECT_NE(known->covers("B", "initiator"), nullptr);
  EXPECT_NE(known->covers("C", "both"), nullptr);
  const auto absent = known->absent([](std::string_view id) { return id != "D"; });
  ASSERT_EQ(absent.size(), 1U) << "both lines about B have occurred";
  EXPECT_EQ(absent[0]->id, "A");
}

TEST(KnownFindings, AreRefusedWithFileAndLine) {
  const auto sentence = [](std::string_view text) {
    const auto known = KnownFindings::parse(text, "known.txt", [](std::string_view id) { return id == "A"; });
    EXPECT_TRUE(known || known.error().code == ExitCode::kUsage);
    return known ? std::string() : known.error().sentence;
  };
  EXPECT_EQ(sentence(""), "");
  EXPECT_EQ(sentence("A\n#\n"), "");
  EXPECT_EQ(sentence("A\nno-such-rule\n"),
            "--known: known.txt, line 2: no rule of weft audit and no case of weft probe is called 'no-such-rule'.");
  EXPECT_EQ(sentence("A peer"), "--known: known.txt, line 1: 'peer' is not one of initiator, responder, both.");
  EXPECT_EQ(sentence("A both of them"),
            "--known: known.txt, line 1: 'of them' follows the end: a comment begins with '#'.");
}

TEST(KnownFindings, OfNoFileAreNone) {
  const auto none = KnownFindings::read("", any_id);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
  const auto missing = KnownFindings::read("/nowhere/known.txt", any_id);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().sentence, "--known: cannot read /nowhere/known.txt.");
  EXPECT_FALSE(KnownFindings::read("/tmp", any_id)) << "a directory";
}

}  // namespace
}  // namespace weft::tools
