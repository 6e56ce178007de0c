# Install rules besides those for libraries and headers, which weft_module() adds. Component `development`: a CMake package, a pkg-config
# file and the examples; component `runtime`: manual pages and documents.
include_guard()
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(EXPORT weft NAMESPACE weft:: FILE weft-targets.cmake DESTINATION ${package_folder} COMPONENT development)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
        DESTINATION ${package_folder} COMPONENT development)

# Only the same version of the compiler can read the data of link-time optimization; for another version it is an error.
if(WEFT_LINK_TIME_OPTIMIZATION)
  install(CODE "
    file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libweft_*.a\")
    execute_process(COMMAND ${CMAKE_STRIP} --wildcard --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_*
                            --strip-symbol=__gnu_lto_* \${archives} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT development)
endif()

# A linker needs a library before those that it uses: the modules in reverse order, without header-only ones.
get_property(modules GLOBAL PROPERTY WEFT_MODULES)
list(REVERSE modules)
set(WEFT_PC_LIBRARIES "")
weft_static_modules(modules ${modules})
foreach(module IN LISTS modules)
  string(APPEND WEFT_PC_LIBRARIES " -lweft_${module}")
endforeach()
file(RELATIVE_PATH WEFT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # the installed tree may be moved
configure_file(${PROJECT_SOURCE_DIR}/cmake/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# Documents for users of the package; those about the code are not installed. Debian requires the licenses as `copyright` in each package.
set(documents applications ci drop-in explain nfs performance probe probe-profiles progress security siw tls tshark)
list(TRANSFORM documents REPLACE ".+" "${PROJECT_SOURCE_DIR}/docs/\\0.md")
install(FILES ${documents} ${PROJECT_SOURCE_DIR}/docs/audit.schema.json ${PROJECT_SOURCE_DIR}/docs/probe.schema.json ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/copyright ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

set(development_documents ${CMAKE_INSTALL_DOCDIR}-dev)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/copyright ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${development_documents} COMPONENT development)
file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.[ch]pp ${PROJECT_SOURCE_DIR}/examples/CMakeLists.txt)
install(FILES ${examples} DESTINATION ${development_documents}/examples COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/asio ${PROJECT_SOURCE_DIR}/examples/nfs DESTINATION ${development_documents}/examples COMPONENT development)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/examples/run.sh ${PROJECT_SOURCE_DIR}/examples/kv_store.sh DESTINATION ${development_documents}/examples COMPONENT development)

# Rewrites paths in the installed copies. (${CMAKE_INSTALL_PREFIX} is that of the install command.)
set(rewrite "include(\"${PROJECT_SOURCE_DIR}/cmake/WeftRewrite.cmake\")")
set(root "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}")
install(CODE "${rewrite}
  weft_rewrite_headers(\"${root}/${CMAKE_INSTALL_INCLUDEDIR}/weft\")" COMPONENT development)
install(CODE "${rewrite}
  weft_rewrite_documents(\"${root}/${CMAKE_INSTALL_DOCDIR}\")")
