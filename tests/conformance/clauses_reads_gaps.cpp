// SPDX-License-Identifier: Apache-2.0
// RFC 5040 section 5.2 and RFC 7306 section 7: after the capture lost packets, Reads and atomics are judged again as soon as it
// is certain which Request is answered next, and no earlier.
#include <catch2/catch.hpp>

#include <deque>
#include <random>

#include "tests/conformance/exchange.hpp"

namespace weft::conformance::test::reads_gaps_clauses {
namespace {

constexpr Read kFirst{.msn = 1, .sink = 0x51}, kSecond{.msn = 2, .sink = 0x52}, kThird{.msn = 3, .sink = 0x53};

// Any FPDUs: the walk resumes with two in sequence.
Exchange& sends(Exchange& exchange, End from, unsigned msn) {
  for (const unsigned one : {msn, msn + 1}) {
    from == End::kFirst ? exchange.initiator(send(one, pattern(9))) : exchange.responder(send(one, pattern(9)));
  }
  return exchange;
}

Exchange asked() {
  Exchange exchange;
  return exchange.initiator(kFirst.request()).initiator(kSecond.request()).initiator(kThird.request());
}

// Two correct ends with up to four outstanding Requests for few buffers. The capture loses one packet in `rate`.
class CorrectEnds {
 public:
  CorrectEnds(unsigned seed, unsigned rate) : random_(seed), rate_(rate) {}

  void run(unsigned steps) {
    for (unsigned step = 0; step < steps; ++step) {
      switch (random_() % 6) {
        case 0:
        case 1: ask(); break;
        case 2:
        case 3: answer(); break;
        case 4: say(End::kFirst, send(sends_[0]++, pattern(1 + random_() % 40))); break;
        default: say(End::kSecond, send(sends_[1]++, pattern(1 + random_() % 40)));
      }
    }
    while (!owed_.empty()) answer();
    for (int i = 0; i < 3; ++i) {
      exchange_.initiator(send(sends_[0]++, pattern(9)));
      exchange_.responder(send(sends_[1]++, pattern(9)));
    }
  }
  [[nodiscard]] Exchange& exchange() noexcept { return exchange_; }

 private:
  void say(End from, const Octets& ulpdu) {
    if (random_() % rate_ == 0) {
      exchange_.lose(from, ulpdu);
    } else {
      from == End::kFirst ? exchange_.initiator(ulpdu) : exchange_.responder(ulpdu);
    }
  }
  void ask() {
    if (owed_.size() == 4) return;
    ++msn_;
    if (random_() % 4 == 0) {
      const Atomic atomic{.msn = msn_, .id = msn_ % 5};
      say(End::kFirst, atomic.request());
      return owed_.push_back({atomic.response(++answered_atomics_)});
    }
    const auto size = static_cast<unsigned>(12 * (random_() % 3));
    const Read read{.msn = msn_, .sink = 0x55 + static_cast<unsigned>(random_() % 2), .size = size};
    say(End::kFirst, read.request());
    if (size < 24) return owed_.push_back({read.response()});
    owed_.push_back({read.response(8, 0, false), read.response(16, 8)});
  }
  void answer() {
    if (owed_.empty()) return;
    say(End::kSecond, owed_.front().front());
    owed_.front().pop_front();
    if (owed_.front().empty()) owed_.pop_front();
  }

