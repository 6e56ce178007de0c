// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/weft_port.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "tools/bench/patience.hpp"
#include "tools/bench/weft_setup.hpp"

namespace weft::tools::bench {
namespace {

constexpr std::uint32_t kHotOctets = 256 * 1024;  // receive buffers together: as much as the raw TCP receiver uses

std::uint32_t slots_for(const Options& options) {
  return std::clamp(kHotOctets / options.connections / options.size, 1U, effective_depth(options));
}

// perftest posts nothing inline over iWARP unless told to (-I).
std::uint32_t inline_limit(const Options& options) {
  const std::uint32_t device = verbs::Device::limits().max_inline;
  return std::min(options.posting.max_inline.value_or(options.pattern == Pattern::kPerftest ? 0 : device), device);
}

}  // namespace

WeftPort::WeftPort(Link link, const Options& options)
    : options_(options),
      slots_{.count = slots_for(options)},
      report_every_(signal_interval(options)),
      out_(options.size),
      in_(static_cast<std::size_t>(slots_.count) * options.size),
      word_(1),
      link_(std::move(link)) {}

Outcome<void> WeftPort::set_up() {
  using enum verbs::Access;
  auto out = link_.register_memory(out_, kLocalWrite | kRemoteRead);
  if (!out) return std::unexpected(out.error());
  auto in = link_.register_memory(in_, kLocalWrite | kRemoteWrite);
  if (!in) return std::unexpected(in.error());
  auto word = link_.register_memory(word_, kLocalWrite);
  if (!word) return std::unexpected(word.error());
  regions_.emplace(std::move(*out), std::move(*in), std::move(*word));
  return top_up_receives();
}

std::vector<std::byte> WeftPort::description() const {
  std::vector<std::byte> octets;
  for (const verbs::MemoryRegion* region : {&regions_->in, &regions_->out}) {
    const auto part = Advertisement{region->iova(), region->rkey(), options_.size}.serialize();
    octets.insert(octets.end(), part.begin(), part.end());
  }
  return octets;
}

Outcome<void> WeftPort::learn(Bytes peers_description) {
  if (peers_description.size() != 2 * kAdvertisementSize)
    return failure("weft: the peer did not describe its buffers.");
  peer_in_ = *Advertisement::parse(peers_description.first(kAdvertisementSize));
  peer_out_ = *Advertisement::parse(peers_description.last(kAdvertisementSize));
  return {};
}

Outcome<void> WeftPort::check_negotiated() {
  const auto negotiated = link_.queue_pair().query().negotiated;
  if (!negotiated) return failure("weft: the connection has no negotiated parameters.");
  if (negotiated->crc != options_.crc || negotiated->markers_in != options_.markers ||
      negotiated->markers_out != options_.markers) {
    return failure("weft: CRC or Markers were not negotiated as asked for.");
  }
  return {};
}

verbs::SendRequest WeftPort::message_request() const {
  const bool fits_inline = options_.size <= inline_limit(options_);
  const auto flags = fits_inline ? verbs::SendFlags::kInline : verbs::SendFlags::kNone;
  switch (options_.op) {
    case Op::kSend: return {.opcode = verbs::SendOpcode::kSend, .flags = flags};
    case Op::kWrite:
      return {.opcode =
                  writes_notify(options_) ? verbs::SendOpcode::kRdmaWriteWithImmediate : verbs::SendOpcode::kRdmaWrite,
              .flags = flags,
              .remote_address = peer_in_.address,
              .rkey = peer_in_.rkey};
    case Op::kRead:
      return {.opcode = verbs::SendOpcode::kRdmaRead, .remote_address = peer_out_.address, .rkey = peer_out_.rkey};
  }
  return {};
}

// A list is made once, as perftest makes its own: what is measured is to post it.
void WeftPort::make_list(std::uint32_t count) {
  auto& [segments, requests] = list_;
  if (requests.size() == count) return;
  segments.assign(count, regions_->out.sge());
  requests.assign(count, message_request());
  for (std::uint32_t i = 0; i < count; ++i) requests[i].segments = {&segments[i], 1};
}

Outcome<void> WeftPort::post_messages(std::uint32_t count, bool report) {
  make_list(count);
  for (std::uint32_t i = 0; i < count && options_.op == Op::kRead; ++i) {
    slots_.latest = slots_.next_sink;
    list_.segments[i] = regions_->in.sge(static_cast<std::size_t>(slots_.next_sink) * options_.size, options_.size);
    slots_.next_sink = slots_.behind(slots_.next_sink);
  }
  return post(list_.requests, report);
}

Outcome<void> WeftPort::send_word() {
  const verbs::Sge octet = regions_->word.sge();
  verbs::SendRequest request{
      .opcode = verbs::SendOpcode::kSend, .flags = verbs::SendFlags::kInline, .segments = {&octet, 1}};
  return post({&request, 1}, true);
}

// A reported completion stands for all that was posted up to it: work requests complete in order.
Outcome<void> WeftPort::post(std::span<verbs::SendRequest> requests, bool report) {
  messages_.outstanding += requests.size();
  messages_.unreported += requests.size();
  verbs::SendRequest& last = requests.back();
  const verbs::SendFlags plain = last.flags;
  if (report || messages_.unreported >= report_every_) {
    last.flags = plain | verbs::SendFlags::kSignaled;
    last.wr_id = std::exchange(messages_.unreported, 0);
  }
  const auto posted = link_.queue_pair().post_send(requests);
  last.flags = plain;
  if (!posted) return std::unexpected(to_failure("weft: post_send", posted.error().error));
  return {};
}

// Words have a place of their own where messages do not arrive by Send: the peer writes to in().
verbs::Sge WeftPort::receive_segment(std::uint32_t index) const {
  if (!takes_messages()) return regions_->word.sge();
  return regions_->in.sge(static_cast<std::size_t>(index) * options_.size, options_.size);
}

Outcome<void> WeftPort::top_up_receives() {
  const std::uint32_t wanted = receive_depth(options_);
  if (messages_.receives > wanted / 2) return {};  // in lists, as the sends are
  constexpr std::uint32_t kList = 64;
  std::array<verbs::Sge, kList> segments;
  std::array<verbs::ReceiveRequest, kList> requests;
  while (messages_.receives < wanted) {
    const std::uint32_t count = std::min(kList, wanted - messages_.receives);
    for (std::uint32_t i = 0; i < count; ++i) {
      segments[i] = receive_segment(slots_.next_receive);
      requests[i] = {.wr_id = slots_.next_receive, .segments = {&segments[i], 1}};
      slots_.next_receive = slots_.behind(slots_.next_receive);
    }
    const auto posted = link_.queue_pair().post_receive(std::span(requests).first(count));
    if (!posted) return std::unexpected(to_failure("weft: post_receive", posted.error().error));
    messages_.receives += count;
  }
  return {};
}

Outcome<void> WeftPort::await_receive() {
  if (auto arrived = poll_until([this] { return messages_.received > 0; }); !arrived) return arrived;
  --messages_.received;
  return top_up_receives();
}

Outcome<void> WeftPort::poll() {
  if (auto taken = take_completions(); !taken) return std::unexpected(taken.error());
  return {};
}

// As every verbs program that sleeps: poll, arm, poll once more for what came between the two, sleep. The call may end
// for nothing when what it waits for was found by a poll; the caller looks again.
Outcome<void> WeftPort::poll_or_sleep() {
  const auto taken = take_completions();
  if (!taken) return std::unexpected(taken.error());
  if (*taken != 0) return {};
  if (!std::exchange(armed_, true)) return link_.completions().arm();
  armed_ = false;
  return blocking_ == Blocking::kWait ? link_.completions().wait_event()
                                      : link_.completions().poll_descriptor(kPatience);
}

Outcome<std::size_t> WeftPort::take_completions() {
  const auto count = link_.completions().poll(completions_);
  if (!count) return std::unexpected(count.error());
  for (const verbs::WorkCompletion& completion : std::span(completions_).first(*count)) {
    if (auto taken = dispatch(completion); !taken) return std::unexpected(taken.error());
  }
  return *count;
}

Outcome<void> WeftPort::dispatch(const verbs::WorkCompletion& completion) {
  if (!siblings_) return take(completion);
  const auto owner = siblings_->find(completion.qp_num);
  if (owner == siblings_->end()) return failure("weft: a completion of no connection.");
  return owner->second->take(completion);
}

Outcome<void> WeftPort::take(const verbs::WorkCompletion& completion) {
  if (completion.status != verbs::WcStatus::kSuccess) return failure("weft: " + describe(completion) + ".");
  const bool arrived =
      completion.opcode == verbs::WcOpcode::kReceive || completion.opcode == verbs::WcOpcode::kReceiveImmediate;
  if (!arrived) {
    messages_.outstanding -= completion.wr_id;
    return {};
  }
  if (takes_messages()) slots_.latest = static_cast<std::uint32_t>(completion.wr_id);
  ++messages_.received;
  --messages_.receives;
  return {};
}

// Called once in a great many spins: the clock must not slow the spinning down.
bool WeftPort::out_of_patience(std::optional<Clock::time_point>& started) {
  const Clock::time_point now = Clock::now();
  if (!started) started = now;
  return now - *started > kPatience;
}

}  // namespace weft::tools::bench
