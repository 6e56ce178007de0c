// SPDX-License-Identifier: Apache-2.0
// One end of a connection, played by the real engine against octets that someone feeds: the page of `weft explain`, a
// test. It has no socket and no clock; time passes when it is told so. The same class runs natively and as WebAssembly.
//
//   Laboratory end(script);
//   Step step = end.start();             // an initiator's MPA Request is in step.out
//   step = end.feed(octets, row);        // in whole or in part; what it led to is in the step
//   step = end.end();                    // the peer's FIN
#pragma once

#include "explain/laboratory/words.hpp"

namespace weft::explain::laboratory {

class Laboratory {
 public:
  static constexpr std::size_t kMostHeld = 256U << 10;    // octets that may wait here, and so be fed at a time
  static constexpr std::size_t kMostSent = 128U << 10;    // octets that a step sends, but for the last FPDU of them
  static constexpr std::uint32_t kLastRow = 0xffff'ffff;  // all work of the script is due

  explicit Laboratory(Script script);
  Laboratory(const Laboratory&) = delete;  // the engine refers to the memory
  Laboratory& operator=(const Laboratory&) = delete;

  [[nodiscard]] Step start();
  // Octets of the peer. `row`: of the ladder, that they belong to; work that is due before it is posted first.
  [[nodiscard]] Step feed(Bytes octets, std::uint32_t row = kLastRow);
  [[nodiscard]] Step end();                               // the peer's FIN
  [[nodiscard]] Step post_receive(std::uint64_t octets);  // one more, after those of the script
  [[nodiscard]] Step pass_time();                         // up to the next timeout that runs

 private:
  static constexpr std::size_t kBatch = 64U << 10;

  // What comes from the peer.
  struct Inward {
    FrameReader reader;
    std::vector<std::byte> octets{};  // fed; the first `used` are done with
    std::size_t used = 0;
    std::uint64_t taken = 0;       // of the peer's stream
    std::optional<Frame> front{};  // as it came: the engine may rearrange octets that it does not take yet
    engine::ReceiveResult last{};
    bool finished = false;  // FIN
  };
  struct Outward {
    FrameReader reader;
    engine::TransmitBatch batch{kBatch};
    bool fpdu_sent = false;
    bool fin_sent = false;
  };
  // The M and C bits of a startup frame.
  struct Wishes {
    bool crc{};
    bool markers{};
  };

  void drive();
  void post_due();
  bool post(const WorkScript& work);
  void speak_first();
  bool take_frame();
  std::size_t look();
  void note(std::size_t consumed, bool accepted);
  void count_in(const Frame& frame);
  void transmit();
  void show_sent(Bytes octets);
  void count_out(const Frame& frame);
  void poll();
  void react(const engine::Event& event);
  void answer_request();
  void follow_disposition();
  Step finish();
  Step refuse(std::string why);
  [[nodiscard]] mpa::Framing framing(const Wishes& of_receiver) const noexcept;

  Script script_;
  Instant now_{};
  Memory memory_;
  engine::Engine engine_;
  Inward in_;
  Outward out_;
  Wishes own_{}, peers_{};
  std::uint32_t row_ = 0;
  std::size_t posted_ = 0;  // of the script's work
  bool established_ = false;
  State state_ = State::kStartup;
  Queues queues_{};
  Step step_{};  // under way
};

}  // namespace weft::explain::laboratory