  Exchange exchange_{};
  std::minstd_rand random_;
  unsigned rate_;
  std::deque<std::deque<Octets>> owed_{};  // segments of the responses
  unsigned msn_ = 0, answered_atomics_ = 0;
  unsigned sends_[2] = {1, 1};
};

}  // namespace

TEST_CASE("a lost Request costs the judgment of its Response alone", "[rfc5040/4.4][RDMAP-4.4-03][RDMAP-5.2-01]") {
  const auto answered = [](const Octets& lost, const Octets& third) {
    Exchange exchange;
    exchange.initiator(kFirst.request()).lose(End::kFirst, kSecond.request()).initiator(kThird.request());
    sends(exchange, End::kFirst, 1);
    return exchange.responder(kFirst.response()).responder(lost).responder(third);
  };
  CHECK(answered(kSecond.response(), kThird.response()).found() == kNothing);
  CHECK(answered(Read{.sink = 0x99}.response(), kThird.response()).found() == kNothing);
  CHECK(answered(Atomic{}.response(), kThird.response()).found() == kNothing);
  CHECK(answered(kSecond.response(), Read{.sink = 0x99}.response()).found() ==
        Clauses{"violation RDMAP-4.4-03 responder 8 octet 2"});
  CHECK(answered(kSecond.response(), kThird.response(8)).found() ==
        Clauses{"violation RDMAP-4.4-07 responder 8 octet 0"});
  CHECK(answered(kSecond.response(), kThird.response()).responder(kThird.response()).found() ==
        Clauses{"violation RDMAP-5.2-01 responder 9 octet 0"});
  SECTION("and its Response may come before the next Request, which tells how many are lost") {
    Exchange exchange;
    exchange.initiator(kFirst.request()).lose(End::kFirst, kSecond.request());
    sends(exchange, End::kFirst, 1).responder(kFirst.response()).responder(kSecond.response());
    exchange.initiator(kThird.request()).responder(kThird.response(8));
    CHECK(exchange.found() == Clauses{"violation RDMAP-4.4-07 responder 8 octet 0"});
  }
}

TEST_CASE("lost Requests count as outstanding", "[rfc5040/6.1][RDMAP-6.1-08]") {
  const auto asked_for = [](unsigned ird) {
    Exchange exchange(enhanced_conversation(ird, ird, ird, ird));
    exchange.initiator(kFirst.request()).lose(End::kFirst, kSecond.request()).initiator(kThird.request());
    return sends(exchange, End::kFirst, 1).found();
  };
  CHECK(asked_for(3) == kNothing);
  CHECK(asked_for(2) == Clauses{"violation RDMAP-6.1-08 initiator 3 octet 0"});
}

TEST_CASE("after a lost Response, the buffer of the next one tells which Request it answers",
          "[rfc5040/4.4][RDMAP-4.4-07][RDMAP-5.2.2-07]") {
  const auto answered = [](const Octets& third) {
    Exchange exchange = asked();
    exchange.lose(End::kSecond, kFirst.response()).responder(kSecond.response()).responder(third);
    return sends(exchange, End::kSecond, 1).found();
  };
  CHECK(answered(kThird.response()) == kNothing);
  CHECK(answered(kThird.response(8)) == Clauses{"violation RDMAP-4.4-07 responder 6 octet 0"});
  CHECK(answered(Read{.sink = 0x99}.response()) == Clauses{"violation RDMAP-4.4-03 responder 6 octet 2"});
  SECTION("but not in what order responses with equal buffers come") {
    const Read same{.msn = 2, .sink = kFirst.sink};
    Exchange exchange;
    exchange.initiator(kFirst.request()).initiator(same.request()).initiator(kThird.request());
    exchange.lose(End::kSecond, kFirst.response()).responder(same.response()).responder(kThird.response());
    CHECK(sends(exchange, End::kSecond, 1).found() == kNothing);
  }
  SECTION("of atomics their Request Identifier") {
    const Atomic one{.msn = 1, .id = 1}, two{.msn = 2, .id = 2}, three{.msn = 3, .id = 3}, other{.id = 9};
    const auto ended = [&](const Octets& third) {
      Exchange exchange;
      exchange.initiator(one.request()).initiator(two.request()).initiator(three.request());
      exchange.lose(End::kSecond, one.response()).responder(two.response(2)).responder(third);
      return sends(sends(exchange, End::kSecond, 1), End::kFirst, 1).found();
    };
    CHECK(ended(three.response(3)) == kNothing);
    CHECK(ended(other.response(3)) == Clauses{"violation RDMAPX-5.2.2-02 responder 6 octet 18"});
  }
}

TEST_CASE("of a Response whose Request is seen after it, any octets may be lost", "[rfc5040/5.2.2][RDMAP-5.2.2-07]") {
  const Read one{.msn = 1}, two{.msn = 2}, three{.msn = 3, .sink = 0x77};
  Exchange exchange;  // the walk tells of `one` when a second FPDU shows that it is one
  exchange.lose(End::kFirst, send(1, pattern(9))).initiator(one.request()).responder(one.response(8, 0, false));
  exchange.lose(End::kSecond, one.response(16, 8)).initiator(two.request()).responder(two.response(8, 0, false));
  exchange.responder(two.response(16, 8)).initiator(three.request()).responder(three.response());
  CHECK(exchange.found() == kNothing);
}

TEST_CASE("a gap with no room for the rest of a Response holds no other one", "[rfc5040/4.4][RDMAP-4.4-07]") {
  const Read large{.msn = 1, .size = 900}, same{.msn = 2, .size = 900}, last{.msn = 3, .size = 900};
  const auto answered = [&](std::size_t lost, const Octets& end) {
    Exchange exchange;
    exchange.initiator(large.request()).initiator(same.request()).initiator(last.request());
    exchange.responder(large.response(100, 0, false)).lose(End::kSecond, large.response(lost, 100, false));
    exchange.responder(large.response(800 - lost, 100 + lost)).responder(same.response()).responder(end);
    return sends(exchange, End::kSecond, 1).found();
  };
  CHECK(answered(300, last.response()) == kNothing);
  CHECK(answered(300, last.response(899)) == Clauses{"violation RDMAP-4.4-07 responder 8 octet 0"});
}

TEST_CASE("a gap while nothing is outstanding loses no Response", "[rfc5040/5.2][RDMAP-5.2-01]") {
  Exchange exchange;
  exchange.initiator(kFirst.request()).responder(kFirst.response()).lose(End::kSecond, send(1, pattern(500)));
  sends(exchange, End::kSecond, 2);
  CHECK(exchange.found() == kNothing);
  CHECK(Exchange(exchange).initiator(kSecond.request()).responder(kSecond.response()).found() == kNothing);
  CHECK(exchange.responder(kFirst.response()).initiator(send(1, pattern(9))).found() ==
        Clauses{"violation RDMAP-5.2-01 responder 6 octet 0"});
}

// 14 bits of ORD allow no such number. The memory of the auditor is bounded.
TEST_CASE("more lost Requests than can be outstanding are not remembered", "[rfc5040/4.4][RDMAP-4.4-03]") {
  const auto answered = [](std::initializer_list<unsigned> msns) {
    Exchange exchange;
    exchange.initiator(kFirst.request());
    for (const unsigned msn : msns) {
      exchange.gap(End::kFirst).initiator(Read{.msn = msn}.request());
      sends(exchange, End::kFirst, msn);
    }
    return exchange.responder(Read{.sink = 0x99}.response()).found();
  };
  CHECK(answered({60000}) == Clauses{"violation RDMAP-4.4-03 responder 6 octet 2"});
  CHECK(answered({70000}) == kNothing);
  CHECK(answered({60000, 120000}) == kNothing);
  SECTION("also while it is unknown which one is answered next") {
    Exchange exchange = asked();
    exchange.lose(End::kSecond, kFirst.response());
    sends(exchange, End::kSecond, 1);
    for (const unsigned msn : {60000U, 120000U}) {
      exchange.gap(End::kFirst).initiator(Read{.msn = msn}.request());
      sends(exchange, End::kFirst, msn);
    }
    CHECK(exchange.responder(kSecond.response()).responder(Read{.sink = 0x99}.response()).found() == kNothing);
  }
}

TEST_CASE("an MSN that was wrong does not count lost Requests", "[rfc5040/5.2.1][RDMAP-5.2-01]") {
  Exchange exchange;
  exchange.initiator(kFirst.request()).initiator(kThird.request()).lose(End::kFirst, Read{.msn = 4}.request());
  exchange.initiator(Read{.msn = 4, .sink = 0x54}.request());
  sends(exchange, End::kFirst, 1).responder(kFirst.response()).responder(kThird.response());
  exchange.responder(Read{.sink = 0x54}.response()).responder(Read{.sink = 0x54}.response());
  CHECK(exchange.found() == Clauses{"violation DDP-4.3-10 initiator 2 octet 10"});
}

TEST_CASE("correct ends of whose packets any are lost are never accused, and a wrong one mostly is",
          "[rfc5040/5.2][rfc7306/7][RDMAP-5.2-01]") {
  unsigned found = 0;
  constexpr unsigned kRuns = 1000;
  for (unsigned seed = 1; seed <= kRuns; ++seed) {
    CAPTURE(seed);
    CorrectEnds ends(seed, 4 + seed % 3 * 10);
    ends.run(seed % 2 == 0 ? 20 : 200);
    REQUIRE(ends.exchange().found() == kNothing);
    ends.exchange().responder(Read{.sink = 0x99}.response()).initiator(terminate_message());
    found += ends.exchange().found().empty() ? 0 : 1;
  }
  CAPTURE(found);
  CHECK(found > kRuns / 2);
}

}  // namespace weft::conformance::test::reads_gaps_clauses
