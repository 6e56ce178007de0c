// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/wire.hpp"
#include "engine/event.hpp"
#include "transport/pipe.hpp"

namespace weft::verbs::detail {

// The connection manager's view of a stream. Called with the stream's lock held: takes leaf locks only and never calls
// back.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  virtual void on_requested(engine::ConnectionRequested request) = 0;
  // Initiator: judges the private data of an accepting Reply. Returns false to refuse the connection;
  // on_startup_failed() follows.
  virtual bool admits_reply(Bytes private_data) = 0;
  virtual void on_established(const engine::Established& established) = 0;
  // Returns true if a new stream will be tried for the same queue pair.
  virtual bool on_rejected(engine::Rejected rejected) = 0;
  // `pipe`: what the pipe knows of it. True: as for on_rejected().
  virtual bool on_startup_failed(const engine::StartupFailed& failure, const transport::PipeFailure& pipe) = 0;
  // The peer has closed its direction, though its last messages still wait for receives. on_closed() follows.
  virtual void on_peer_closed() = 0;
  virtual void on_closed() = 0;
  // The queue pair that the stream is, or was to be, for went to ERROR or was destroyed before it was established.
  // Called by the queue pair, and unlike the others without any lock.
  virtual void on_queue_pair_lost() = 0;
};

}  // namespace weft::verbs::detail
