// SPDX-License-Identifier: Apache-2.0
// Requests answered through io_uring: the answers to all that a look at the completion ring found, and the wait for the
// next requests, are one io_uring_enter.
#include <sys/socket.h>

#include <array>
#include <vector>

#include "bench/uring/end.hpp"
#include "bench/uring/support.hpp"

namespace weft::uring {
namespace {

constexpr unsigned kBuffers = 512;
constexpr std::size_t kBufferOctets = 4096;
constexpr std::uint64_t kIsAnswer = std::uint64_t{1} << 32U;  // in user_data, beside the connection's index

class UringEnd final : public End {
 public:
  UringEnd(const RingOptions& options, std::span<const int> sockets)
      : options_(options), ring_(options), sockets_(sockets.begin(), sockets.end()) {
    if (options.fixed_files) ring_.register_files(sockets);
    if (options.multishot) ring_.provide_buffers(kBuffers, kBufferOctets);
    if (!options.multishot) staging_.resize(sockets.size() * kBufferOctets);
    piece_ = {.iov_base = answer_.data(), .iov_len = answer_.size()};
    message_.msg_iov = &piece_;
    message_.msg_iovlen = 1;
    for (std::size_t i = 0; i < sockets.size(); ++i) ask(i);
  }

  void work_until(std::uint64_t total) override {
    while (answered_ < total) {
      ring_.submit_and_wait();
      ring_.completions([this](const io_uring_cqe& completion) { handle(completion); });
    }
    ring_.submit(0);
  }

 private:
  io_uring_sqe& entry_for(std::size_t index, unsigned operation) {
    io_uring_sqe& entry = ring_.next();
    entry.opcode = static_cast<std::uint8_t>(operation);
    entry.fd = options_.fixed_files ? static_cast<int>(index) : sockets_[index];
    entry.flags = options_.fixed_files ? IOSQE_FIXED_FILE : 0U;
    entry.user_data = index;
    return entry;
  }

  void ask(std::size_t index) {
    io_uring_sqe& entry = entry_for(index, IORING_OP_RECV);
    if (options_.multishot) {
      entry.ioprio = IORING_RECV_MULTISHOT;
      entry.flags |= IOSQE_BUFFER_SELECT;
      return;
    }
    entry.addr = reinterpret_cast<std::uint64_t>(staging_.data() + index * kBufferOctets);
    entry.len = kBufferOctets;
  }

  // The best case for io_uring: nobody wants to hear of a send that went well, else each would end the wait.
  void answer(std::size_t index) {
    io_uring_sqe& entry = entry_for(index, IORING_OP_SENDMSG);
    entry.flags |= IOSQE_CQE_SKIP_SUCCESS;
    entry.addr = reinterpret_cast<std::uint64_t>(&message_);
    entry.len = 1;
    entry.msg_flags = MSG_NOSIGNAL | MSG_WAITALL;
    entry.user_data = index | kIsAnswer;
  }

  void handle(const io_uring_cqe& completion) {
    const int result = need_result(completion.res, (completion.user_data & kIsAnswer) != 0 ? "sendmsg" : "recv");
    if (result != static_cast<int>(kRequestOctets)) give_up("a request that is not whole");
    if ((completion.flags & IORING_CQE_F_BUFFER) != 0) ring_.give_back(completion.flags >> IORING_CQE_BUFFER_SHIFT);
    const auto index = static_cast<std::size_t>(completion.user_data);
    answer(index);
    if ((completion.flags & IORING_CQE_F_MORE) == 0) ask(index);
    ++answered_;
  }

  RingOptions options_;
  Ring ring_;
  std::vector<int> sockets_;
  std::vector<char> staging_{};
  std::array<char, kRequestOctets> answer_{};
  iovec piece_{};
  msghdr message_{};
  std::uint64_t answered_ = 0;
};

}  // namespace

MakeEnd answer_with(RingOptions options) {
  return [options](std::span<const int> sockets) { return std::make_unique<UringEnd>(options, sockets); };
}

}  // namespace weft::uring
