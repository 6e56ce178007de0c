# What the source tree says and an installed copy has to say otherwise. `cmake --install` does it to the copies (WeftInstall.cmake);
# docs/decisions/0024-installed-names.md says why.
include_guard()

# weft_rewrite_headers(FOLDER): headers in it that include "verbs/verbs.hpp" or "weft/error.hpp" include <weft/verbs/verbs.hpp> and
# <weft/error.hpp>, so that no include path has
# to name a folder in which "common/" and "engine/" are.
function(weft_rewrite_headers folder)
  file(GLOB_RECURSE headers "${folder}/*.hpp")
  foreach(header IN LISTS headers)
    file(READ "${header}" text)
    string(REGEX REPLACE "#include \"(weft/)?([^\"]+)\"" "#include <weft/\\2>" text "${text}")
    file(WRITE "${header}" "${text}")
  endforeach()
endfunction()

# weft_rewrite_documents(FOLDER): a link to a file that is not beside the document becomes its text, which names the file.
function(weft_rewrite_documents folder)
  file(GLOB documents "${folder}/*.md")
  file(GLOB files RELATIVE "${folder}" "${folder}/*")
  foreach(document IN LISTS documents)
    file(READ "${document}" source)
    string(REPLACE "](docs/" "](" text "${source}")  # CHANGELOG.md stands above the others in the tree
    foreach(kept IN LISTS files ITEMS "#" "http:" "https:")
      string(REPLACE "](${kept}" "]@(${kept}" text "${text}")
    endforeach()
    string(REGEX REPLACE "\\[([^]]*)\\]\\([^)]*\\)" "\\1" bare "${text}")
    if(NOT bare STREQUAL text)
      string(APPEND bare "\nFiles that are named here and are not in this folder are in weft's source tree.\n")
    endif()
    string(REPLACE "]@(" "](" bare "${bare}")
    file(WRITE "${document}" "${bare}")
  endforeach()
endfunction()
