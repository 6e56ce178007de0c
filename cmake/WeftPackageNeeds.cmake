# cpack reads this before it begins (CPACK_PROJECT_CONFIG_FILE): what its generator for Debian runs has to be here. Without that,
# CMake's scripts fail one after the other, and none names a package.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
cmake_policy(VERSION 3.25)  # no CMakeLists.txt has set it here
include(${CMAKE_CURRENT_LIST_DIR}/WeftNeeds.cmake)
weft_missing(rows pack)
if(rows)
  weft_fail_for("${rows}" "Then run cpack again.")
endif()
