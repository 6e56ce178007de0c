// SPDX-License-Identifier: Apache-2.0
// The stages of a stream, and of what is beside them. A stage only advances. kSteps has each transition of the stream's
// own stage and its cause.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/instant.hpp"
#include "engine/deadlines.hpp"
#include "verbs/live_streams.hpp"

namespace weft::verbs::detail {

using Stage = StreamStage;  // kClosed: the engine's last event was seen

class StreamLife {
 public:
  struct Step {
    Stage from{};
    Stage to{};
    std::string_view cause{};
  };
  static constexpr std::array kSteps{
      Step{Stage::kStartup, Stage::kEstablished, "the startup is complete"},
      Step{Stage::kStartup, Stage::kClosing, "disconnect, or the peer's FIN"},
      Step{Stage::kStartup, Stage::kFailing, "the startup failed"},
      Step{Stage::kStartup, Stage::kClosed, "rejected, aborted, or lost"},
      Step{Stage::kEstablished, Stage::kClosing,
           "disconnect, the peer's FIN, an idle timeout, or the queue pair is destroyed"},
      Step{Stage::kEstablished, Stage::kFailing, "a protocol error, a Terminate, or work that failed"},
      Step{Stage::kEstablished, Stage::kClosed, "aborted, or lost"},
      Step{Stage::kClosing, Stage::kFailing, "a protocol error, a Terminate, or work that failed"},
      Step{Stage::kClosing, Stage::kClosed, "both ends have closed, time is over, or it is lost"},
      Step{Stage::kFailing, Stage::kClosed,
           "the Terminate has been sent and the peer has closed, the time is over, or the connection is lost"},
  };
  // As a table in Markdown.
  [[nodiscard]] static std::string print();

  [[nodiscard]] Stage stage() const noexcept { return stage_; }
  [[nodiscard]] bool is_established() const noexcept { return stage_ != Stage::kStartup; }  // or was
  [[nodiscard]] bool fails() const noexcept { return stage_ == Stage::kFailing; }
  // The application may not know yet: the peer closes, or has done nothing for too long.
  [[nodiscard]] bool closes() const noexcept { return stage_ == Stage::kClosing; }
  [[nodiscard]] bool is_closed() const noexcept { return stage_ == Stage::kClosed; }
  // Does nothing if `stage` was passed already: a disconnect does not undo an error. A transition that is not in kSteps
  // ends the process.
  void reach(Stage stage) noexcept;

  // --- Beside the stage. False if `to` was reached already.
  template <typename Any>
  static bool advance(Any& stage, Any to) noexcept {
    if (stage >= to) return false;
    stage = to;
    return true;
  }
  enum class Socket : std::uint8_t { kOpen, kFinSent, kClosed };  // closed before or after the engine's last event
  Socket socket{};
  [[nodiscard]] bool finished() const noexcept { return socket == Socket::kClosed; }
  struct DisconnectWait {
    enum class Stage : std::uint8_t {
      kNone,
      kAsked,     // disconnect() was called
      kPeerLeft,  // nothing is taken from the peer any more
    };
    Stage stage{};
    bool awaits_work = false;  // work that does not advance is not flushed
    std::chrono::duration<std::uint32_t, std::milli> wait{};
    Instant look_at = engine::kNever;
    std::uint64_t moved{};  // as of the last look
  };
  DisconnectWait disconnect{};
  enum class Overflow : std::uint8_t {
    kNone,
    kSeen,   // a completion queue lost a completion of this stream
    kEnded,  // the stream was ended for that
  };
  Overflow overflow{};
  bool queue_pair_told = false;  // that the stream fails
  bool too_long = false;         // the error was a Send longer than its receive

 private:
  Stage stage_{};
};

}  // namespace weft::verbs::detail
