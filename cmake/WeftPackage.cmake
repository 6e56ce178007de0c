# `cpack -G DEB` in the build folder: `weft`, all that runs, and `weft-dev`, for programs of one's own. weft stands beside libibverbs1
# and librdmacm1: the drop-in libraries are in a folder of their own, and no other package has to go (docs/drop-in.md).
include_guard()
set(CPACK_GENERATOR DEB)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/WeftPackageNeeds.cmake)  # says which of its own programs are missing
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VENDOR "weft")
set(CPACK_PACKAGE_CONTACT "weft maintainers <maintainers@users.noreply.a-seed-0a6e45e9.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # would stand above the first line of each description, which is its summary
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)    # a package for each component
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)  # weft_0.1.0_amd64.deb
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME weft)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION net)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "rdmacm-utils, ibverbs-utils, perftest, weft-dev")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
"userspace iWARP: RDMA over TCP without hardware or privileges
weft is a software RNIC on ordinary TCP sockets (MPA, DDP and RDMAP). The
package has the weft command (demo, rping, bench, info, run, audit, dissect,
explain) and replacements for libibverbs and librdmacm in a private directory,
which weft run puts under unchanged RDMA programs.")
# What the binaries need, from what they are linked with; libraries of the package itself are not looked up.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/compat/lib)

# What the static libraries are linked with, and pkg-config, which find_package(weft) asks, too. Held by tests/package/clean_root_dev.sh.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME weft-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, libisal-dev, liblzma-dev, libpcap-dev, libspdlog-dev, libssl-dev, libtins-dev, libzstd-dev, pkg-config, zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "g++, cmake, weft")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"userspace iWARP: headers and static libraries
weft is a software RNIC on ordinary TCP sockets (MPA, DDP and RDMAP). The
package has the C++ interface of its verbs and of its auditor: headers, static
libraries, a CMake package, a pkg-config file and examples.")
include(CPack)
