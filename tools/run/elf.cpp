// SPDX-License-Identifier: Apache-2.0
#include "tools/run/elf.hpp"

#include <elf.h>
#include <link.h>

#include <bit>
#include <cstring>

// The linker's name for the beginning of this very command.
extern "C" [[gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;

namespace weft::tools::run {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Entry = ElfW(Dyn);

constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
constexpr unsigned char kData = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

template <typename T>
std::optional<T> read_at(std::string_view file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::vector<Segment> read_segments(std::string_view file, const Header& header) {
  std::vector<Segment> segments;
  if (header.e_phentsize != sizeof(Segment)) return segments;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto segment = read_at<Segment>(file, header.e_phoff + std::uint64_t{i} * sizeof(Segment));
    if (!segment) break;
    segments.push_back(*segment);
  }
  return segments;
}

// Where in the file stands what is loaded at `address`?
std::optional<std::uint64_t> file_offset(const std::vector<Segment>& segments, std::uint64_t address) {
  for (const Segment& segment : segments) {
    const bool inside = address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz;
    if (segment.p_type == PT_LOAD && inside) return segment.p_offset + (address - segment.p_vaddr);
  }
  return std::nullopt;
}

std::vector<Entry> read_dynamic(std::string_view file, const Segment& segment) {
  std::vector<Entry> entries;
  for (std::uint64_t at = 0; at + sizeof(Entry) <= segment.p_filesz; at += sizeof(Entry)) {
    const auto entry = read_at<Entry>(file, segment.p_offset + at);
    if (!entry || entry->d_tag == DT_NULL) break;
    entries.push_back(*entry);
  }
  return entries;
}

std::string string_at(std::string_view strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  strings.remove_prefix(offset);
  return std::string(strings.substr(0, strings.find('\0')));
}

std::string_view string_table(std::string_view file, const std::vector<Segment>& segments,
                              const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    if (entry.d_tag != DT_STRTAB) continue;
    const auto offset = file_offset(segments, entry.d_un.d_ptr);
    if (offset && *offset < file.size()) return file.substr(*offset);
  }
  return {};
}

void take_names(Elf& elf, std::string_view strings, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    if (entry.d_tag == DT_NEEDED) elf.needed.push_back(string_at(strings, entry.d_un.d_val));
    if (entry.d_tag == DT_RPATH) elf.rpath = string_at(strings, entry.d_un.d_val);
    if (entry.d_tag == DT_RUNPATH) elf.runpath = string_at(strings, entry.d_un.d_val);
  }
}

}  // namespace

std::optional<Elf> read_elf(std::string_view file) {
  if (!file.starts_with(std::string_view(ELFMAG, SELFMAG)) || file.size() < EI_NIDENT) return std::nullopt;
  Elf elf;
  const auto header = read_at<Header>(file, 0);
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(file[index]); };
  elf.foreign =
      !header || byte(EI_CLASS) != kClass || byte(EI_DATA) != kData || header->e_machine != __ehdr_start.e_machine;
  if (elf.foreign) return elf;
  const auto segments = read_segments(file, *header);
  for (const Segment& segment : segments) {
    if (segment.p_type == PT_INTERP) elf.dynamic = true;
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto entries = read_dynamic(file, segment);
    take_names(elf, string_table(file, segments, entries), entries);
  }
  return elf;
}

}  // namespace weft::tools::run
