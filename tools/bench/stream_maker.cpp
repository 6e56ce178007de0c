// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/stream_maker.hpp"

#include <utility>

namespace weft::tools::bench {

Outcome<StreamMaker> StreamMaker::make(const verbs::Policy& policy, Protection protection) {
  if (protection == Protection::kNone) return StreamMaker(protection, nullptr);
  auto context = openssl_context(policy, protection == Protection::kOpenSsl ? Sessions::kNone : Sessions::kResumed);
  if (!context) return std::unexpected(context.error());
  return StreamMaker(protection, std::move(*context));
}

Outcome<std::unique_ptr<RawStream>> StreamMaker::at_listener(UniqueFd socket) const {
  if (!context_) return std::make_unique<RawStream>(std::move(socket));
  auto stream = std::make_unique<OpenSslStream>(std::move(socket), *context_);
  if (auto done = stream->accept(); !done) return std::unexpected(done.error());
  return stream;
}

Outcome<std::unique_ptr<RawStream>> StreamMaker::at_caller(UniqueFd socket) const {
  if (!context_) return std::make_unique<RawStream>(std::move(socket));
  auto stream = std::make_unique<OpenSslStream>(std::move(socket), *context_);
  if (auto done = stream->connect(session_.get()); !done) return std::unexpected(done.error());
  if (session_ && !stream->has_resumed()) return failure("openssl: the listener did not resume the session.");
  return stream;
}

void StreamMaker::remember(const RawStream& stream) {
  if (protection_ == Protection::kOpenSslResumed) session_ = stream.session();
}

}  // namespace weft::tools::bench
