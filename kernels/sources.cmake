# What kernels are made of, for this build and for the emulated ones (emulated/CMakeLists.txt).
set(KERNELS_PLAIN
  contract.cpp crc32c.cpp dispatch.cpp exponent_codec.cpp exponent_window.cpp
  tile_pipeline.cpp
  scalar/cast.cpp scalar/crc32c.cpp scalar/delta.cpp scalar/exponent_planes.cpp scalar/shuffle.cpp)
set(KERNELS_TESTS
  cast_test.cpp crc32c_test.cpp delta_test.cpp dispatch_test.cpp exponent_codec_test.cpp
  shuffle_test.cpp tile_pipeline_test.cpp)

# The only files with instructions that not every machine has; each row is chosen at run time.
set(KERNELS_AVX2
  avx2/cast.cpp avx2/crc32c.cpp avx2/delta.cpp avx2/exponent_planes.cpp avx2/shuffle.cpp)
set(KERNELS_AVX512 avx512/cast.cpp avx512/crc32c.cpp avx512/exponent_planes.cpp)
set(KERNELS_NEON
  neon/cast.cpp neon/crc32c.cpp neon/delta.cpp neon/exponent_planes.cpp neon/shuffle.cpp)
foreach(list KERNELS_PLAIN KERNELS_TESTS KERNELS_AVX2 KERNELS_AVX512 KERNELS_NEON)
  list(TRANSFORM ${list} PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
endforeach()
set(KERNELS_AVX2_FLAGS -mavx2 -mbmi -mbmi2 -mpclmul -msse4.2 -mpopcnt)
set_source_files_properties(${KERNELS_AVX2} PROPERTIES COMPILE_OPTIONS "${KERNELS_AVX2_FLAGS}")
set_source_files_properties(${KERNELS_AVX512} PROPERTIES COMPILE_OPTIONS
  "${KERNELS_AVX2_FLAGS};-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512vbmi2;-mvpclmulqdq")
set_source_files_properties(${KERNELS_NEON} PROPERTIES COMPILE_OPTIONS -march=armv8-a+crc+aes)

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(KERNELS_SOURCES ${KERNELS_PLAIN} ${KERNELS_AVX2} ${KERNELS_AVX512})
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(KERNELS_SOURCES ${KERNELS_PLAIN} ${KERNELS_NEON})
else()
  set(KERNELS_SOURCES ${KERNELS_PLAIN})
endif()
