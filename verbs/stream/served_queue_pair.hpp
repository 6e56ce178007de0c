// SPDX-License-Identifier: Apache-2.0
// The queue pair that a stream serves, as the stream sees it: where completions, errors and changes of state go. Called
// with the stream's lock held; takes leaf locks only, and never calls back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/instant.hpp"
#include "verbs/async_event.hpp"
#include "verbs/live_streams.hpp"
#include "verbs/memory/receive_queue.hpp"
#include "verbs/progress/socket_watch.hpp"
#include "verbs/queue_pair.hpp"
#include "verbs/stream/early_sends.hpp"

namespace weft::verbs::detail {

class Stream;
class StreamObserver;

class ServedQueuePair {
 public:
  virtual ~ServedQueuePair() = default;
  ServedQueuePair(const ServedQueuePair&) = delete;
  ServedQueuePair& operator=(const ServedQueuePair&) = delete;

  const std::uint32_t number;    // 24 bits, and another's some time after this one is destroyed
  const std::uint64_t identity;  // no other's ever: what is for this queue pair's stream alone is kept by it
  const QueuePairAttributes attributes;
  const std::shared_ptr<ProtectionDomainState> domain;
  const std::shared_ptr<ReceiveQueue> receives;
  const QueueDrivers drivers;

  // --- The connection manager's attempt that the stream is for
  using Attempt = std::weak_ptr<StreamObserver>;
  // Refused once the attempt has lost the queue pair.
  [[nodiscard]] virtual Result<void> set_stream(const Attempt& attempt, std::shared_ptr<Stream> stream) = 0;
  struct Beginning {
    EarlySends sends{};  // that waited for it, and are the stream's to post before any other
    bool held = false;   // SQD: none of them is to start
  };
  [[nodiscard]] virtual Beginning established(const Negotiated& negotiated) = 0;

  // --- Completions
  // Whether one more than `unfinished` sends fits. With the stream's lock held, or none and no stream.
  [[nodiscard]] virtual bool has_send_room(std::size_t unfinished) noexcept = 0;
  // False on overflow: the completion is lost, and the queue pair cannot go on.
  virtual bool complete_send(const WorkCompletion& completion) = 0;
  virtual bool complete_receive(const WorkCompletion& completion) = 0;
  virtual void fail_send(const SendRequest& request, WcStatus status) = 0;  // of one that no stream has

  // --- Errors and the end
  virtual void stream_error(const StreamError& error, AsyncEventType type) = 0;  // the event follows with fall()
  virtual void ended_by(const Error& error) = 0;  // before what is flushed for it; the first counts
  // What its connections do beyond iWARP, and what their peers may do: see the functions of QueuePair.
  struct Extensions {
    bool combine_immediate = false;
    bool confirm_writes = false;
    Access peer_rights = kAllAccess;
  };
  [[nodiscard]] virtual Extensions extensions() const = 0;
  // The peer has closed or failed, and no send is unfinished. True: the queue pair goes on without this stream.
  [[nodiscard]] virtual bool peer_left() = 0;
  // The stream fails or has ended: ERROR, and what no stream holds is flushed. May be called again. True: the queue
  // pair goes on without this stream, because it accepts early sends and the stream was not established.
  [[nodiscard]] virtual bool fall() = 0;
  virtual void drained() = 0;
  virtual void raise(AsyncEventType type, std::optional<StreamError> error = {}) const = 0;
  [[nodiscard]] virtual bool report_stall(StreamWait wait, Instant now) const = 0;  // false: not now
  [[nodiscard]] virtual std::uint32_t vendor_error() const = 0;

 protected:
  ServedQueuePair(std::uint32_t its_number, const QueuePairAttributes& wanted,
                  std::shared_ptr<ProtectionDomainState> its_domain, std::shared_ptr<ReceiveQueue> its_receives,
                  const QueueDrivers& its_drivers);
};

[[nodiscard]] Error full_send_queue();

}  // namespace weft::verbs::detail
