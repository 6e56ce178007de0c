# Build settings that every module shares, and the functions that declare modules and tests.
include_guard()
# Debian's place for libraries, under every prefix: GNUInstallDirs takes it for /usr only, where the package (cpack) puts them, and
# knows the prefix of /usr/local when it decides.
if(EXISTS /etc/debian_version AND CMAKE_LIBRARY_ARCHITECTURE)
  set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE PATH "Folder of the libraries, below the prefix")
endif()
include(GNUInstallDirs)
# What runs goes into the package weft; what programs of one's own are built with is `development`: weft-dev (WeftPackage.cmake).
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)
include(WeftSkips)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

option(WEFT_TESTS "Build the tests" ON)
option(WEFT_UNIT_TESTS "Compile the C++ tests by default; the release preset leaves them to the asan preset" ON)
option(WEFT_WERROR "Treat warnings as errors" ON)
set(WEFT_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, for instance address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
# A check for lost wake-ups beside each runtime (docs/progress.md): in debug and sanitizer builds, not in what users get.
set(watchdog OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR WEFT_SANITIZE)
  set(watchdog ON)
endif()
option(WEFT_WATCHDOG "Check for lost wake-ups at run time" ${watchdog})
# The modules are called by one another for every message, so the command and the drop-in library are optimised as a whole when they
# are linked. Tests and the installed archives take the ordinary code, which is in the objects as well.
set(link_time OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE MATCHES "^Rel" AND NOT WEFT_SANITIZE)
  set(link_time ON)
endif()
option(WEFT_LINK_TIME_OPTIMIZATION "Optimise the command and the drop-in library across modules (g++)" ${link_time})

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(weft_options INTERFACE)
target_compile_options(weft_options INTERFACE -Wall -Wextra -Wconversion $<$<BOOL:${WEFT_WERROR}>:-Werror>)
# When it optimises, g++ 12 sees overlapping copies inside std::string and uninitialised values inside std::expected and
# std::optional where there are none (GCC bugs 105651, 105562; mended in 13). clang and the sanitizers look at both.
target_compile_options(weft_options INTERFACE
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-maybe-uninitialized>")
# It takes what stands in an unnamed namespace of an included file for a header's, and the files joined by a unity build are included.
target_compile_options(weft_options INTERFACE
  "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage>")
if(WEFT_SANITIZE)
  target_compile_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(weft_options INTERFACE -fsanitize=${WEFT_SANITIZE})
  target_compile_definitions(weft_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(WEFT_LINK_TIME_OPTIMIZATION)
  target_link_options(weft_options INTERFACE
    "$<IF:$<BOOL:$<TARGET_PROPERTY:WEFT_OPTIMIZE_AT_LINK>>,-flto=auto,-fno-lto>")
  # g++ 12 takes the pointer behind a std::shared_ptr for null in a copy of Handle's destructor that nothing calls so.
  target_link_options(weft_options INTERFACE
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-stringop-overflow>")
endif()
# AddressSanitizer by clang includes libFuzzer: the modules report which branches an input takes.
set(WEFT_FUZZ OFF)
if(WEFT_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(WEFT_FUZZ ON)
endif()

include(WeftHardening)

# weft_count_branches(TARGET): for code that is fuzzed.
function(weft_count_branches target)
  if(WEFT_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# weft_module(NAME SOURCES a.cpp ... LINKS weft::common ... PRIVATE_LINKS ...): library weft_NAME, alias weft::NAME.
# A module without SOURCES is header-only. LINKS are the modules it may use; nothing else may be included. HEADERS: where its headers are
# installed below include/weft, if not in NAME.
function(weft_module name)
  cmake_parse_arguments(MODULE "" "HEADERS" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  if(NOT MODULE_HEADERS)
    set(MODULE_HEADERS ${name})
  endif()
  if(MODULE_SOURCES)
    add_library(weft_${name} STATIC ${MODULE_SOURCES})
    set(scope PUBLIC)
    if(WEFT_LINK_TIME_OPTIMIZATION)
      target_compile_options(weft_${name} PRIVATE -flto -ffat-lto-objects)
    endif()
    target_link_libraries(weft_${name} PRIVATE $<BUILD_INTERFACE:weft_options> $<BUILD_INTERFACE:weft_hardening>
                          ${MODULE_PRIVATE_LINKS})
    weft_count_branches(weft_${name})
  else()
    add_library(weft_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  # Here headers are named from the root of the tree, "verbs/verbs.hpp"; installed, <weft/verbs/verbs.hpp> (WeftInstall.cmake).
  target_include_directories(weft_${name} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(weft_${name} ${scope} cxx_std_23)
  target_link_libraries(weft_${name} ${scope} ${MODULE_LINKS})
  add_library(weft::${name} ALIAS weft_${name})
  set_target_properties(weft_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS weft_${name} EXPORT weft ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  # Headers directly in the module are for others; those in a folder below it are its own.
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/${MODULE_HEADERS} COMPONENT development)
  set_property(GLOBAL APPEND PROPERTY WEFT_MODULES ${name})
endfunction()

# weft_static_modules(OUT MODULE...): those that have a library; the others have headers alone.
function(weft_static_modules out)
  set(found)
  foreach(module IN LISTS ARGN)
    get_target_property(type weft_${module} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND found ${module})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# The tests' programs under a sanitizer: their many links take half the time with clang's own linker. What is shipped has the ordinary one.
if(WEFT_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  find_program(WEFT_LLD ld.lld PATHS /usr/lib/llvm-19/bin NO_DEFAULT_PATH)
  mark_as_advanced(WEFT_LLD)
endif()

# weft_quick_to_compile(TARGET): for tests and the command line, which are compiled often and run seldom. Under a sanitizer, optimizing
# doubles the time to compile and finds nothing more.
function(weft_quick_to_compile target)
  if(WEFT_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# weft_seldom_run(TARGET): for code outside the data path. -O1 takes two thirds of the time that -O3 takes to compile.
function(weft_seldom_run target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# weft_test_program(TARGET...): what entries run, to be built also where the unit tests are not (tests/CMakeLists.txt). weft_slow_program: the
# same for entries labeled `slow`.
function(weft_test_program)
  add_dependencies(weft_test_programs ${ARGN})
endfunction()

function(weft_slow_program)
  add_dependencies(weft_slow_programs ${ARGN})
endfunction()

# weft_test(NAME SOURCES ... LINKS ... [FRAMEWORK gtest|catch2] [LABELS ...] [TIMEOUT seconds] [SLOW filter] [OPTIMIZED] [PLAIN] [BOTH_PIPES]): one ctest
# entry per executable; with SLOW a second one, labeled `slow`, for the cases that match GoogleTest's filter. A test is compiled once, under
# AddressSanitizer; with PLAIN also in the release tree, where cases run that a sanitizer rules out (they count allocations, or load libraries).
# Connections of one process go through shared memory by default. With BOTH_PIPES, an entry NAME_tcp runs the program over TCP as well.
# OPTIMIZED is for a test that reads each octet of megabytes: unoptimized under a sanitizer, that takes a minute.
# gtest is the default, with a main() that reports skipped cases; Catch2 is for the clause tests.
function(weft_test name)
  cmake_parse_arguments(T "OPTIMIZED;PLAIN;BOTH_PIPES" "FRAMEWORK;TIMEOUT;SLOW" "SOURCES;LINKS;LABELS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  if(T_FRAMEWORK STREQUAL "catch2")
    target_link_libraries(${name} PRIVATE weft_options ${T_LINKS} weft_catch2_main)
  else()
    find_package(GTest REQUIRED)
    target_link_libraries(${name} PRIVATE weft_options ${T_LINKS} GTest::gmock weft_gtest_main)
    if(TARGET weft_gtest_headers AND NOT T_OPTIMIZED)  # tests/CMakeLists.txt
      target_precompile_headers(${name} REUSE_FROM weft_gtest_headers)
    endif()
  endif()
  if(NOT T_OPTIMIZED)
    weft_quick_to_compile(${name})
  endif()
  if(WEFT_LLD)
    target_link_options(${name} PRIVATE -fuse-ld=lld)
  endif()
  if(NOT WEFT_UNIT_TESTS)
    if(NOT T_PLAIN)
      return()
    endif()
    weft_test_program(${name})
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)  # a machine may be busy
  endif()
  set(entries ${name})
  if(T_SLOW)
    list(APPEND entries ${name}_slow)
    add_test(NAME ${name} COMMAND ${name} --gtest_filter=-${T_SLOW})
    add_test(NAME ${name}_slow COMMAND ${name} --gtest_filter=${T_SLOW})
    set_tests_properties(${name}_slow PROPERTIES LABELS slow COST 100)
  else()
    add_test(NAME ${name} COMMAND ${name})
  endif()
  if(T_BOTH_PIPES)
    list(APPEND entries ${name}_tcp)
    add_test(NAME ${name}_tcp COMMAND ${name})
    set_tests_properties(${name}_tcp PROPERTIES ENVIRONMENT "WEFT_TEST_SAME_HOST=off;WEFT_POLICY=same-host=off")
  endif()
  foreach(entry IN LISTS entries)
    set_tests_properties(${entry} PROPERTIES TIMEOUT ${T_TIMEOUT})
    if(NOT T_FRAMEWORK STREQUAL "catch2")  # whose exit code counts the failures
      weft_tells_skips(${entry})
    endif()
  endforeach()
  if(T_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}")
  endif()
endfunction()

# weft_fuzz(NAME SOURCES ... LINKS ... CORPUS dir): a libFuzzer target, with a ctest entry that replays the corpus and one, labeled fuzz, that
# fuzzes for the time that ./check --fuzz sets (tests/fuzz/run.sh).
function(weft_fuzz name)
  if(NOT WEFT_FUZZ)
    return()
  endif()
  cmake_parse_arguments(F "" "CORPUS" "SOURCES;LINKS" ${ARGN})
  get_filename_component(corpus ${F_CORPUS} ABSOLUTE)
  add_executable(${name} ${F_SOURCES})
  target_link_libraries(${name} PRIVATE weft_options ${F_LINKS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  if(WEFT_LLD)
    target_link_options(${name} PRIVATE -fuse-ld=lld)
  endif()
  add_test(NAME ${name}_corpus COMMAND ${name} -runs=0 -timeout=10 -rss_limit_mb=2048 ${corpus})
  set_tests_properties(${name}_corpus PROPERTIES TIMEOUT 120)
  add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/fuzz/run.sh $<TARGET_FILE:${name}> ${corpus})
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 36000)
endfunction()
