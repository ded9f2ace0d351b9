/* Square roots of all numbers of a vector of the compiler's own kind: FX_ROOTS(x, lane count, sqrt or sqrtf).
 *
 * On x86 and ARM gcc and clang compile the loop to one instruction. For WebAssembly clang does not: every lane goes
 * through memory, and the load of the whole vector waits for four stores. There an intrinsic is used. A root is rounded
 * correctly on every machine, so the bits are the same. */
#ifndef FX_LINALG_LANE_ROOTS_H
#define FX_LINALG_LANE_ROOTS_H

#if defined(__wasm_simd128__)
#include <stddef.h>
#include <wasm_simd128.h>

static inline __attribute__((always_inline)) void fx_roots_of(void *x, size_t size, size_t each) {
  typedef int32_t block __attribute__((vector_size(16), aligned(4), may_alias));
  for (size_t at = 0; at < size; at += sizeof(block)) {
    block *part = (block *)((char *)x + at);
    v128_t root = each == sizeof(float) ? wasm_f32x4_sqrt((v128_t)*part) : wasm_f64x2_sqrt((v128_t)*part);
    *part = (block)root;
  }
}
#define FX_ROOTS(x, count, root) fx_roots_of(&(x), sizeof(x), sizeof(x) / (count))
#else
#define FX_ROOTS(x, count, root) \
  for (int lane_of_root = 0; lane_of_root < (count); lane_of_root++) (x)[lane_of_root] = root((x)[lane_of_root])
#endif

#endif
