# The laboratory and the core below it as a WebAssembly module, by clang and libc++ of Debian's packages. Nothing of it touches the
# system: what the module imports, tests/explain/laboratory looks at.
include_guard()
set(weft_wasm_folder ${CMAKE_CURRENT_BINARY_DIR}/wasm)
set(weft_wasm_packages "clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32")
set(weft_wasm_flags --target=wasm32-wasi -std=c++23 -Os -fno-exceptions -fno-rtti -fvisibility=hidden -ffunction-sections -fdata-sections
                    -Wall -Wextra -Wno-unknown-attributes)
# A reactor has no main(): its functions are called, after _initialize(). The stack lies below the data: an overflow is a trap.
set(weft_wasm_link_flags -mexec-model=reactor -Wl,--gc-sections,--strip-all,--stack-first,-z,stack-size=262144,--max-memory=536870912)
# fmt from its headers alone, and without the exceptions, the standard error stream and the locales that it has elsewhere.
set(weft_wasm_fmt -DFMT_HEADER_ONLY -DFMT_EXCEPTIONS=0 "-DFMT_STATIC_THOUSANDS_SEPARATOR=','" "-DFMT_THROW(x)=__builtin_trap()"
                  "-DFMT_ASSERT(condition,message)=((condition)?(void)0:__builtin_trap())")

# weft_can_build_wasm(OUT WHY): is all of it here? Asked once: a small program is compiled and linked.
function(weft_can_build_wasm out why)
  set(${out} NO PARENT_SCOPE)
  if(WEFT_SANITIZE)
    set(${why} "this build is for a sanitizer" PARENT_SCOPE)
    return()
  endif()
  set(${why} "it needs Debian's packages ${weft_wasm_packages}" PARENT_SCOPE)
  find_program(WEFT_WASM_COMPILER clang++-19)
  find_path(WEFT_FMT_HEADERS fmt/format.h)
  mark_as_advanced(WEFT_WASM_COMPILER WEFT_FMT_HEADERS)
  if(NOT WEFT_WASM_COMPILER OR NOT WEFT_FMT_HEADERS)
    return()
  endif()
  if(NOT WEFT_WASM_WORKS)
    file(WRITE ${weft_wasm_folder}/probe.cpp "#include <expected>\n#include <string>\nstd::expected<std::string, int> f() { return std::to_string(1); }\n")
    execute_process(COMMAND ${WEFT_WASM_COMPILER} ${weft_wasm_flags} ${weft_wasm_link_flags} probe.cpp -o probe.wasm
                    WORKING_DIRECTORY ${weft_wasm_folder} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      return()
    endif()
    set(WEFT_WASM_WORKS YES CACHE INTERNAL "clang and libc++ make WebAssembly modules")
  endif()
  set(${out} YES PARENT_SCOPE)
endfunction()

# weft_wasm_sources(OUT): the core, what the laboratory uses of conformance/ (which reads captures besides), and the laboratory.
# ISA-L is assembly of another processor: wasm/crc32c.cpp stands in for common/crc32c.cpp.
function(weft_wasm_sources out)
  set(sources)
  foreach(file IN ITEMS crc32c_table json shown_text text)
    list(APPEND sources ${PROJECT_SOURCE_DIR}/common/${file}.cpp)
  endforeach()
  foreach(module IN ITEMS mpa ddp rdmap engine)
    get_target_property(files weft_${module} SOURCES)
    list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/${module}/)
    list(APPEND sources ${files})
  endforeach()
  foreach(file IN ITEMS dissection dissection_rdmap fpdu_reading payload plausible seen)
    list(APPEND sources ${PROJECT_SOURCE_DIR}/conformance/${file}.cpp)
  endforeach()
  get_target_property(files weft_laboratory SOURCES)
  list(APPEND files wasm/crc32c.cpp wasm/entry_points.cpp wasm/runtime.cpp)
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(${out} ${sources} ${files} PARENT_SCOPE)
endfunction()

# weft_wasm_module(OUT): how to make laboratory.wasm, the same octets in each directory.
function(weft_wasm_module out)
  # The system's own folder of headers is not for this target.
  file(MAKE_DIRECTORY ${weft_wasm_folder}/include)
  file(CREATE_LINK ${WEFT_FMT_HEADERS}/fmt ${weft_wasm_folder}/include/fmt SYMBOLIC)
  set(compile ${CMAKE_CXX_COMPILER_LAUNCHER} ${WEFT_WASM_COMPILER} ${weft_wasm_flags} ${weft_wasm_fmt}
              -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${weft_wasm_folder}/=
              -I${PROJECT_SOURCE_DIR} -isystem ${weft_wasm_folder}/include)
  weft_wasm_sources(sources)
  set(objects)
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    string(REPLACE / . name ${name})
    set(object ${weft_wasm_folder}/${name}.o)
    add_custom_command(OUTPUT ${object} COMMAND ${compile} -MD -MF ${object}.d -c ${source} -o ${object}
                       DEPENDS ${source} DEPFILE ${object}.d COMMENT "Compiling ${name} to WebAssembly" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  # What laboratory.js calls.
  file(STRINGS wasm/entry_points.hpp exports REGEX "weft_laboratory_[a-z0-9_]+\\(")
  list(TRANSFORM exports REPLACE ".*(weft_laboratory_[a-z0-9_]+)\\(.*" "-Wl,--export=\\1")
  set(module ${weft_wasm_folder}/laboratory.wasm)
  add_custom_command(OUTPUT ${module} COMMAND ${WEFT_WASM_COMPILER} ${weft_wasm_flags} ${weft_wasm_link_flags} ${exports} ${objects} -o ${module}
                     DEPENDS ${objects} wasm/entry_points.hpp COMMENT "Linking laboratory.wasm" VERBATIM)
  set(${out} ${module} PARENT_SCOPE)
endfunction()
