# seen_unity(TARGET sources...): compiles up to SEEN_UNITY sources as one, where no name of one hides another's.
function(seen_unity TARGET)
  if(NOT SEEN_UNITY)
    return()
  endif()
  find_package(Python3 COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    message(STATUS "python3 is missing: each source is compiled on its own, which takes twice as long")
    return()
  endif()
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/unity_groups.py" ${SEEN_UNITY} ${ARGN}
    OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${lines}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([^ ]+) (.+)$" line "${line}")
    set_property(SOURCE "${CMAKE_MATCH_2}" PROPERTY UNITY_GROUP "${CMAKE_MATCH_1}")
  endforeach()
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes the unnamed namespaces of joined sources for a header's.
  target_compile_options(${TARGET} PRIVATE -Wno-subobject-linkage)
endfunction()

# The core is optimised and checked as it is shipped. The tests' own code compiles in half the time without. Of the sanitizers'
# checks those that are left out of it cost the most, and an address that is null or wrong is found all the same.
# (Precompiled headers were measured too: a tenth.)
set(SEEN_TEST_OPTIONS -O1)
# Rooms off the hot path (OUTER): half the optimisation, which saves a quarter of their compile time. Builds with sanitizers
# take the tests' options for them, and for rooms that answer requests (ANSWERS).
set(SEEN_OUTER_OPTIONS -O1)
set(SEEN_ANSWERS_OPTIONS "")
if(SEEN_SANITIZE MATCHES "undefined")
  set(SEEN_TEST_OPTIONS -O0 -fno-sanitize=null,alignment,vptr,object-size)
  set(SEEN_OUTER_OPTIONS ${SEEN_TEST_OPTIONS})
  set(SEEN_ANSWERS_OPTIONS ${SEEN_TEST_OPTIONS})
endif()

# seen_room(NAME [OUTER | ANSWERS] LINKS libs...): one static library of a room's *.cc files. The room similar/text is seen_similar_text.
# Rooms include each other by path from src/ ("model/delta.h"); tests/include_rule.py holds the order.
function(seen_room NAME)
  cmake_parse_arguments(ROOM "OUTER;ANSWERS" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*.cc"
       "${CMAKE_CURRENT_SOURCE_DIR}/${NAME}/*/*.cc")
  string(REPLACE "/" "_" target "seen_${NAME}")
  add_library(${target} STATIC ${sources})
  seen_unity(${target} ${sources})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${target} PUBLIC seen_options ${ROOM_LINKS})
  if(ROOM_OUTER)
    target_compile_options(${target} PRIVATE ${SEEN_OUTER_OPTIONS})
  elseif(ROOM_ANSWERS)
    target_compile_options(${target} PRIVATE ${SEEN_ANSWERS_OPTIONS})
  endif()
endfunction()

# seen_test(NAME DIR LINKS libs...): one GoogleTest binary test_NAME of all *.cc in DIR.
# The target seen_tests builds them all and nothing else.
function(seen_test NAME DIR)
  cmake_parse_arguments(TEST "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${DIR}/*.cc")
  if(NOT sources)
    return()
  endif()
  add_executable(test_${NAME} ${sources})
  seen_unity(test_${NAME} ${sources})
  target_include_directories(test_${NAME} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  # Only where it is used: the same object then serves every checkout's compiler cache.
  foreach(source ${sources})
    file(STRINGS "${source}" uses REGEX SEEN_SOURCE_DIR LIMIT_COUNT 1)
    if(uses)
      set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_DEFINITIONS
                   SEEN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    endif()
  endforeach()
  target_link_libraries(test_${NAME} PRIVATE ${TEST_LINKS} GTest::gtest GTest::gtest_main)
  if(NOT NAME STREQUAL "simulation")  # which has enough of its own to do
    target_compile_options(test_${NAME} PRIVATE ${SEEN_TEST_OPTIONS})
  endif()
  add_test(NAME ${NAME} COMMAND test_${NAME})
  add_dependencies(seen_tests test_${NAME})
  set_property(GLOBAL APPEND_STRING PROPERTY SEEN_TEST_BINARIES "test_${NAME}\n")
endfunction()
