// SPDX-License-Identifier: Apache-2.0
// The ways to a peer that listens: one for each profile.
#include "probe/way.hpp"

#include <algorithm>
#include <thread>

#include "probe/field_writer.hpp"
#include "probe/peer_program.hpp"

namespace weft::probe {

void Way::ask_to_read(Conversation&, ddp::TaggedOffset, std::uint32_t) {
  not_applicable("this peer cannot be brought to read our memory");
}

StartUp Way::spoken(StartUp start_up) const {
  start_up.revision = std::min(start_up.revision, revision);
  if (!enhanced) start_up.enhanced.reset();
  return start_up;
}

namespace {

class ToListener : public Way {
 public:
  explicit ToListener(const transport::Endpoint& peer) : peer_(peer) {}

  std::unique_ptr<Conversation> dial(const SocketWish& wish) override {
    auto by = std::make_unique<Conversation>(connected(wish), false, patience, learned);
    by->delay_first_fpdu(first_fpdu_delay);
    return by;
  }

  Advert open(const Opening& opening, std::unique_ptr<Conversation>& conversation) override {
    StartUp request = spoken(opening.start_up);
    if (request.private_data.empty()) request.private_data = private_data(opening);
    PeerFrame reply;
    for (const Instant deadline = now() + patience_now();; conversation->give_up()) {
      conversation = dial(opening.socket);
      conversation->send_frame(request);
      reply = conversation->expect_frame(mpa::FrameKind::kReply);
      learn_from(*conversation);
      if (!reply.frame.reject) break;
      if (!learned->one_at_a_time() || now() >= deadline) fail("the peer rejected the connection");
    }
    Conversation& by = *conversation;
    by.start_fpdus(request, reply.frame);
    Advert advert = parse_advert(reply.frame.private_data).value_or(Advert{});
    begin(by, opening, advert);
    return advert;
  }

 protected:
  [[nodiscard]] virtual std::vector<std::byte> private_data(const Opening&) const { return {}; }
  // The first FPDU, after which the peer may send (MPA-7.1.2-17).
  virtual void begin(Conversation& by, const Opening& opening, const Advert&) {
    if (opening.prober_first) by.send_ulpdu(by.make().write({}, {}, {}));
  }

 private:
  // A peer that serves one connection at a time may still be at the end of the last one.
  [[nodiscard]] std::unique_ptr<Socket> connected(const SocketWish& wish) const {
    constexpr Duration kPause = std::chrono::milliseconds(10);
    const Instant deadline = now() + patience_now();
    for (;;) {
      if (learned->one_at_a_time()) std::this_thread::sleep_for(kPause);
      auto socket = connect_to(peer_, deadline, wish);
      const bool again = learned->one_at_a_time() && now() < deadline;
      if (socket && !(again && (*socket)->ends_by(now() + kPause + 2 * learned->round_trip())))
        return std::move(*socket);
      if (!again) fail(socket.error());
    }
  }

  transport::Endpoint peer_;
};

// A connection, and nothing known of what follows it.
class ToRaw final : public ToListener {
 public:
  using ToListener::ToListener;
  [[nodiscard]] std::string_view profile() const override { return "raw"; }
  [[nodiscard]] std::uint32_t offers() const override { return kListens | kStream; }
  [[nodiscard]] unsigned most_at_a_time() const override { return 4; }
  void expect_alive(Conversation& by) override { by.expect_empty_read(); }
};

// `weft probe-peer -s`.
class ToPeerProgram final : public ToListener {
 public:
  using ToListener::ToListener;
  [[nodiscard]] std::string_view profile() const override { return kPeerProgram; }
  [[nodiscard]] std::uint32_t offers() const override { return kListens | kPeerProgramOffers; }
  [[nodiscard]] unsigned most_at_a_time() const override { return 16; }
  void expect_alive(Conversation& by) override { expect_program_alive(by); }
  void ask_to_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size) override {
    ask_program_to_read(by, offset, size);
  }

 protected:
  [[nodiscard]] std::vector<std::byte> private_data(const Opening& opening) const override {
    return serialize(opening.wish);
  }
  void begin(Conversation& by, const Opening& opening, const Advert& advert) override {
    if (advert.session == 0)
      fail("the peer's Reply has no advert: it is no weft probe-peer (--profile raw takes any peer)");
    ToListener::begin(by, opening, advert);
  }
};

// `rping -s`: it reads what the client's first Send names, and answers.
class ToRping final : public ToListener {
 public:
  using ToListener::ToListener;
  [[nodiscard]] std::string_view profile() const override { return "rping"; }
  [[nodiscard]] std::uint32_t offers() const override { return kListens | kStream | kReads; }
  [[nodiscard]] unsigned most_at_a_time() const override { return 1; }
  void expect_alive(Conversation& by) override {
    ask_to_read(by, {0x2000}, 64);
    // Where no startup says it, rping on Linux's siw has an ORD of 0.
    by.expect_message(rdmap::Opcode::kReadRequest,
                      by.knows_depths() ? nullptr : "rping was told no ORD, and closed where it would have read");
  }
  void ask_to_read(Conversation& by, ddp::TaggedOffset offset, std::uint32_t size) override {
    FieldWriter info;  // struct rping_rdma_info: address 8, rkey 4, size 4
    info.put(offset.value).put(Scene::kOwnStag.value).put(size);
    by.send_ulpdu(by.make().send(std::move(info).take()));
  }

 protected:
  void begin(Conversation&, const Opening&, const Advert&) override {}  // the first Send is the first FPDU
};

}  // namespace

std::unique_ptr<Way> way_to_listener(std::string_view profile, const transport::Endpoint& peer) {
  if (profile == "weft") return std::make_unique<ToPeerProgram>(peer);
  if (profile == "raw") return std::make_unique<ToRaw>(peer);
  if (profile == "rping") return std::make_unique<ToRping>(peer);
  return nullptr;
}

}  // namespace weft::probe
