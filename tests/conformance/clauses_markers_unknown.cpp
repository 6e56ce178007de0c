// SPDX-License-Identifier: Apache-2.0
// RFC 5044 section 4.3: a stream whose startup was not captured may have Markers, and the first FPDUs may show none.
#include <catch2/catch.hpp>

#include "tests/conformance/conversation.hpp"

namespace weft::conformance::test::unknown_markers_clauses {
namespace {

// FPDUs with Markers of which the capture shows all but the first `skipped`. The sender is correct.
Script with_markers(bool crc, unsigned skipped, unsigned small, unsigned large, unsigned size) {
  Script script = Script::mid_connection();
  FpduStream stream(crc, true);
  unsigned msn = 0;
  for (unsigned i = 0; i < skipped; ++i) static_cast<void>(stream.add(send(++msn, pattern(100))));
  for (unsigned i = 0; i < small; ++i) script.send(End::kFirst, stream.add(send(++msn, pattern(100))));
  for (unsigned i = 0; i < large; ++i) script.send(End::kFirst, stream.add(send(++msn, pattern(size))));
  return script.close(End::kFirst);
}

}  // namespace

TEST_CASE("Markers that the capture does not announce accuse nobody",
          "[rfc5044/4.3][rfc5044/7.2][MPA-7.2-01][MPA-4.1-02][DDP-4.3-10][DDP-4.3-15]") {
  for (const bool crc : {true, false}) {
    for (unsigned skipped = 0; skipped < 6; ++skipped) {
      for (unsigned small = 0; small < 6; ++small) {
        for (unsigned large = 1; large < 5; ++large) {
          for (const unsigned size : {100U, 300U, 600U, 1400U, 4000U}) {
            CAPTURE(crc, skipped, small, large, size);
            CHECK(violations(with_markers(crc, skipped, small, large, size).audit()) == Clauses{});
          }
        }
      }
    }
  }
}

// A Terminate of the peer tells that a Marker was wrong. Which one it was, the capture does not show.
TEST_CASE("a FIN behind an FPDU whose Marker is wrong is not inside an FPDU", "[rfc5044/7.2][MPA-7.2-01]") {
  FpduStream markers(true, true);
  Script script = Script::mid_connection();
  static_cast<void>(markers.add(send(1, pattern(100))));
  script.send(End::kFirst, markers.add(send(2, pattern(600)), {.marker = 0x12345678}));
  script.send(End::kSecond, FpduStream(true, false).add(untagged(7, 2, 1, {std::byte{0x20}, std::byte{3}, {}, {}})));
  CHECK(violations(script.close(End::kSecond).close(End::kFirst).audit()) == Clauses{});
}

// Without Markers, as what begins after 1024 octets shows; and more than one FPDU could have as its payload.
TEST_CASE("a FIN inside an FPDU is told where Markers would have shown", "[rfc5044/7.2][MPA-7.2-01]") {
  FpduStream stream(true, false);
  Script script = Script::mid_connection();
  for (unsigned msn = 1; msn < 13; ++msn) script.send(End::kFirst, stream.add(send(msn, pattern(6000))));
  const Octets last = stream.add(send(13, pattern(100)));
  script.send(End::kFirst, Octets(last.begin(), last.begin() + 60));
  CHECK(violations(script.close(End::kFirst).audit()) == Clauses{"MPA-7.2-01"});
}

}  // namespace weft::conformance::test::unknown_markers_clauses
