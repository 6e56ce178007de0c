// SPDX-License-Identifier: Apache-2.0
// weft_record_samples FOLDER [NAME...]: records every scene, or those named, into FOLDER/NAME.pcap.
// weft_record_samples --list: name and what it shows, separated by a tab, one scene a line.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>
#include <string_view>

#include "scene.hpp"
#include "verbs/options.hpp"

namespace {

using weft::recordings::Scene;

std::vector<Scene> all_scenes() {
  std::vector<Scene> all;
  for (const auto& scenes : {weft::recordings::startup_scenes(), weft::recordings::message_scenes(),
                             weft::recordings::terminate_scenes(), weft::recordings::hostile_scenes()}) {
    all.insert(all.end(), scenes.begin(), scenes.end());
  }
  return all;
}

bool played(const Scene& scene, std::string_view folder) {
  try {
    scene.play(fmt::format("{}/{}.pcap", folder, scene.name));
    return true;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", scene.name, error.what());
    return false;
  }
}

}  // namespace

int main(int count, char** values) {
  const std::span<char*> arguments(values + 1, static_cast<std::size_t>(count - 1));
  if (arguments.empty()) {
    fmt::print(stderr, "usage: weft_record_samples FOLDER [NAME...] | --list\n");
    return 2;
  }
  const std::string_view folder = arguments[0];
  const auto names = arguments.subspan(1);
  weft::verbs::set_log_level(weft::verbs::LogLevel::kOff);  // it would tell of every Terminate
  bool all_played = true;
  for (const Scene& scene : all_scenes()) {
    if (folder == "--list") {
      fmt::print("{}\t{}\n", scene.name, scene.shows);
    } else if (names.empty() || std::ranges::find(names, std::string_view(scene.name)) != names.end()) {
      all_played = played(scene, folder) && all_played;
    }
  }
  return all_played ? 0 : 1;
}
