# The site: `cmake --build build --target docs` makes HTML of all documents, the clause maps and the public headers in build/site, and fails
# when Doxygen warns. The page of `weft explain --demo` is in it, because lessons name its rows.
include_guard()
find_package(Python3 QUIET COMPONENTS Interpreter)
find_program(WEFT_DOXYGEN doxygen)
if(NOT Python3_FOUND OR NOT WEFT_DOXYGEN)
  return()
endif()

set(WEFT_CLAUSE_MAPS ${PROJECT_BINARY_DIR}/clauses)
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/weft/*.hpp ${PROJECT_SOURCE_DIR}/verbs/*.hpp ${PROJECT_SOURCE_DIR}/conformance/*.hpp ${PROJECT_SOURCE_DIR}/common/local_segment.hpp)
list(JOIN headers " " WEFT_PUBLIC_HEADERS)
configure_file(${PROJECT_SOURCE_DIR}/docs/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)

set(maps "")
foreach(map rfc_map audit_coverage probe_coverage security_table)
  list(APPEND maps COMMAND ${Python3_EXECUTABLE} -B docs/${map}.py --page ${WEFT_CLAUSE_MAPS}/${map}.md)
endforeach()
add_custom_target(docs COMMAND ${CMAKE_COMMAND} -E make_directory ${WEFT_CLAUSE_MAPS} ${maps}
                       COMMAND ${WEFT_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile
                       COMMAND weft explain --demo -o ${PROJECT_BINARY_DIR}/site/weft-tour.html
                  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
