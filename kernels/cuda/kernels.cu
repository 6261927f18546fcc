// What nvcc compiles: every kernel of this folder.
#include "kernels/cuda/cast_delta.cuh"
#include "kernels/cuda/crc32c.cuh"
#include "kernels/cuda/exponent_planes.cuh"
