// SPDX-License-Identifier: Apache-2.0
// Both machines, apart and joined.
#include "mpa/startup.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace weft::mpa::test {
namespace {

struct Exchange {
  std::optional<RequestReceived> request{};
  std::optional<Agreement> initiator{};
  std::optional<Agreement> responder{};
  std::optional<StartupFailure> failure{};  // the initiator's
};

Exchange exchange(const Policy& client, const Policy& server, const Depths& depths = {}) {
  Initiator initiator(client);
  Responder responder(server);
  Exchange result;
  result.request = outcome<RequestReceived>(responder.receive(initiator.start({}).value()));
  if (!result.request) return result;
  const auto reply = responder.accept({}, depths).value();
  result.responder = reply.agreement;
  const auto step = initiator.receive(reply.octets);
  result.initiator = outcome<Agreement>(step);
  result.failure = outcome<StartupFailure>(step);
  return result;
}

TEST(Startup, TheTwoEndsAgree) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    const Policy client{.revision = static_cast<std::uint8_t>((bits & 32) != 0 ? 2 : 1),
                        .crc = (bits & 1) != 0,
                        .markers = (bits & 2) != 0};
    const Policy server{.revision = static_cast<std::uint8_t>((bits & 16) != 0 || (bits & 32) != 0 ? 2 : 1),
                        .crc = (bits & 4) != 0,
                        .markers = (bits & 8) != 0};
    const Exchange x = exchange(client, server);
    ASSERT_TRUE(x.initiator && x.responder) << bits;
    EXPECT_EQ(x.initiator->crc, x.responder->crc);
    EXPECT_EQ(x.initiator->crc, client.crc || server.crc);
    EXPECT_EQ(x.initiator->markers_in, x.responder->markers_out);
    EXPECT_EQ(x.initiator->markers_out, x.responder->markers_in);
    EXPECT_EQ(x.initiator->markers_in, client.markers);
    EXPECT_EQ(x.initiator->revision, x.responder->revision);
    EXPECT_EQ(x.initiator->enhanced, client.revision == 2);
  }
}

// Negotiated depths always satisfy RFC 6581 section 9.1: ORD of either end within the IRD of the other.
TEST(Startup, DepthsFitTogether) {
  const std::uint16_t values[] = {0, 1, 7, 128, 0x3ffe, kNoNegotiation};
  for (const auto ci : values) {
    for (const auto co : values) {
      for (const auto si : values) {
        for (const auto so : values) {
          const Exchange x = exchange(Policy{.ird = ci, .ord = co}, Policy{.ird = si, .ord = so});
          ASSERT_TRUE(x.initiator && x.responder);
          if (ci != kNoNegotiation && x.responder->ord) {
            EXPECT_LE(*x.responder->ord, ci);
          }
          if (si != kNoNegotiation && co != kNoNegotiation) {
            EXPECT_LE(*x.initiator->ord, si);
          }
          if (co != kNoNegotiation) {
            EXPECT_LE(*x.initiator->ord, co);
          }
          if (so != kNoNegotiation) {
            EXPECT_LE(*x.responder->ord, so);
          }
        }
      }
    }
  }
}

TEST(Startup, EveryPairOfRtrSets) {
  for (unsigned c = 1; c < 8; ++c) {
    for (unsigned s = 1; s < 8; ++s) {
      const RtrTypes offered{(c & 1) != 0, (c & 2) != 0, (c & 4) != 0};
      const RtrTypes supported{(s & 1) != 0, (s & 2) != 0, (s & 4) != 0};
      const Exchange x = exchange(Policy{.peer_to_peer = true, .rtr = offered}, Policy{.rtr = supported});
      if ((c & s) == 0) {
        ASSERT_TRUE(x.failure);
        EXPECT_EQ(x.failure->fault, Fault::kNoMatchingRtr);
        EXPECT_TRUE(x.failure->terminate_in);
        continue;
      }
      ASSERT_TRUE(x.initiator && x.initiator->rtr);
      const unsigned chosen = *x.initiator->rtr == Rtr::kSend ? 1 : *x.initiator->rtr == Rtr::kWrite ? 2 : 4;
      EXPECT_NE(chosen & c & s, 0u);
      EXPECT_EQ(x.responder->rtr_common, x.initiator->rtr_common);
    }
  }
}

