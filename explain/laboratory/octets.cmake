# cmake -DMODULE=laboratory.wasm -DOUT=octets.cpp -P octets.cmake: a file's octets as C++.
file(READ ${MODULE} octets HEX)
string(REGEX REPLACE "(..)" "0x\\1," octets "${octets}")
file(WRITE ${OUT} "// Made by explain/laboratory/octets.cmake.
#include \"explain/laboratory/octets.hpp\"

namespace weft::explain {
namespace {

constexpr unsigned char kOctets[] = {${octets}};

}  // namespace

Bytes laboratory_octets() noexcept { return std::as_bytes(std::span(kOctets)); }

}  // namespace weft::explain
")
