// SPDX-License-Identifier: Apache-2.0
#include "verbs/error.hpp"

#include <cerrno>

#include "transport/system_words.hpp"

namespace weft::verbs {

namespace {

struct Entry {
  std::string_view name;
  int equivalent;  // errno
};

Entry entry(Errc code) noexcept {
  switch (code) {
    case Errc::kInvalidArgument: return {"invalid argument", EINVAL};
    case Errc::kInvalidState: return {"not in a state that allows this", EINVAL};
    case Errc::kInvalidKey: return {"invalid key", EINVAL};
    case Errc::kBadAddress: return {"bad address", EFAULT};
    case Errc::kLimitExceeded: return {"limit exceeded", EINVAL};
    case Errc::kNoResources: return {"out of resources", ENOMEM};
    case Errc::kQueueFull: return {"queue full", ENOMEM};
    case Errc::kTooManySegments: return {"too many segments", EINVAL};
    case Errc::kInlineTooLong: return {"inline data too long", EINVAL};
    case Errc::kMessageTooLong: return {"message too long", EINVAL};
    case Errc::kPrivateDataTooLong: return {"private data too long", EINVAL};
    case Errc::kNotSupported: return {"not supported", EOPNOTSUPP};
    case Errc::kNoDevice: return {"no such device", ENODEV};
    case Errc::kBusy: return {"in use", EBUSY};
    case Errc::kWouldBlock: return {"would block", EAGAIN};
    case Errc::kInterrupted: return {"interrupted", EINTR};
    case Errc::kTimedOut: return {"timed out", ETIMEDOUT};
    case Errc::kAddressInUse: return {"address in use", EADDRINUSE};
    case Errc::kRefused: return {"connection refused", ECONNREFUSED};
    case Errc::kRejected: return {"rejected by the peer", ECONNREFUSED};
    case Errc::kUnreachable: return {"unreachable", EHOSTUNREACH};
    case Errc::kDisconnected: return {"disconnected", ENOTCONN};
    case Errc::kOverflow: return {"overflow", EOVERFLOW};
    case Errc::kProtocol: return {"protocol error", EPROTO};
    case Errc::kSystem: return {"system error", EIO};
  }
  return {"unknown error", EIO};
}

class Category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "weft.verbs"; }
  [[nodiscard]] std::string message(int code) const override {
    return std::string(entry(static_cast<Errc>(code)).name);
  }
  [[nodiscard]] std::error_condition default_error_condition(int code) const noexcept override {
    return {entry(static_cast<Errc>(code)).equivalent, std::generic_category()};
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

std::string Error::message() const {
  std::string text;
  if (!argument.empty()) text.append(argument).append(": ");
  text.append(reason);
  text.append(reason.empty() ? "" : " ").append("(").append(entry(code).name);
  // An errno that means the same as the code would only say it twice; "system error" alone says too little.
  if (os_error != 0 && (code == Errc::kSystem || os_error != entry(code).equivalent))
    text.append("; ").append(system_words(os_error));
  return text.append(")");
}

int Error::to_errno() const noexcept { return os_error != 0 ? os_error : entry(code).equivalent; }

}  // namespace weft::verbs
