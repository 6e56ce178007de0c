// SPDX-License-Identifier: Apache-2.0
// A notebook in the memory of one process, which another process writes and reads.
//
//     remote_notebook serve [PORT]            opens a notebook, prints its port, waits for one visitor,
//                                             prints what was written
//     remote_notebook visit ADDR PORT TEXT    writes TEXT to the notebook and reads it back
//
// The visitor's writes and reads are one-sided operations: the server's program is not involved. An empty message at
// the end notifies the server that the notebook was written.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <weft/weft.hpp>

using namespace std::chrono_literals;

namespace {

[[noreturn]] void give_up(std::string_view why) {
  std::fprintf(stderr, "remote_notebook: %.*s\n", int(why.size()), why.data());
  std::exit(1);
}

// Returns the value of a result, or exits with the message of the error.
template <typename T>
T must(weft::Result<T> result) {
  if (!result) give_up(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

int serve(std::uint16_t port) {
  weft::Listener listener = must(weft::Listener::listen({"127.0.0.1", port}));
  std::printf("listening on port %u\n", unsigned{listener.local().port});
  std::fflush(stdout);

  weft::Connection visitor = must(listener.next(weft::Deadline::never()));
  std::array<char, 4096> page{};
  using enum weft::Access;
  const weft::Region notebook = must(visitor.register_memory(page, kLocalWrite | kRemoteWrite | kRemoteRead));
  // The visitor finds out where the notebook is.
  must(visitor.establish(10s, notebook.remote().to_wire()));
  must(visitor.receive({}, 10s));
  std::printf("the notebook says: %.*s\n", static_cast<int>(page.size()), page.data());
  return 0;
}

int visit(const char* address, std::uint16_t port, const std::string& text) {
  weft::Connection server = must(weft::Connection::connect({address, port}, 10s));
  const weft::RemoteRegion notebook = must(weft::RemoteRegion::from_wire(server.peer_data()));
  if (text.size() + 1 > notebook.length) give_up("TEXT is longer than the notebook");

  // One buffer to write from, and one to read into.
  std::string copy(text.size() + 1, '?');
  const weft::Region source = must(server.register_memory(std::span(text.c_str(), text.size() + 1)));
  const weft::Region sink = must(server.register_memory(copy));
  must(server.write(source, notebook, 10s));
  // A Read that follows a Write returns the written data (RFC 5040 section 5.5).
  must(server.read(sink, notebook, 10s));
  if (copy.c_str() != text) give_up("what was read back is not what was written");
  must(server.send({}, 10s));
  must(server.close(10s));
  std::printf("written and read back: %s\n", copy.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const auto port_number = [](const char* text) { return std::uint16_t(std::strtoul(text, nullptr, 10)); };
  if (mode == "serve" && argc <= 3) return serve(argc == 3 ? port_number(argv[2]) : std::uint16_t{0});
  if (mode == "visit" && argc == 5) return visit(argv[2], port_number(argv[3]), argv[4]);
  std::fprintf(stderr, "usage: %s serve [PORT] | visit ADDR PORT TEXT\n", argv[0]);
  return 2;
}
