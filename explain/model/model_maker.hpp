// SPDX-License-Identifier: Apache-2.0
// From a capture to the model: packets in, everything that there is to explain out.
//
//   ModelMaker maker("trace.pcap");
//   for (each packet) maker.take(packet);
//   maker.close();
//   const Model model = maker.finish();
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/shown_text.hpp"
#include "conformance/connection_audit.hpp"
#include "conformance/tcp_connections.hpp"
#include "conformance/tls_layer.hpp"
#include "conformance/walk.hpp"
#include "explain/model/model.hpp"
#include "explain/model/packet_heads.hpp"
#include "explain/model/story.hpp"

namespace weft::explain {

/// What to make of a capture.
struct ModelOptions {
  std::optional<std::size_t> connection{};  ///< this one alone, as `weft audit` numbers them
  conformance::KeyLog* keys{};              ///< to decrypt TLS 1.3 with; it outlives the maker
  Budget budget{};                          ///< how much the model may hold
};

/// Reads a capture.
class ModelMaker {
 public:
  explicit ModelMaker(std::string_view source, const ModelOptions& options = {});
  ~ModelMaker();
  ModelMaker(const ModelMaker&) = delete;
  ModelMaker& operator=(const ModelMaker&) = delete;

  /// The next packet of the capture.
  void take(const conformance::Packet& packet);
  /// Something to tell the reader: why the capture ended early, for instance.
  void note(std::string_view sentence) { model_.notes.push_back(shown_text(sentence)); }
  /// The capture is over: from here on all is known of it.
  void close();
  /// What there is to explain. Once, after close().
  [[nodiscard]] Model finish();

  /// What was noted so far.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return model_.notes; }
  /// Packets taken so far.
  [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
  /// TCP connections seen so far, of all protocols.
  [[nodiscard]] std::size_t tcp_connections() const noexcept { return tcp_connections_; }
  /// iWARP connections that are over, also those that were not asked for; in order once close() was called.
  [[nodiscard]] const std::vector<std::size_t>& iwarp_connections() const noexcept { return iwarp_; }

 private:
  struct Live;

  void drain();
  void take(const conformance::ConnectionEvent& event);
  void show(Live& live);
  void end(Live& live, const conformance::ConnectionInfo& info);
  void keep(Live& live);
  void note_tls(const Live& live);
  void note_limits();

  ModelOptions options_;
  Model model_{};
  PacketHeads heads_{};
  conformance::TcpConnections tcp_{};
  std::map<std::size_t, std::unique_ptr<Live>> live_;
  std::vector<std::size_t> iwarp_{};
  std::uint64_t packets_ = 0;
  std::size_t tcp_connections_ = 0;
  std::size_t tls_noted_ = 0;
};

}  // namespace weft::explain
