# Writes the bill of materials of the package weft as SPDX 2.3: weft, what its files are linked with, and what of others is compiled into
# them. cpack runs it between installing and packing (CPACK_PRE_BUILD_SCRIPTS). The same files and packages give the same octets. By hand:
#   cmake -D WEFT_SBOM_TREE=FOLDER -D WEFT_SBOM_FILE=FILE -D WEFT_SBOM_VERSION=VERSION -P WeftSbom.cmake
cmake_policy(VERSION 3.25)  # no CMakeLists.txt has set it here
if(NOT WEFT_SBOM_TREE)
  if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()  # elsewhere dpkg knows nothing of what was linked
  endif()
  set(WEFT_SBOM_TREE ${CPACK_TEMPORARY_DIRECTORY}/runtime)
  set(WEFT_SBOM_FILE ${WEFT_SBOM_TREE}/usr/share/doc/weft/sbom.spdx.json)
  set(WEFT_SBOM_VERSION ${CPACK_PACKAGE_VERSION})
endif()
set(weft_sbom_source ${CMAKE_CURRENT_LIST_DIR}/..)

# weft_said(OUT COMMAND...): what a command prints. It has to succeed.
function(weft_said out)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${out} "${said}" PARENT_SCOPE)
endfunction()

# weft_linked_with(OUT): the Debian packages of the libraries that the files of the tree are linked with, their own left out.
function(weft_linked_with out)
  file(GLOB_RECURSE files LIST_DIRECTORIES NO "${WEFT_SBOM_TREE}/usr/bin/*" "${WEFT_SBOM_TREE}/usr/lib/*.so.*")
  set(own)
  set(needed)
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    list(APPEND own ${name})
    weft_said(headers objdump -p "${file}")
    string(REGEX MATCHALL "NEEDED +[^ \n]+" lines "${headers}")
    list(TRANSFORM lines REPLACE "NEEDED +" "")
    list(APPEND needed ${lines})
  endforeach()
  if(NOT needed)
    message(FATAL_ERROR "${WEFT_SBOM_TREE} has no file of weft's that is linked with anything")
  endif()
  list(REMOVE_DUPLICATES needed)
  list(REMOVE_ITEM needed ${own})
  set(packages)
  foreach(name IN LISTS needed)
    weft_package_of(package ${name})
    list(APPEND packages ${package})
  endforeach()
  list(REMOVE_DUPLICATES packages)
  set(${out} ${packages} PARENT_SCOPE)
endfunction()

# weft_package_of(OUT LIBRARY): of lines such as "libfmt9:amd64: /usr/lib/x86_64-linux-gnu/libfmt.so.9". Where several architectures have
# it, that of the package.
function(weft_package_of out library)
  weft_said(lines dpkg-query -S "*/${library}")
  if("\n${lines}" MATCHES "\n([a-z0-9.+-]+):${weft_sbom_machine}: ")
    set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
  elseif("\n${lines}" MATCHES "\n([a-z0-9.+-]+): ")
    set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    message(FATAL_ERROR "of which package is ${library}? dpkg-query: ${lines}")
  endif()
endfunction()

# weft_json(OUT TEXT): as it stands between the quotes of JSON.
function(weft_json out text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# weft_entry(OUT NAME ID VERSION MACHINE LICENCE COPYRIGHT SUPPLIER SOURCE): one of "packages".
function(weft_entry out name id version machine licence copyright supplier source)
  weft_json(copyright "${copyright}")
  string(REPLACE "+" "%2B" purl "pkg:deb/debian/${name}@${version}")
  string(REGEX REPLACE "@([0-9]+):" "@\\1%3A" purl "${purl}")
  string(CONFIGURE [=[
    {
      "SPDXID": "@id@",
      "name": "@name@",
      "versionInfo": "@version@",
      "supplier": "Organization: @supplier@",
      "downloadLocation": "NOASSERTION",
      "filesAnalyzed": false,
      "sourceInfo": "@source@",
      "licenseConcluded": "@licence@",
      "licenseDeclared": "@licence@",
      "copyrightText": "@copyright@",
      "externalRefs": [
        {
          "referenceCategory": "PACKAGE-MANAGER",
          "referenceType": "purl",
          "referenceLocator": "@purl@?arch=@machine@"
        }
      ]
    }]=] text @ONLY)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# weft_relation(OUT FROM TYPE TO)
function(weft_relation out from type to)
  set(${out} "    {\"spdxElementId\": \"${from}\", \"relationshipType\": \"${type}\", \"relatedSpdxElement\": \"${to}\"}" PARENT_SCOPE)
endfunction()

# The time of the document is that of its sources: the builder's word for it, else the commit's.
function(weft_time out)
  if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
    execute_process(COMMAND git -C ${weft_sbom_source} log -1 --format=%ct OUTPUT_VARIABLE seconds OUTPUT_STRIP_TRAILING_WHITESPACE
                    ERROR_QUIET RESULT_VARIABLE failed)
    if(failed)
      set(seconds 0)  # a release's archive, or no git
    endif()
    set(ENV{SOURCE_DATE_EPOCH} ${seconds})
  endif()
  string(TIMESTAMP time "%Y-%m-%dT%H:%M:%SZ" UTC)
  set(${out} ${time} PARENT_SCOPE)
endfunction()

# Rows of third-parties.txt as variables: licence_SOURCE, copyright_SOURCE; and of all of them the packages whose headers are compiled in.
if(CPACK_DEBIAN_PACKAGE_ARCHITECTURE)  # cross-compiled (release.sh)
  set(weft_sbom_machine ${CPACK_DEBIAN_PACKAGE_ARCHITECTURE})
else()
  weft_said(weft_sbom_machine dpkg --print-architecture)
endif()
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/third-parties.txt rows REGEX "^[a-z]")
set(compiled_in)
foreach(row IN LISTS rows)
  string(REGEX MATCH "^([^ |]+) *\\| *([^|]*[^ |]) *\\| *([^|]*[^ |]) *\\| *(.*)$" matched "${row}")
  if(NOT matched)
    message(FATAL_ERROR "third-parties.txt: four columns are wanted: ${row}")
  endif()
  set(source ${CMAKE_MATCH_1})
  set(licence_${source} "${CMAKE_MATCH_2}")
  set(copyright_${source} "${CMAKE_MATCH_4}")
  string(REPLACE " " ";" names "${CMAKE_MATCH_3}")
  list(REMOVE_ITEM names "-")
  list(APPEND compiled_in ${names})
