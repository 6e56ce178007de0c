# The site: `cmake --build build --target docs` makes HTML of all documents and of the public headers in build/site (docs/site/build.py).
# Its front door is the page of `weft explain --demo`, so the command is built first.
include_guard()
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)
  add_custom_target(docs COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/docs/site/build.py ${PROJECT_BINARY_DIR}/site
                                 --weft $<TARGET_FILE:weft>
                    DEPENDS weft USES_TERMINAL VERBATIM)
endif()
