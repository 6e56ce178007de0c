// SPDX-License-Identifier: Apache-2.0
// The virtual machine of run.sh, booted once for the whole test program, and commands that run in it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::interop {

inline constexpr std::uint16_t kGuestPeerPort = 7471;   // siw_peer listens here in the guest
inline constexpr std::uint16_t kGuestRpingPort = 7174;  // rping's default; perftest is told to take it too

// One command in the guest; its output arrives line by line. It runs on until it ends by itself.
class Session {
 public:
  Session(int socket, std::string command) : socket_(socket), transcript_("$ " + command + "\n") {}
  Session(Session&& other) noexcept;
  Session& operator=(Session&&) = delete;
  ~Session();

  // Reads until a line begins with `prefix` and returns that line; empty when the command ends first or nothing comes
  // for this time, which only a failure takes.
  std::optional<std::string> wait_for(std::string_view prefix,
                                      std::chrono::milliseconds patience = std::chrono::seconds(120));
  // Reads to the end and returns the exit code; -1 when the guest did not tell one.
  int finish();
  // Everything read so far, for messages of failed tests.
  [[nodiscard]] const std::string& transcript() const noexcept { return transcript_; }

 private:
  std::optional<std::string> line(std::chrono::milliseconds patience);

  int socket_;
  std::string transcript_;
  std::string pending_{};
};

// The machine has ended by itself, most likely because the guest's kernel has failed. what() includes the end of its console.
class GuestEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a machine has.
struct Machine {
  std::vector<std::uint16_t> ports{kGuestPeerPort, kGuestRpingPort};  // of the guest, to be reached from this machine
  bool nfs = false;                                                   // the overlay of Linux's NFS server (build.sh)
};

class Vm {
 public:
  // Says what instance() boots.
  static void describe(Machine machine);
  // Boots at first use. Throws std::runtime_error when the guest does not come up.
  static Vm& instance();
  // Returns false when the guest answers a command. Otherwise its kernel has failed: prints its last words, with `during`, and boots a new
  // machine. Sessions and packets of the machine that failed are lost. Throws GuestEnded when this happens for the fifth time.
  static bool boot_after_failure(std::string_view during);
  // Ends qemu by SIGKILL, and forgets its packets. Returns when it has ended. instance() boots another machine then.
  static void kill_machine();

  // The port on this machine's 127.0.0.1 that leads to one of the guest's.
  [[nodiscard]] std::uint16_t port(std::uint16_t guest) const { return ports_.at(guest); }
  [[nodiscard]] std::uint16_t peer_port() const { return port(kGuestPeerPort); }
  [[nodiscard]] std::uint16_t rping_port() const { return port(kGuestRpingPort); }

  // Throws GuestEnded when the machine has ended.
  [[nodiscard]] Session start(const std::string& command) const;
  // Runs a command to its end. Throws when its exit code is not 0.
  std::string run(const std::string& command) const;

  // Every packet of the guest's network card, seen by qemu. Complete after power_off().
  [[nodiscard]] const std::string& packets() const noexcept { return packets_; }
  // Whether these octets stand somewhere in them, in one packet. qemu writes each packet as it comes.
  [[nodiscard]] bool recorded(std::string_view octets) const;
  // The guest's kernel, "6.1.192". Each failed expectation is followed by it.
  [[nodiscard]] const std::string& kernel() const noexcept { return kernel_; }
  // A time that is right on a machine at rest, made longer by as much as the boot took longer there.
  [[nodiscard]] std::chrono::milliseconds scaled(std::chrono::milliseconds time) const { return time * slowness_; }

  // Throws GuestEnded when the machine has ended before.
  void power_off();
  void forget_packets() const;  // removes the file, unless some test has failed
  [[nodiscard]] static bool booted() noexcept;

 private:
  Vm();
  [[noreturn]] void run_script() const;
  void wait_until_up() const;
  void ask_kernel();
  [[nodiscard]] bool ended() const;
  [[nodiscard]] bool answers() const;
  [[nodiscard]] GuestEnded end() const;
  void wait_for_end(std::chrono::milliseconds patience) const;

  std::map<std::uint16_t, std::uint16_t> ports_{};  // the guest's, and this machine's
  std::string packets_;
  std::string log_;
  std::string pidfile_;
  std::string kernel_{};
  int slowness_ = 1;
  pid_t process_ = -1;
};

}  // namespace weft::interop
