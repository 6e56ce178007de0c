// SPDX-License-Identifier: Apache-2.0
// Set-ups of weft's connections.
#pragma once

#include <memory>
#include <utility>

#include "tools/bench/calls.hpp"
#include "tools/link/link.hpp"

namespace weft::tools::bench {

class WeftCalls final : public Calls {
 public:
  static Outcome<std::unique_ptr<Endpoint>> create(const Options& options, const verbs::Endpoint& listener);
  WeftCalls(Caller caller, verbs::Policy policy, const verbs::Endpoint& listener)
      : Calls(caller), policy_(std::move(policy)), listener_(listener) {}

 private:
  Outcome<double> call() override;

  verbs::Policy policy_;
  verbs::Endpoint listener_;
  std::shared_ptr<LinkResources> resources_{};  // of the first connection, for all that follow
};

class WeftAnswers final : public Calls {
 public:
  explicit WeftAnswers(Listener listener) : listener_(std::move(listener)) {}

 private:
  Outcome<void> answer() override;

  Listener listener_;
  std::shared_ptr<LinkResources> resources_{};
};

}  // namespace weft::tools::bench
