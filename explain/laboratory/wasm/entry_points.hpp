// SPDX-License-Identifier: Apache-2.0
// The laboratory as C functions, which WebAssembly exports and laboratory.js calls. Octets go in through a room that
// the caller fills; JSON comes out as octets that stay until the next call.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// Room for this many octets, which the next call takes; null when that is too much.
std::byte* weft_laboratory_room(std::uint32_t octets);

// A run of the script in the room: its number, or 0 when there is none. The answer is the first step, or a `refused`.
std::uint32_t weft_laboratory_start();
// Each is one step of a run. A run that is no more answers with a `refused`.
void weft_laboratory_feed(std::uint32_t run, std::uint32_t row);  // the octets in the room
void weft_laboratory_end(std::uint32_t run);
void weft_laboratory_receive(std::uint32_t run, std::uint32_t octets);
void weft_laboratory_wait(std::uint32_t run);
void weft_laboratory_stop(std::uint32_t run);  // it is not needed any more; no answer

const char* weft_laboratory_answer();  // JSON
std::uint32_t weft_laboratory_answer_size();

std::uint32_t weft_laboratory_crc32c();  // of the octets in the room
}
