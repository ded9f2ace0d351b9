/* Bytes packed by deflate, as PNG files, replay pages and browsers know them. */
#ifndef FX_DEFLATE_H
#define FX_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

typedef struct fx_packed {
  uint8_t *at; /* free it */
  size_t count, room;
  uint32_t bits;
  int bit_count;
} fx_packed;

void fx_packed_byte(fx_packed *packed, uint8_t byte);
/* Highest byte first. */
void fx_packed_big(fx_packed *packed, uint32_t word);
/* Appends the packed form of data, which ends at a byte. tries: how many earlier places are looked at for a match, from
 * FX_DEFLATE_FAST to FX_DEFLATE_SMALL. */
enum { FX_DEFLATE_FAST = 6, FX_DEFLATE_SMALL = 48 };
void fx_deflate(fx_packed *packed, const uint8_t *data, size_t size, int tries);

#endif
