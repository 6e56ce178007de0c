// SPDX-License-Identifier: Apache-2.0
// Names of the enumerators that people get to see.
#include <algorithm>

#include "verbs/base/send_opcodes.hpp"
#include "verbs/connection.hpp"
#include "verbs/live_streams.hpp"

namespace weft::verbs {

std::string_view to_string(WcStatus status) noexcept {
  switch (status) {
    case WcStatus::kSuccess: return "success";
    case WcStatus::kLocalLengthError: return "local length error";
    case WcStatus::kLocalQpOperationError: return "local QP operation error";
    case WcStatus::kLocalProtectionError: return "local protection error";
    case WcStatus::kFlushed: return "work request flushed error";
    case WcStatus::kWindowBindError: return "memory window bind error";
    case WcStatus::kBadResponse: return "bad response error";
    case WcStatus::kLocalAccessError: return "local access error";
    case WcStatus::kRemoteInvalidRequest: return "remote invalid request error";
    case WcStatus::kRemoteAccessError: return "remote access error";
    case WcStatus::kRemoteOperationError: return "remote operation error";
    case WcStatus::kRetryExceeded: return "transport retry counter exceeded";
    case WcStatus::kRnrRetryExceeded: return "RNR retry counter exceeded";
    case WcStatus::kFatalError: return "fatal error";
    case WcStatus::kGeneralError: return "general error";
  }
  return "unknown status";
}

std::string_view to_string(Rtr rtr) noexcept {
  switch (rtr) {
    case Rtr::kNone: return "none";
    case Rtr::kSend: return "send";
    case Rtr::kWrite: return "write";
    case Rtr::kRead: return "read";
  }
  return "unknown";
}

std::string_view to_string(WcOpcode opcode) noexcept {
  if (opcode == WcOpcode::kReceive) return "receive";
  if (opcode == WcOpcode::kReceiveImmediate) return "receive immediate data";
  const auto found = std::ranges::find(detail::kSendOpcodeTable, opcode, &detail::SendOpcodeRow::completion);
  return found == detail::kSendOpcodeTable.end() ? "unknown opcode" : found->completed;
}

std::string_view to_string(AsyncEventType type) noexcept {
  switch (type) {
    case AsyncEventType::kCompletionQueueError: return "completion queue error";
    case AsyncEventType::kQueuePairFatal: return "queue pair fatal error";
    case AsyncEventType::kQueuePairRequestError: return "invalid request at queue pair";
    case AsyncEventType::kQueuePairAccessError: return "access violation at queue pair";
    case AsyncEventType::kCommunicationEstablished: return "communication established";
    case AsyncEventType::kSendQueueDrained: return "send queue drained";
    case AsyncEventType::kDeviceFatal: return "device fatal error";
    case AsyncEventType::kPortActive: return "port active";
    case AsyncEventType::kPortError: return "port error";
    case AsyncEventType::kAddressChange: return "address change";
    case AsyncEventType::kSharedReceiveQueueError: return "shared receive queue error";
    case AsyncEventType::kSharedReceiveQueueLimit: return "shared receive queue limit reached";
    case AsyncEventType::kLastWqeReached: return "last work queue element reached";
    case AsyncEventType::kEventsLost: return "events lost";
    case AsyncEventType::kStreamStalled: return "stream stalled";
  }
  return "unknown event";
}

std::string_view to_string(StreamStage stage) noexcept {
  switch (stage) {
    case StreamStage::kStartup: return "startup";
    case StreamStage::kEstablished: return "established";
    case StreamStage::kClosing: return "closing";
    case StreamStage::kFailing: return "failing";
    case StreamStage::kClosed: return "closed";
  }
  return "unknown stage";
}

std::string_view to_string(StreamWait wait) noexcept {
  switch (wait) {
    case StreamWait::kNothing: return "nothing";
    case StreamWait::kReceive: return "a receive";
    case StreamWait::kPeerWindow: return "the peer's window";
    case StreamWait::kAnswers: return "the peer's answers";
  }
  return "unknown";
}

std::string_view to_string(QpState state) noexcept {
  switch (state) {
    case QpState::kReset: return "RESET";
    case QpState::kInit: return "INIT";
    case QpState::kRtr: return "RTR";
    case QpState::kRts: return "RTS";
    case QpState::kSqd: return "SQD";
    case QpState::kSqe: return "SQE";
    case QpState::kError: return "ERROR";
  }
  return "unknown state";
}

std::string_view to_string(ConnectionEventType type) noexcept {
  switch (type) {
    case ConnectionEventType::kAddressResolved: return "ADDR_RESOLVED";
    case ConnectionEventType::kAddressError: return "ADDR_ERROR";
    case ConnectionEventType::kRouteResolved: return "ROUTE_RESOLVED";
    case ConnectionEventType::kRouteError: return "ROUTE_ERROR";
    case ConnectionEventType::kConnectRequest: return "CONNECT_REQUEST";
    case ConnectionEventType::kConnectError: return "CONNECT_ERROR";
    case ConnectionEventType::kUnreachable: return "UNREACHABLE";
    case ConnectionEventType::kRejected: return "REJECTED";
    case ConnectionEventType::kEstablished: return "ESTABLISHED";
    case ConnectionEventType::kDisconnected: return "DISCONNECTED";
    case ConnectionEventType::kDeviceRemoval: return "DEVICE_REMOVAL";
    case ConnectionEventType::kMulticastJoin: return "MULTICAST_JOIN";
    case ConnectionEventType::kTimewaitExit: return "TIMEWAIT_EXIT";
  }
  return "unknown event";
}

}  // namespace weft::verbs
