# Third-party libraries, asked for as minimums. A header of one stays in the room that links it.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

# seen_require(NAME MINIMUM ...): find_package that takes any newer version. Several of these packages refuse every
# other minor version when find_package itself is told one.
macro(seen_require NAME MINIMUM)
  find_package(${NAME} CONFIG REQUIRED ${ARGN})
  if(${NAME}_VERSION VERSION_LESS "${MINIMUM}")
    message(FATAL_ERROR "${NAME} ${${NAME}_VERSION} is too old: at least ${MINIMUM} is needed")
  endif()
endmacro()

seen_require(Boost 1.74)
seen_require(nlohmann_json 3.11)
seen_require(simdjson 3.0)
seen_require(spdlog 1.10)
seen_require(fmt 9.1)
seen_require(CLI11 2.1)
seen_require(tl-expected 1.0)
find_package(prometheus-cpp CONFIG REQUIRED COMPONENTS core)  # its CMake file names no version: pkg-config does
pkg_check_modules(PROMETHEUS REQUIRED prometheus-cpp-core>=1.0)
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka>=2.0)
pkg_check_modules(ROCKSDB REQUIRED IMPORTED_TARGET rocksdb>=7.8)
pkg_check_modules(ICU REQUIRED IMPORTED_TARGET icu-uc>=72)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash>=0.8)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd>=1.5)
if(NOT SEEN_SANITIZE)
  pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc>=5.2)
endif()
if(SEEN_TESTS)
  seen_require(GTest 1.12)
endif()
