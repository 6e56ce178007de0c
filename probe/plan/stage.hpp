// SPDX-License-Identifier: Apache-2.0
// What the rules of the plan have in common: the connection, the good messages before, the message itself, how it
// leaves, and the look at what it did.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probe/cases/atomics.hpp"
#include "probe/cases/mpa_steps.hpp"
#include "probe/cases/startups.hpp"
#include "probe/cases/steps.hpp"
#include "probe/plan/combination.hpp"
#include "probe/verdict.hpp"

namespace weft::probe::plan {

// The message of a combination, well-formed.
struct Draft {
  Message message{};
  Region region{};                        // of tagged messages, of requests, and of invalidation
  std::int64_t offset{};                  // from its first octet
  std::size_t size = 60;                  // octets of payload, or to be read
  std::uint8_t first = 1;                 // of the payload's pattern
  rdmap::AtomicOperation operation{};     // of an Atomic Request
  rdmap::ErrorCode error = kStreamError;  // of a Terminate
};

// Not thread-safe.
class Stage {
 public:
  // Opens the connection, and sends good messages up to the place.
  // `receives`: that have completed on earlier connections of the session.
  Stage(Scene& scene, const Combination& how, Opening opening = {}, std::uint32_t receives = 0);

  [[nodiscard]] Scene& scene() noexcept { return scene_; }
  [[nodiscard]] Conversation& by() noexcept { return *by_; }
  [[nodiscard]] const Combination& how() const noexcept { return how_; }
  // Memory that may be written and read; of 0 octets where the peer advertises none.
  [[nodiscard]] const Region& target() const noexcept { return target_; }
  // Completions of receives that the good messages up to now cause.
  [[nodiscard]] std::uint32_t receives() const noexcept { return receives_; }
  void count_receives(std::uint32_t more) noexcept { receives_ += more; }
  // The connection has sent its first FPDU.
  [[nodiscard]] bool begun() const noexcept { return how_.place != Place::kFirst; }

  // The draft of the combination's message into the target, at kHere.
  static constexpr std::int64_t kHere = 1024;
  [[nodiscard]] Draft draft() const;
  // Its segments: three, or one.
  [[nodiscard]] std::vector<Ulpdu> compose(const Draft& draft);
  // Which of them has the fault.
  [[nodiscard]] std::size_t faulty() const noexcept;
  // Sends them, `before` in front of them, and a good Write to kBehind of the target after them. `fault` is of the
  // faulty one.
  void deliver(const std::vector<Ulpdu>& segments, const FpduFault& fault = {});
  void deliver(const std::vector<Ulpdu>& segments, const std::vector<Ulpdu>& before, const FpduFault& fault = {},
               std::optional<std::size_t> faulty = {});

  // Neither the faulty segment of the draft nor what followed it had an effect: memory and completions. Joins the
  // session. `placed`: octets of tagged messages may be there.
  void expect_no_trace(const Draft& draft, bool placed = false);
  // Waits until the Sends up to now have completed.
  void settle();

 private:
  void lead_in();
  void send_good(std::size_t size);
  std::vector<std::byte> framed(Bytes ulpdu, const FpduFault& fault = {});

  Scene& scene_;
  Combination how_;
  Conversation* by_{};
  Region target_{};
  Region atomic_{};                      // for atomics, where the peer has them
  rdmap::ReadRequest asked_{};           // of the peer, for a Read Response
  rdmap::AtomicRequest asked_atomic_{};  // of the peer, for an Atomic Response
  std::uint32_t receives_ = 0;
  std::uint32_t good_ = 0;  // messages sent by lead_in()
};

// Octet by octet, with pauses in the first and the last ones.
void dribble(Conversation& by, Bytes octets);

using Change = std::function<void(Ulpdu&)>;

// A refusal: the faulty segment is changed, and the stream ends by a Terminate with one of these errors that quotes it.
struct Refusal {
  Errors any_of{};
  Errors tolerated{};
  bool any_end{};   // the RFC names no error: the end of the stream is enough
  bool by_rdmap{};  // RDMAP finds it, when DDP may have placed the segment, and Writes that follow it
};
void expect_refused(Stage& stage, const Draft& draft, const Change& change, const Refusal& refusal);
// As expect_refused(), for a fault that MPA finds.
void expect_refused_by_mpa(Stage& stage, const Draft& draft, const FpduFault& fault, const Errors& any_of);
// For a fault that a peer may overlook, and that has been sent. An RDMA Read of no octets follows. Either the stream
// ends by a Terminate with the error, or it goes on and `overlooked` is the warning.
void expect_refused_or_overlooked(Conversation& by, const rdmap::ErrorCode& error, const std::string& overlooked);

// What a message asks of the peer besides: Sends in segments receives, Atomics RFC 7306, Responses a request of the
// peer's.
[[nodiscard]] std::uint32_t needs_of_message(const Combination& how);
// Several segments only of a message that can have them; a Response only after a request of the peer's, so not first.
[[nodiscard]] bool is_possible(const Combination& how);

}  // namespace weft::probe::plan
