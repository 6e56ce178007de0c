// SPDX-License-Identifier: Apache-2.0
// What can be recorded: each scene makes real connections over a loopback address, and one end's view of them becomes
// one small capture. A scene throws when the connection does not go as it should.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace weft::recordings {

struct Scene {
  std::string name{};   // of the file, without its ending
  std::string shows{};  // one line, for the file's row in pcap-samples/weft/README.md
  std::function<void(const std::string& path)> play{};
};

std::vector<Scene> startup_scenes();    // revisions, IRD and ORD, CRC, Markers, ready-to-receive, private data
std::vector<Scene> message_scenes();    // every operation, and how a connection ends
std::vector<Scene> terminate_scenes();  // Terminates for what an application may do wrong
std::vector<Scene> hostile_scenes();    // Terminates for octets that no conforming peer sends

}  // namespace weft::recordings
