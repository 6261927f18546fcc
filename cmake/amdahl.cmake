# How everything here is built: one interface target with the flags, one precompiled header, and
# amdahl_library() / amdahl_program(), which are the only ways a folder declares what it builds.

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  message(FATAL_ERROR
    "Amdahl builds with clang-19 (found ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}). "
    "Run 'make setup', then configure with a preset: cmake --preset dev")
endif()

find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(simdjson REQUIRED)
find_package(mimalloc REQUIRED)
find_package(ZLIB REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(Catch2 2.13 REQUIRED)
find_package(PkgConfig REQUIRED)
# Only its name is used: its own flags (-pthread) would not go with the precompiled header.
pkg_check_modules(re2 REQUIRED re2)
include(Catch)

# Two checkouts share compiled files. ccache would hash the precompiled header, which holds the path
# of its checkout; it is given a sum of the header's text instead (amdahl_pch_sum below).
find_program(AMDAHL_CCACHE ccache)
if(AMDAHL_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_NOHASHDIR=true
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_PCH_EXTSUM=true ${AMDAHL_CCACHE})
endif()
# CMake would also name the header's own file, by a path that ccache does not make relative.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)

add_library(amdahl_options INTERFACE)
target_compile_features(amdahl_options INTERFACE cxx_std_23)
target_include_directories(amdahl_options INTERFACE ${CMAKE_SOURCE_DIR})
# -fPIC and not -fPIE: the same archives make programs and libamdahl-checkpoint.so, and a linker
# takes back what position independence costs a program.
target_compile_options(amdahl_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Wunused-result
  -fPIC -fstack-protector-strong -Xclang -fno-pch-timestamp
  $<$<CONFIG:Debug>:-O0 -gline-tables-only -fno-omit-frame-pointer>
  $<$<CONFIG:Release>:-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
target_compile_definitions(amdahl_options INTERFACE
  _GLIBCXX_ASSERTIONS
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_BEAST_USE_STD_STRING_VIEW
  # Coroutine frames from operator new: aligned_alloc() goes past the fast paths of malloc.
  BOOST_ASIO_DISABLE_STD_ALIGNED_ALLOC BOOST_ASIO_DISABLE_BOOST_ALIGN)
if(AMDAHL_SANITIZE)
  target_compile_options(amdahl_options INTERFACE -fsanitize=${AMDAHL_SANITIZE}
    -fno-sanitize-recover=all)
  target_link_options(amdahl_options INTERFACE -fsanitize=${AMDAHL_SANITIZE})
endif()
if(AMDAHL_FUZZ)
  target_compile_options(amdahl_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
find_program(AMDAHL_MOLD mold)
if(AMDAHL_MOLD)
  target_link_options(amdahl_options INTERFACE -fuse-ld=mold)
else()
  target_link_options(amdahl_options INTERFACE -fuse-ld=lld)
endif()
target_link_options(amdahl_options INTERFACE -Wl,-z,relro,-z,now -pie)

# Of programs that build many small objects (ADR 0015); a sanitizer brings its own allocator.
add_library(amdahl_allocator INTERFACE)
if(NOT AMDAHL_SANITIZE)
  target_link_libraries(amdahl_allocator INTERFACE mimalloc)
endif()

# Parsing Asio and Beast costs 11 s a file; this target pays it once for everybody.
add_library(amdahl_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(amdahl_pch PUBLIC amdahl_options Boost::headers OpenSSL::SSL fmt::fmt
  nlohmann_json::nlohmann_json Threads::Threads)
target_precompile_headers(amdahl_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.hpp)

# What stands in the header, whatever the checkout is called. Flags are in ccache's hash anyway.
function(amdahl_pch_sum)
  set(header ${CMAKE_SOURCE_DIR}/cmake/pch.hpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++23 -E -P -x c++-header ${header}
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(SHA256 sum "${CMAKE_CXX_COMPILER_VERSION} ${text}")
  file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/amdahl_pch.dir/cmake_pch.hxx.pch.sum ${sum})
endfunction()
amdahl_pch_sum()

# Not ours and not under test: without sanitizers and optimiser it compiles six times faster.
add_library(amdahl_catch_main OBJECT ${CMAKE_SOURCE_DIR}/cmake/catch_main.cpp)
target_compile_features(amdahl_catch_main PUBLIC cxx_std_23)
target_compile_options(amdahl_catch_main PRIVATE -O0 -g0 -fPIE)
target_link_libraries(amdahl_catch_main PUBLIC Catch2::Catch2)

# amdahl_library(NAME kube SOURCES a.cpp ... DEPS base ... [LINK fmt::fmt ...]
#                [TESTS a_test.cpp ...]
#                [TEST_DEPS testkit ...] [NO_PCH])
# Makes amdahl_<name> from sources listed by hand, and <name>_test from the tests beside them; each
# TEST_CASE becomes one ctest entry. DEPS are ours, LINK is anybody else's.
function(amdahl_library)
  cmake_parse_arguments(ARG "NO_PCH" "NAME" "SOURCES;DEPS;LINK;TESTS;TEST_DEPS" ${ARGN})
  set(target amdahl_${ARG_NAME})
  add_library(${target} STATIC ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPS PREPEND amdahl_)
  target_link_libraries(${target} PUBLIC amdahl_options ${ARG_DEPS} ${ARG_LINK})
  if(NOT ARG_NO_PCH)
    target_link_libraries(${target} PUBLIC Boost::headers OpenSSL::SSL OpenSSL::Crypto fmt::fmt
      nlohmann_json::nlohmann_json Threads::Threads)
    target_precompile_headers(${target} REUSE_FROM amdahl_pch)
  endif()
  if(ARG_TESTS)
    amdahl_test(NAME ${ARG_NAME} SOURCES ${ARG_TESTS} DEPS ${ARG_NAME} ${ARG_TEST_DEPS})
  endif()
endfunction()

# amdahl_test(NAME kube SOURCES a_test.cpp ... DEPS kube testkit): the executable kube_test.
# Tests link rules_from_env, so that a safeguard can be switched off to see that a test notices;
# RULES names another library that says which rules are on.
function(amdahl_test)
  cmake_parse_arguments(ARG "" "NAME;RULES" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_RULES)
    set(ARG_RULES rules_from_env)
  endif()
  list(TRANSFORM ARG_DEPS PREPEND amdahl_)
  add_executable(${ARG_NAME}_test ${ARG_SOURCES})
  target_link_libraries(${ARG_NAME}_test PRIVATE amdahl_catch_main Catch2::Catch2 ${ARG_DEPS}
    amdahl_${ARG_RULES})
  target_link_libraries(${ARG_NAME}_test PRIVATE Boost::headers OpenSSL::SSL OpenSSL::Crypto
    fmt::fmt nlohmann_json::nlohmann_json Threads::Threads)
  target_precompile_headers(${ARG_NAME}_test REUSE_FROM amdahl_pch)
  if(NOT AMDAHL_FUZZ)
    catch_discover_tests(${ARG_NAME}_test TEST_PREFIX "${ARG_NAME}: "
      PROPERTIES TIMEOUT 300 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endif()
endfunction()

# amdahl_program(NAME hello SOURCES main.cpp DEPS controller): an executable that ships. RULES is
# for programs of tests.
function(amdahl_program)
  cmake_parse_arguments(ARG "" "NAME;RULES" "SOURCES;DEPS;LINK" ${ARGN})
  if(NOT ARG_RULES)
    set(ARG_RULES rules_on)
  endif()
  list(TRANSFORM ARG_DEPS PREPEND amdahl_)
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} ${ARG_LINK} amdahl_${ARG_RULES})
  target_precompile_headers(${ARG_NAME} REUSE_FROM amdahl_pch)
endfunction()
