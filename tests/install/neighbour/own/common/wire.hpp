// SPDX-License-Identifier: Apache-2.0
// A header of the neighbour's, under a name that weft has, too.
#pragma once
#ifndef ASKED_FOR_ITS_OWN
#error "a header of weft takes the common/wire.hpp of the program"
#endif

namespace neighbour {
constexpr bool kCommonIsMine = true;
}