TEST(Startup, AReadRtrHasRoom) {
  const Exchange x = exchange(Policy{.peer_to_peer = true, .rtr = {false, false, true}, .ord = 0},
                              Policy{.rtr = {false, false, true}, .ird = 0});
  ASSERT_TRUE(x.initiator);
  EXPECT_EQ(x.initiator->rtr, Rtr::kRead);
  EXPECT_EQ(x.initiator->ord, 1);
  EXPECT_EQ(x.responder->ird, 1);
  // with another type to choose from an IRD of 0 stays 0
  const Exchange y = exchange(Policy{.peer_to_peer = true}, Policy{.ird = 0});
  EXPECT_EQ(y.initiator->rtr, Rtr::kWrite);
  EXPECT_EQ(y.responder->ird, 0);
}

// Flags of a Request without A (RFC 6581 section 9.2).
TEST(Startup, OnlyAPeerToPeerRequestNamesRtrTypes) {
  Octets request = vector_named("D-req-v2-cs");
  request[22] |= std::byte{0x40};  // D
  Responder responder(Policy{.ird = 0});
  ASSERT_TRUE(outcome<RequestReceived>(responder.receive(request)));
  const Agreement agreed = responder.accept({}).value().agreement;
  EXPECT_EQ(agreed.ird, 0);
  EXPECT_FALSE(agreed.rtr_common.any());
}

TEST(Startup, AcceptMayOverrideTheDepths) {
  const Exchange x = exchange(Policy{.ird = 10, .ord = 10}, Policy{}, {.ird = 3, .ord = 4});
  EXPECT_EQ(x.responder->ird, 3);
  EXPECT_EQ(x.responder->ord, 4);
  EXPECT_EQ(x.initiator->ord, 3);
  EXPECT_EQ(x.initiator->peer_ord, 4);
}

// Any chopping of the peer's frame gives the same outcome.
TEST(Startup, AnyChoppingGivesTheSame) {
  const Octets request = vector_named("D-req-v2-p2p");
  for (std::size_t cut = 0; cut < request.size(); ++cut) {
    Responder responder(Policy{});
    const auto first = outcome<NeedMore>(responder.receive(Bytes(request).first(cut)));
    ASSERT_TRUE(first);
    EXPECT_LE(first->missing, request.size() - cut);
    EXPECT_GT(first->missing, 0u);
    const auto second = responder.receive(request);
    EXPECT_TRUE(outcome<RequestReceived>(second));
    EXPECT_EQ(second.consumed, request.size());
  }
  const Octets reply = vector_named("D-rep-v2-p2p");
  for (std::size_t cut = 0; cut < reply.size(); ++cut) {
    Initiator initiator(Policy{.peer_to_peer = true});
    ASSERT_TRUE(initiator.start({}));
    ASSERT_TRUE(outcome<NeedMore>(initiator.receive(Bytes(reply).first(cut))));
    EXPECT_TRUE(outcome<Agreement>(initiator.receive(reply)));
  }
}

TEST(Startup, RetryAdvice) {
  const auto asked = [](std::uint8_t revision) {
    Initiator initiator(Policy{.revision = revision});
    EXPECT_TRUE(initiator.start({}));
    return initiator;
  };
  EXPECT_TRUE(asked(2).closed().retry_with_revision_1);
  EXPECT_FALSE(asked(1).closed().retry_with_revision_1);
  Initiator answered(Policy{.peer_to_peer = true});  // the peer closes after its Reply: it knows revision 2
  ASSERT_TRUE(answered.start({}));
  ASSERT_TRUE(outcome<Agreement>(answered.receive(vector_named("D-rep-v2-p2p"))));
  const StartupFailure lost = answered.closed();
  EXPECT_EQ(lost.fault, Fault::kConnectionLost);
  EXPECT_FALSE(lost.retry_with_revision_1);
  EXPECT_FALSE(asked(2).timed_out().retry_with_revision_1);
  Initiator cut = asked(2);
  (void)cut.receive(Bytes(vector_named("D-rep-v1")).first(3));
  EXPECT_FALSE(cut.closed().retry_with_revision_1);
  Initiator lax = asked(2);  // a peer that ignores Rev answers revision 1
  const auto failure = outcome<StartupFailure>(lax.receive(vector_named("D-rep-v1")));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->fault, Fault::kReplyNotEnhanced);
  EXPECT_TRUE(failure->retry_with_revision_1);
  Initiator refused = asked(2);
  const auto rejection = outcome<Rejection>(refused.receive(vector_named("D-rep-v1-reject")));
  ASSERT_TRUE(rejection);
  EXPECT_TRUE(rejection->retry_with_revision_1);
}

