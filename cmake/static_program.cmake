# amdahl_static_program(NAME x SOURCES main.cpp DEPS launch base ARCHIVES ssl crypto): an executable
# that needs no library of the machine it runs on. ARCHIVES are other people's, found as lib<x>.a.
# Sanitizers cannot be linked statically: with them it is a program like any other.
function(amdahl_static_program)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;DEPS;ARCHIVES" ${ARGN})
  if(AMDAHL_SANITIZE)
    amdahl_program(NAME ${ARG_NAME} SOURCES ${ARG_SOURCES} DEPS ${ARG_DEPS})
    return()
  endif()
  # Debian has fmt as a shared library only; its sources are in the header.
  add_executable(${ARG_NAME} ${ARG_SOURCES} ${CMAKE_SOURCE_DIR}/cmake/fmt_static.cpp)
  target_link_libraries(${ARG_NAME} PRIVATE amdahl_options Boost::headers
    nlohmann_json::nlohmann_json)
  # By file, because as targets they would bring along what they need as shared libraries.
  foreach(dep ${ARG_DEPS} rules_on)
    add_dependencies(${ARG_NAME} amdahl_${dep})
    target_link_libraries(${ARG_NAME} PRIVATE $<TARGET_FILE:amdahl_${dep}>)
  endforeach()
  foreach(archive ${ARG_ARCHIVES})
    find_library(AMDAHL_ARCHIVE_${archive} NAMES lib${archive}.a REQUIRED)
    target_link_libraries(${ARG_NAME} PRIVATE ${AMDAHL_ARCHIVE_${archive}})
  endforeach()
  # The options of everybody say -pie, which -static-pie makes superfluous.
  target_link_options(${ARG_NAME} PRIVATE -static-pie -Wno-unused-command-line-argument
    -Wl,--gc-sections $<$<CONFIG:Release>:-Wl,-s>)
endfunction()
