/* Config structs across versions of the headers.
 *
 * Fields are only ever added at the end of a struct whose first field is `size`, the sizeof of the caller's header. An
 * older caller's struct is shorter: missing fields keep their defaults. A newer caller's is longer: fields unknown to
 * this library must be zero, or the struct is rejected. Outputs: the inline functions of the headers pass the size of
 * the caller's struct to functions whose names end with _sized. */
#ifndef FX_BASE_ABI_H
#define FX_BASE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FX_LARGEST_STRUCT = 65536 };

/* Writes as much of `all` as the caller has room for; its size becomes the caller's. */
static inline void fx_give_struct(void *out, size_t size, const void *all, size_t known) {
  uint32_t told = (uint32_t)size;
  if (!out || size < sizeof told) return;
  memset(out, 0, size);
  memcpy(out, all, size < known ? size : known);
  memcpy(out, &told, sizeof told);
}

/* Lays the caller's struct over `full`, which holds the defaults; false where its size makes no sense or it asks for
 * something unknown: it is then to be refused. */
static inline bool fx_take_struct(void *full, size_t known, const void *given) {
  uint32_t size;
  memcpy(&size, given, sizeof size);
  if (size < sizeof size || size > FX_LARGEST_STRUCT) return false;
  for (size_t k = known; k < size; k++)
    if (((const unsigned char *)given)[k]) return false;
  uint32_t own = (uint32_t)known;
  memcpy(full, given, size < known ? size : known);
  memcpy(full, &own, sizeof own);
  return true;
}

/* An output whose size the caller's header tells: as much of it as the caller knows; what this library does not know is
 * zero. Where both agree the caller's own struct is filled. */
static inline void fx_give_output(void *out, size_t size, const void *all, size_t known) {
  memset(out, 0, size);
  memcpy(out, all, size < known ? size : known);
}

/* `out##_all` is what is to be filled, NULL where out is; then what the caller knows of it is given. */
#define FX_OUTPUT(type, out, size) \
  type out##_own = {0}, *out##_all = !out || size == sizeof out##_own ? out : &out##_own
#define FX_GIVE(out, size) \
  if (out##_all != out) fx_give_output(out, size, &out##_own, sizeof out##_own)

/* At the head of a function: `config` points to a whole struct afterwards, where it can be made one. */
#define FX_WHOLE(type, config, defaults) \
  type config##_whole = (defaults);      \
  if (config && fx_take_struct(&config##_whole, sizeof config##_whole, config)) config = &config##_whole

#endif