TEST(Startup, MisuseOfTheInitiator) {
  const auto start = [](const Policy& policy, std::size_t private_data) {
    return Initiator(policy).start(pattern(private_data)).error();
  };
  EXPECT_EQ(start(Policy{.revision = 0}, 0), Misuse::kRevision);
  EXPECT_EQ(start(Policy{.revision = 3}, 0), Misuse::kRevision);
  EXPECT_EQ(start(Policy{.ird = 0x4000}, 0), Misuse::kDepthOutOfRange);
  EXPECT_EQ(start(Policy{.ord = 0x4000}, 0), Misuse::kDepthOutOfRange);
  EXPECT_EQ(start(Policy{}, 509), Misuse::kPrivateDataTooLong);
  EXPECT_EQ(start(Policy{.revision = 1}, 513), Misuse::kPrivateDataTooLong);
  EXPECT_EQ(start(Policy{.revision = 1, .peer_to_peer = true}, 0), Misuse::kPeerToPeerNeedsEnhanced);
  EXPECT_EQ(start(Policy{.peer_to_peer = true, .rtr = {}}, 0), Misuse::kNoRtrType);
  Initiator twice(Policy{});
  EXPECT_TRUE(twice.start(pattern(508)));
  EXPECT_EQ(twice.start({}).error(), Misuse::kWrongPhase);
}

TEST(Startup, MisuseOfTheResponder) {
  Responder early(Policy{});
  EXPECT_EQ(early.accept({}).error(), Misuse::kWrongPhase);
  EXPECT_EQ(early.reject({}).error(), Misuse::kWrongPhase);
  Responder responder(Policy{.rtr = {}});
  ASSERT_TRUE(outcome<RequestReceived>(responder.receive(vector_named("D-req-v2-p2p"))));
  EXPECT_EQ(responder.accept({}).error(), Misuse::kNoRtrType);
  Responder plain(Policy{});
  ASSERT_TRUE(outcome<RequestReceived>(plain.receive(vector_named("D-req-v2-cs"))));
  EXPECT_EQ(plain.accept({}, {.ird = 0x4000}).error(), Misuse::kDepthOutOfRange);
  EXPECT_EQ(plain.reject(pattern(509)).error(), Misuse::kPrivateDataTooLong);
  EXPECT_TRUE(plain.accept(pattern(508)));
  EXPECT_EQ(plain.accept({}).error(), Misuse::kWrongPhase);
}

// After an outcome the machines are deaf.
TEST(Startup, NothingHappensAfterAFailure) {
  Responder responder(Policy{});
  EXPECT_EQ(fault(responder.receive(from_text("hello"))), Fault::kBadKey);
  EXPECT_EQ(responder.phase(), Phase::kFailed);
  EXPECT_TRUE(outcome<NeedMore>(responder.receive(vector_named("D-req-v1"))));
  EXPECT_FALSE(responder.accept({}));
}

TEST(Startup, TheEndOfTheConnectionIsAFailure) {
  for (const bool asked : {false, true}) {
    Responder responder(Policy{});
    if (asked) {
      ASSERT_TRUE(outcome<RequestReceived>(responder.receive(vector_named("D-req-v1"))));
    }
    EXPECT_EQ(responder.closed().fault, asked ? Fault::kConnectionLost : Fault::kClosedInStartup);
    EXPECT_EQ(responder.phase(), Phase::kFailed);
    EXPECT_EQ(responder.accept({}).error(), Misuse::kWrongPhase);
  }
  Initiator initiator(Policy{});
  ASSERT_TRUE(initiator.start({}));
  EXPECT_EQ(initiator.closed().fault, Fault::kClosedInStartup);
  EXPECT_EQ(initiator.phase(), Phase::kFailed);
}

}  // namespace
}  // namespace weft::mpa::test
