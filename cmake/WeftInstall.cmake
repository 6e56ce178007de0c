# What `cmake --install` adds to the rooms' libraries and headers (weft_room installs those): a CMake package, a
# pkg-config file, manual pages and documents.
include_guard()
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(EXPORT weft NAMESPACE weft:: FILE weft-targets.cmake DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
        DESTINATION ${package_folder})

# What link-time optimisation reads is of use to the very same compiler only, and an error to another version of it.
if(WEFT_LINK_TIME_OPTIMIZATION)
  install(CODE "
    file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libweft_*.a\")
    execute_process(COMMAND ${CMAKE_STRIP} --wildcard --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_*
                            --strip-symbol=__gnu_lto_* \${archives} COMMAND_ERROR_IS_FATAL ANY)")
endif()

# The linker wants a library before those it uses: the rooms in reverse order, header-only ones left out.
get_property(rooms GLOBAL PROPERTY WEFT_ROOMS)
list(REVERSE rooms)
set(WEFT_PC_LIBRARIES "")
foreach(room IN LISTS rooms)
  get_target_property(type weft_${room} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    string(APPEND WEFT_PC_LIBRARIES " -lweft_${room}")
  endif()
endforeach()
file(RELATIVE_PATH WEFT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # the installed tree may be moved
configure_file(${PROJECT_SOURCE_DIR}/cmake/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/docs/drop-in.md ${PROJECT_SOURCE_DIR}/docs/ci.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)  # where Debian looks for it
