# find_package(weft) gives weft::front (weft/weft.hpp), weft::verbs, weft::conformance, and the modules below them. The libraries are static, so what they use
# has to be here too.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(PkgConfig)
find_dependency(fmt)
find_dependency(spdlog)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET GLOBAL libisal)
pkg_check_modules(PCAP REQUIRED IMPORTED_TARGET GLOBAL libpcap)
pkg_check_modules(TLS REQUIRED IMPORTED_TARGET GLOBAL libssl libcrypto)
pkg_check_modules(UNPACK REQUIRED IMPORTED_TARGET GLOBAL zlib libzstd liblzma)
include(${CMAKE_CURRENT_LIST_DIR}/weft-targets.cmake)
