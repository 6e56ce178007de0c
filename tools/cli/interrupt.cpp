// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace weft::tools {
namespace {

std::atomic<conformance::StopSwitch*> turned_by_signals = nullptr;

void let_signals_end_the_process() noexcept {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void on_interrupt(int) {
  let_signals_end_the_process();
  if (conformance::StopSwitch* const stop = turned_by_signals) stop->stop();
}

}  // namespace

Interrupt::Interrupt() {
  turned_by_signals = &stop_;
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, on_interrupt);
}

Interrupt::~Interrupt() {
  let_signals_end_the_process();
  turned_by_signals = nullptr;
}

}  // namespace weft::tools
