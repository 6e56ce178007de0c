// SPDX-License-Identifier: Apache-2.0
// How an entry point of the drop-in libraries is declared. Everything else in them is hidden.
#pragma once

#define WEFT_ENTRY extern "C" __attribute__((visibility("default")))

// A name with two versions: this definition is what a program that is linked today gets. The version script alone would
// bind it to the older node. Stands in the file that defines `name`.
#define WEFT_DEFAULT_VERSION(name, node) __asm__(".symver " #name "," #name "@@@" node)
// The definition `internal` is `name` for programs that were linked against another version of it, mostly an older one.
#define WEFT_OLDER_VERSION(internal, name, node) __asm__(".symver " #internal "," #name "@" node)

// A function that later headers declare with types that the ones at hand may not have: `internal` in C++, `name` for
// programs. Its definition follows.
#define WEFT_ENTRY_NAMED(result, internal, name, ...)                                            \
  extern "C" __attribute__((visibility("default"))) result internal(__VA_ARGS__) __asm__(#name); \
  result internal(__VA_ARGS__)
