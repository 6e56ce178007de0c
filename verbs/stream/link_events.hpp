// SPDX-License-Identifier: Apache-2.0
// What an engine reports, and what becomes of it: completions, asynchronous events, news for the connection manager.
// Exists for the time of one event.
#pragma once

#include <cstdint>
#include <string_view>

#include "verbs/stream/link.hpp"

namespace weft::verbs::detail {

class LinkEvents {
 public:
  LinkEvents(Link& link, Instant now) noexcept : link_(link), now_(now) {}

  void on(engine::ConnectionRequested& event);
  void on(engine::Established& event);
  void on(engine::Rejected& event);
  void on(const engine::SendCompleted& event);
  void on(const engine::Received& event);
  void on(const engine::ReceiveStalled& event);
  void on(const engine::ProtocolError& event);
  void on(const engine::TerminateReceived& event);
  void on(const engine::StartupFailed& event);
  void on(const engine::TimedOut& event);
  void on(const engine::PeerClosed& event);
  void on(const engine::SendQueueDrained& event);
  void on(const engine::Closed& event);
  void on(const engine::Remark& event);
  void give_up_after_overflow();

 private:
  void complete_send(const OutstandingSend& send);
  void complete_receive(std::uint64_t wr_id, const engine::Received& event);
  [[nodiscard]] std::uint32_t vendor_error(WcStatus status) const;
  [[nodiscard]] std::string_view hint_of_startup();
  void refuse_reply();
  void report_error(const StreamError& error, AsyncEventType type);

  Link& link_;
  const Instant now_;
};

}  // namespace weft::verbs::detail
