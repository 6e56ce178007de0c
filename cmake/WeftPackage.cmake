# `cpack -G DEB` in the build folder: one package, weft, of everything that is installed. It stands beside libibverbs1 and librdmacm1:
# the drop-in libraries are in a folder of their own, and no other package has to go (docs/drop-in.md).
include_guard()
set(CPACK_GENERATOR DEB)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/WeftPackageNeeds.cmake)  # says which of its own programs are missing
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VENDOR "weft")
set(CPACK_PACKAGE_CONTACT "weft maintainers <maintainers@users.noreply.a-seed-0a6e45e9.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "userspace iWARP: RDMA over TCP without hardware or privileges")
set(CPACK_PACKAGE_DESCRIPTION
"weft is a software RNIC on ordinary TCP sockets (MPA, DDP and RDMAP). The
package has the weft command (demo, rping, bench, info, run), replacements for
libibverbs and librdmacm in a private directory, which weft run puts under
unchanged RDMA programs, and the static libraries and headers to build upon.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)  # weft_0.1.0_amd64.deb
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "rdmacm-utils, ibverbs-utils, perftest, libspdlog-dev, libisal-dev, libpcap-dev, libtins-dev, zlib1g-dev, libzstd-dev, liblzma-dev")
# What the binaries need, from what they are linked with; libraries of the package itself are not looked up.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/compat/lib)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
