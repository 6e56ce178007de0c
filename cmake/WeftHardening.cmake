# What makes a mistake in weft harder to turn against its process: flags for the command and the libraries as they are shipped, and for
# nothing else. All of them are here, so that -DWEFT_HARDENING=OFF shows what they cost. tests/hardening looks for each in the built files.
include_guard()
include(CheckCXXCompilerFlag)

# Debug builds do not optimise, which _FORTIFY_SOURCE wants; sanitizers and fuzz targets look themselves, and behind its checks they
# would not see what it sees.
set(hardening OFF)
if(CMAKE_BUILD_TYPE MATCHES "^(Rel|MinSize)" AND NOT WEFT_SANITIZE)
  set(hardening ON)
endif()
option(WEFT_HARDENING "Compile and link the command and the libraries with checks against memory errors" ${hardening})

# What a shipped target links with, beside weft_options.
add_library(weft_hardening INTERFACE)
if(NOT WEFT_HARDENING)
  return()
endif()

# A probe of each page of a large frame; marked targets of indirect jumps and, where the processor has it, a shadow stack (x86: CET; ARM:
# BTI and pointer authentication).
set(flags)
foreach(flag IN ITEMS -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "WEFT_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    list(APPEND flags ${flag})
  endif()
endforeach()
# glibc's functions that know how large their destination is. Undefined first: a distribution's compiler may have it on.
if(NOT WEFT_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(weft_hardening INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()
target_compile_options(weft_hardening INTERFACE ${flags})
# A canary in each frame with an array or a local variable that has an address. In the rooms that every operation crosses in its lock, it
# stands in frames with an array of characters alone: everywhere, it is a tenth of the instructions of an operation there.
target_compile_options(weft_hardening INTERFACE
  "$<IF:$<IN_LIST:$<TARGET_PROPERTY:EXPORT_NAME>,mpa;ddp;rdmap;engine>,-fstack-protector,-fstack-protector-strong>")
# Again where link-time optimisation compiles. All addresses are bound before main(), and what held them is read-only then.
target_link_options(weft_hardening INTERFACE ${flags} -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
# The objects are position-independent in every build (Weft.cmake); an executable has to be linked so, too.
target_link_options(weft_hardening INTERFACE "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>")
