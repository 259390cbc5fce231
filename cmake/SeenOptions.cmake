# Language level, warnings and sanitizers: one list, the same here and in CI.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A clone elsewhere takes what this one compiled: no path of the clone is part of what ccache compares.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${CCACHE}")
endif()
add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")

# Not -Wnull-dereference: gcc 12 and 13 suspect the standard library, Asio and CLI11 of it at -O2.
add_library(seen_options INTERFACE)
target_compile_options(seen_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wdouble-promotion -Wimplicit-fallthrough)
if(SEEN_WERROR)
  target_compile_options(seen_options INTERFACE -Werror)
endif()
if(SEEN_SANITIZE)
  # Of the folder, not of seen_options: so it stands before a target's own -fno-sanitize, which it would undo.
  add_compile_options(-fsanitize=${SEEN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SEEN_SANITIZE})
endif()
