/* CRC-32: the remainder of the bytes, seen as a polynomial over GF(2), modulo
 *   x^32 + x^26 + x^23 + x^22 + x^16 + x^12 + x^11 + x^10 + x^8 + x^7 + x^5 + x^4 + x^2 + x + 1
 * with bits reversed and inverted (ISO 3309, as in zip and PNG). Long inputs go eight bytes at a time (Kounavis and
 * Berry, "slicing by 8"). */
#include <frix/trajectory.h>

enum { LONG = 1 << 14 };

/* What four bits leave behind. */
static const uint32_t nibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                    0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                    0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

static uint32_t next_byte(uint32_t crc, uint8_t byte) {
  crc ^= byte;
  crc = crc >> 4 ^ nibble[crc & 15];
  return crc >> 4 ^ nibble[crc & 15];
}

/* table[k][b]: byte b followed by k zero bytes. */
static void fill(uint32_t table[8][256]) {
  for (uint32_t b = 0; b < 256; b++) table[0][b] = next_byte(0, (uint8_t)b);
  for (uint32_t b = 0; b < 256; b++)
    for (int k = 1; k < 8; k++) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
}

static uint32_t low(const uint8_t *at) {
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint32_t frix_crc32(uint32_t crc, const void *bytes, size_t size) {
  if (!bytes) return crc;
  const uint8_t *at = bytes, *end = at + size;
  crc = ~crc;
  if (size >= LONG) {
    uint32_t table[8][256];
    fill(table);
    for (; end - at >= 8; at += 8) {
      uint32_t a = crc ^ low(at), b = low(at + 4);
      crc = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^ table[4][a >> 24] ^
            table[3][b & 255] ^ table[2][b >> 8 & 255] ^ table[1][b >> 16 & 255] ^ table[0][b >> 24];
    }
  }
  for (; at < end; at++) crc = next_byte(crc, *at);
  return ~crc;
}
