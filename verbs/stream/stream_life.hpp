// SPDX-License-Identifier: Apache-2.0
// The stages of a stream. Stages only advance; kSteps has each transition and its cause.
#pragma once

#include <array>
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
      Step{Stage::kStartup, Stage::kEstablished, "the start-up is complete"},
      Step{Stage::kStartup, Stage::kClosing, "disconnect, or the peer's FIN"},
      Step{Stage::kStartup, Stage::kFailing, "the start-up failed"},
      Step{Stage::kStartup, Stage::kClosed, "rejected, aborted, or lost"},
      Step{Stage::kEstablished, Stage::kClosing,
           "disconnect, the peer's FIN, an idle time-out, or the queue pair is destroyed"},
      Step{Stage::kEstablished, Stage::kFailing, "a protocol error, a Terminate, or work that failed"},
      Step{Stage::kEstablished, Stage::kClosed, "aborted, or lost"},
      Step{Stage::kClosing, Stage::kFailing, "a protocol error, a Terminate, or work that failed"},
      Step{Stage::kClosing, Stage::kClosed, "both ends have closed, time is over, or it is lost"},
      Step{Stage::kFailing, Stage::kClosed,
           "the Terminate is away and the peer has closed, time is over, or it is lost"},
  };
  // As a table in Markdown.
  [[nodiscard]] static std::string print();

  [[nodiscard]] Stage stage() const noexcept { return stage_; }
  [[nodiscard]] bool is_established() const noexcept { return stage_ != Stage::kStartup; }  // or was
  [[nodiscard]] bool fails() const noexcept { return stage_ == Stage::kFailing; }
  [[nodiscard]] bool is_closed() const noexcept { return stage_ == Stage::kClosed; }
  // A stage that was passed already stays behind: an error is not undone by a disconnect.
  void reach(Stage stage) noexcept;

  // --- Beside the stage
  struct Farewell {
    Instant look_at = engine::kNever;
    std::uint64_t moved{};  // as of the last look
  };
  Farewell farewell{};           // since disconnect(); before and after it there is no look
  bool peer_left = false;        // nothing is taken from the peer any more
  bool asked = false;            // for the end: disconnect()
  bool fin_sent = false;         // ours
  bool queue_pair_told = false;  // that the stream fails
  bool orphaned = false;         // its queue pair has gone, and it is counted
  bool finished = false;         // the socket is closed: before or after the engine's last event
  bool too_long = false;         // the error was a Send longer than its receive
  bool overflowed = false;       // a completion queue lost a completion of ours
  bool gave_up = false;          // and the stream was ended for that

 private:
  Stage stage_{};
};

}  // namespace weft::verbs::detail