endforeach()

# The laboratory of `weft explain` is in the command where its compiler was there (WEFT_LABORATORY), and these in it. The module exports the name
# by itself; in the page it stands within lines.
file(STRINGS ${WEFT_SBOM_TREE}/usr/bin/weft laboratory REGEX "^weft_laboratory_feed$" LIMIT_COUNT 1)
if(NOT laboratory)
  list(REMOVE_ITEM compiled_in libc++-19-dev-wasm32 wasi-libc)
endif()

weft_linked_with(linked)
set(names ${linked} ${compiled_in})
list(REMOVE_DUPLICATES names)
list(SORT names)

weft_entry(packages weft SPDXRef-weft ${WEFT_SBOM_VERSION} ${weft_sbom_machine} Apache-2.0 "the weft authors" "weft maintainers" "weft ${WEFT_SBOM_VERSION}")
weft_relation(relations SPDXRef-DOCUMENT DESCRIBES SPDXRef-weft)
foreach(name IN LISTS names)
  # One line for each architecture of which it is installed: that of the package counts.
  weft_said(known dpkg-query -W -f "\${Version}|\${source:Package}|\${source:Version}|\${Architecture}\n" ${name})
  string(REGEX MATCH "([^|\n]+)\\|([^|]+)\\|([^|]+)\\|(${weft_sbom_machine}|all)(\n|$)" known "${known}")
  set(version ${CMAKE_MATCH_1})
  set(source ${CMAKE_MATCH_2})
  set(source_version ${CMAKE_MATCH_3})
  set(machine ${CMAKE_MATCH_4})
  if(NOT DEFINED licence_${source})
    message(FATAL_ERROR "cmake/third-parties.txt has no row for ${source}, of which weft uses ${name}")
  endif()
  string(REGEX REPLACE "[^A-Za-z0-9.-]" "-" id "SPDXRef-${name}")
  weft_entry(entry ${name} ${id} ${version} ${machine} "${licence_${source}}" "${copyright_${source}}" "Debian" "${source} ${source_version} of Debian")
  string(APPEND packages ",\n${entry}")
  if(name IN_LIST linked)
    weft_relation(relation SPDXRef-weft DYNAMIC_LINK ${id})
    string(APPEND relations ",\n${relation}")
  endif()
  if(name IN_LIST compiled_in)
    weft_relation(relation SPDXRef-weft CONTAINS ${id})
    string(APPEND relations ",\n${relation}")
  endif()
endforeach()

weft_time(created)
string(SHA256 hash "${packages}${relations}")
string(CONFIGURE [=[
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "weft_@WEFT_SBOM_VERSION@_@weft_sbom_machine@",
  "documentNamespace": "https://spdx.org/spdxdocs/weft-@WEFT_SBOM_VERSION@-@hash@",
  "comment": "CONTAINS: code of these headers is compiled into weft's files. DYNAMIC_LINK: the loader finds these libraries.",
  "creationInfo": {
    "created": "@created@",
    "creators": ["Tool: WeftSbom.cmake-@WEFT_SBOM_VERSION@", "Organization: weft maintainers"]
  },
  "hasExtractedLicensingInfos": [
    {
      "licenseId": "LicenseRef-public-domain",
      "name": "Public domain",
      "extractedText": "liblzma is in the public domain."
    }
  ],
  "packages": [
@packages@
  ],
  "relationships": [
@relations@
  ]
}
]=] document @ONLY)
file(WRITE ${WEFT_SBOM_FILE} "${document}")
