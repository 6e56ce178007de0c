// SPDX-License-Identifier: Apache-2.0
// A stream sent through io_uring: IORING_OP_SEND, or IORING_OP_SEND_ZC, which tells when it is done with the memory.
#include <sys/socket.h>

#include "bench/uring/end.hpp"
#include "bench/uring/source.hpp"
#include "bench/uring/support.hpp"

namespace weft::uring {
namespace {

class UringSender final : public End {
 public:
  UringSender(const RingOptions& options, std::span<const int> sockets, std::size_t octets, bool zero_copy)
      : options_(options), ring_(options), socket_(sockets[0]), source_(octets), zero_copy_(zero_copy) {
    if (options.fixed_files) ring_.register_files(sockets);
  }

  // One send at a time, since two could mix their octets; and as many notifications outstanding as there is memory.
  void work_until(std::uint64_t total) override {
    while (sent_ < total) {
      send();
      wait_while([this] { return sending_ || pending_ >= Source::kMessages; });
    }
    wait_while([this] { return pending_ != 0; });
  }
  [[nodiscard]] double copied() const override { return !zero_copy_ ? -1 : told_ == 0 ? 0 : copied_ / told_; }

 private:
  void send() {
    io_uring_sqe& entry = ring_.next();
    entry.opcode = zero_copy_ ? IORING_OP_SEND_ZC : IORING_OP_SEND;
    entry.fd = options_.fixed_files ? 0 : socket_;
    entry.flags = options_.fixed_files ? IOSQE_FIXED_FILE : 0U;
    entry.ioprio = zero_copy_ ? IORING_SEND_ZC_REPORT_USAGE : 0U;
    entry.addr = reinterpret_cast<std::uint64_t>(source_.next());
    entry.len = static_cast<unsigned>(source_.octets());
    entry.msg_flags = MSG_NOSIGNAL | MSG_WAITALL;
    sending_ = true;
  }

  template <typename Condition>
  void wait_while(Condition condition) {
    while (condition()) {
      ring_.submit_and_wait();
      ring_.completions([this](const io_uring_cqe& completion) { handle(completion); });
    }
  }

  void handle(const io_uring_cqe& completion) {
    if ((completion.flags & IORING_CQE_F_NOTIF) != 0) {
      --pending_;
      ++told_;
      if ((static_cast<unsigned>(completion.res) & IORING_NOTIF_USAGE_ZC_COPIED) != 0) ++copied_;
      return;
    }
    const auto put = static_cast<std::size_t>(need_result(completion.res, "send"));
    if (put != source_.octets()) give_up("a send that is not whole");
    sent_ += put;
    sending_ = false;
    if ((completion.flags & IORING_CQE_F_MORE) != 0) ++pending_;
  }

  RingOptions options_;
  Ring ring_;
  int socket_;
  Source source_;
  bool zero_copy_;
  bool sending_ = false;
  std::size_t pending_ = 0;
  std::uint64_t sent_ = 0;
  double told_ = 0;
  double copied_ = 0;
};

MakeEnd make(const RingOptions& options, std::size_t octets, bool zero_copy) {
  return
      [=](std::span<const int> sockets) { return std::make_unique<UringSender>(options, sockets, octets, zero_copy); };
}

}  // namespace

MakeEnd send_copies_with(RingOptions options, std::size_t octets) { return make(options, octets, false); }
MakeEnd send_zero_copy_with(RingOptions options, std::size_t octets) { return make(options, octets, true); }

}  // namespace weft::uring
