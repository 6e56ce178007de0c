# Compiler and linker flags that make memory errors in weft harder to exploit. They apply only to the command and the libraries as shipped.
# All of them are here, so that -DWEFT_HARDENING=OFF measures their cost. tests/hardening checks the built files for each.
include_guard()
include(CheckCXXCompilerFlag)

# Off in debug builds, because _FORTIFY_SOURCE requires optimization. Off with sanitizers and in fuzz targets, because its checks would
# preempt theirs.
set(hardening OFF)
if(CMAKE_BUILD_TYPE MATCHES "^(Rel|MinSize)" AND NOT WEFT_SANITIZE)
  set(hardening ON)
endif()
option(WEFT_HARDENING "Compile and link the command and the libraries with checks against memory errors" ${hardening})

# Linked by each shipped target, in addition to weft_options.
add_library(weft_hardening INTERFACE)
if(NOT WEFT_HARDENING)
  return()
endif()

# Probes each page of a large stack frame; marks the targets of indirect jumps; uses a shadow stack if the processor has one (x86: CET;
# ARM: BTI and pointer authentication).
set(flags)
foreach(flag IN ITEMS -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "WEFT_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    list(APPEND flags ${flag})
  endif()
endforeach()
# Functions of glibc that check the size of their destination. Undefined first, because a distribution's compiler may define it.
if(NOT WEFT_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(weft_hardening INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()
target_compile_options(weft_hardening INTERFACE ${flags})
# A canary in each frame with an array or a local variable whose address is taken. In the modules that every operation uses while it holds
# its lock, only in frames with an array of characters: otherwise, canaries take a tenth of the instructions of an operation there.
target_compile_options(weft_hardening INTERFACE
  "$<IF:$<IN_LIST:$<TARGET_PROPERTY:EXPORT_NAME>,mpa;ddp;rdmap;engine>,-fstack-protector,-fstack-protector-strong>")
# The same flags for link-time optimization. All addresses are bound before main(), and the table of addresses is then read-only.
target_link_options(weft_hardening INTERFACE ${flags} -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
# Objects are position-independent in every build (Weft.cmake); executables must be linked accordingly.
target_link_options(weft_hardening INTERFACE "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>")
