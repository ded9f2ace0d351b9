/* Deflate (RFC 1951): matches found through a table of three-byte prefixes, codes fitted to each block. */
#include "deflate.h"

#include "app.h"

#include <stdlib.h>
#include <string.h>

void fx_packed_byte(fx_packed *b, uint8_t byte) {
  if (b->count == b->room) {
    b->room = 2 * b->room + 4096;
    b->at = fx_grow(b->at, b->room, 1);
  }
  b->at[b->count++] = byte;
}

void fx_packed_big(fx_packed *b, uint32_t word) {
  for (int k = 3; k >= 0; k--) fx_packed_byte(b, (uint8_t)(word >> 8 * k));
}

/* Lowest bit first. */
static void put_bits(fx_packed *b, uint32_t value, int count) {
  b->bits |= value << b->bit_count;
  b->bit_count += count;
  for (; b->bit_count >= 8; b->bit_count -= 8, b->bits >>= 8) fx_packed_byte(b, (uint8_t)b->bits);
}

/* ---- codes: Huffman's, no longer than a limit */

typedef struct code {
  int length[288];
  uint32_t word[288]; /* reversed, as deflate wants it */
} code;

/* Lengths by Huffman's tree; where it grows too deep the counts are flattened and it is tried again. */
static void fit_lengths(const uint32_t *given, int count, int limit, int *length) {
  uint32_t weight[288];
  memcpy(weight, given, (size_t)count * sizeof *weight);
  for (;;) {
    uint64_t heap[576];
    int parent[576], live[576], live_count = 0, nodes = count, deepest = 0;
    for (int k = 0; k < count; k++)
      if (weight[k]) heap[k] = weight[k], live[live_count++] = k;
    memset(length, 0, (size_t)count * sizeof *length);
    for (int k = 0; live_count < 2 && k < count; k++) /* a tree needs two leaves */
      if (!weight[k]) weight[k] = 1, heap[k] = 1, live[live_count++] = k;
    while (live_count > 1) {
      int pick[2];
      for (int i = 0; i < 2; i++) {
        int best = 0;
        for (int k = 1; k < live_count; k++)
          if (heap[live[k]] < heap[live[best]]) best = k;
        pick[i] = live[best];
        live[best] = live[--live_count];
      }
      heap[nodes] = heap[pick[0]] + heap[pick[1]];
      parent[pick[0]] = parent[pick[1]] = nodes;
      live[live_count++] = nodes++;
    }
    for (int k = 0; k < count; k++) {
      if (!weight[k]) continue;
      for (int at = k; at != nodes - 1; at = parent[at]) length[k]++;
      if (length[k] > deepest) deepest = length[k];
    }
    if (deepest <= limit) return;
    for (int k = 0; k < count; k++) weight[k] = weight[k] ? weight[k] / 4 + 1 : 0;
  }
}

static void fit_code(const uint32_t *weight, int count, int limit, code *c) {
  int of_length[16] = {0};
  uint32_t next[16] = {0};
  fit_lengths(weight, count, limit, c->length);
  for (int k = 0; k < count; k++) of_length[c->length[k]]++;
  of_length[0] = 0;
  for (int k = 1; k < 16; k++) next[k] = (next[k - 1] + (uint32_t)of_length[k - 1]) << 1;
  for (int k = 0; k < count; k++) {
    uint32_t word = c->length[k] ? next[c->length[k]]++ : 0, reversed = 0;
    for (int bit = 0; bit < c->length[k]; bit++) reversed |= (word >> bit & 1) << (c->length[k] - 1 - bit);
    c->word[k] = reversed;
  }
}

static void put_symbol(fx_packed *b, const code *c, int symbol) { put_bits(b, c->word[symbol], c->length[symbol]); }

/* ---- matches */

typedef struct token {
  uint16_t length, distance; /* distance 0: a literal */
} token;

static int length_symbol(int length, int *extra, int *extra_bits) {
  if (length == 258) return *extra = *extra_bits = 0, 285;
  int x = length - 3, bits = 0;
  while (x >> bits >= 8) bits++;
  *extra_bits = bits;
  *extra = x & ((1 << bits) - 1);
  return 257 + 4 * bits + (x >> bits);
}

static int distance_symbol(int distance, int *extra, int *extra_bits) {
  int x = distance - 1, bits = 0;
  while (x >> bits >= 4) bits++;
  *extra_bits = bits;
  *extra = x & ((1 << bits) - 1);
  return 2 * bits + (x >> bits);
}

enum { PREFIXES = 1 << 15, WINDOW = 32768, LAZY = 32, BLOCK = 1 << 14 };

typedef struct finder {
  const uint8_t *data;
  size_t size;
  int tries;
  int64_t *head, *before; /* last place of a prefix; the one before a place, by place mod WINDOW */
} finder;

static uint32_t prefix(const uint8_t *p) { return ((uint32_t)p[0] << 10 ^ (uint32_t)p[1] << 5 ^ p[2]) % PREFIXES; }

/* Short matches from far away cost more than letters that are often there. */
static bool worth(size_t length, size_t distance) {
  return length >= 6 || (length == 5 && distance < 8192) || (length == 4 && distance < 1024) ||
         (length == 3 && distance < 64);
}

static token find_match(finder *f, size_t at) {
  token best = {1, 0};
  size_t most = f->size - at < 258 ? f->size - at : 258;
  if (most < 3) return best;
  int64_t from = f->head[prefix(f->data + at)];
  for (int k = 0; k < f->tries && from >= 0 && at - (size_t)from <= WINDOW - 1; k++) {
    size_t n = 0;
    /* one that ends before the best does is not looked at */
    bool longer = f->data[(size_t)from + best.length - 1] == f->data[at + best.length - 1] &&
                  (best.length == most || f->data[(size_t)from + best.length] == f->data[at + best.length]);
    while (longer && n < most && f->data[(size_t)from + n] == f->data[at + n]) n++;
    if (n > best.length && worth(n, at - (size_t)from)) best = (token){(uint16_t)n, (uint16_t)(at - (size_t)from)};
    if (n == most) break;
    from = f->before[(size_t)from % WINDOW];
  }
  return best;
}

static void remember(finder *f, size_t at) {
  if (at + 3 > f->size) return;
  uint32_t p = prefix(f->data + at);
  f->before[at % WINDOW] = f->head[p];
  f->head[p] = (int64_t)at;
}

/* ---- blocks */

static void put_tables(fx_packed *b, const code *symbols, const code *distances) {
  static const int order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  int all[316];
  uint32_t weight[19] = {0};
  code lengths;
  memcpy(all, symbols->length, 286 * sizeof *all);
  memcpy(all + 286, distances->length, 30 * sizeof *all);
  for (int k = 0; k < 316; k++) weight[all[k]]++;
  fit_code(weight, 19, 7, &lengths);
  put_bits(b, 286 - 257, 5);
  put_bits(b, 30 - 1, 5);
  put_bits(b, 19 - 4, 4);
  for (int k = 0; k < 19; k++) put_bits(b, (uint32_t)lengths.length[order[k]], 3);
  for (int k = 0; k < 316; k++) put_symbol(b, &lengths, all[k]);
}

static void put_block(fx_packed *b, const uint8_t *data, const token *t, size_t count, bool last) {
  uint32_t weight[286] = {0}, far[30] = {0};
  code symbols, distances;
  int extra, bits;
  size_t at = 0;
  weight[256] = 1;
  for (size_t k = 0; k < count; at += t[k++].length) {
    weight[t[k].distance ? length_symbol(t[k].length, &extra, &bits) : data[at]]++;
    if (t[k].distance) far[distance_symbol(t[k].distance, &extra, &bits)]++;
  }
  fit_code(weight, 286, 15, &symbols);
  fit_code(far, 30, 15, &distances);
  put_bits(b, last, 1);
  put_bits(b, 2, 2);
  put_tables(b, &symbols, &distances);
  at = 0;
  for (size_t k = 0; k < count; at += t[k++].length) {
    if (!t[k].distance) {
      put_symbol(b, &symbols, data[at]);
      continue;
    }
    put_symbol(b, &symbols, length_symbol(t[k].length, &extra, &bits));
    put_bits(b, (uint32_t)extra, bits);
    put_symbol(b, &distances, distance_symbol(t[k].distance, &extra, &bits));
    put_bits(b, (uint32_t)extra, bits);
  }
  put_symbol(b, &symbols, 256);
}

void fx_deflate(fx_packed *b, const uint8_t *data, size_t size, int tries) {
  finder f = {data, size, tries, fx_grow(NULL, PREFIXES, sizeof *f.head), fx_grow(NULL, WINDOW, sizeof *f.before)};
  token *t = fx_grow(NULL, BLOCK, sizeof *t);
  for (int k = 0; k < PREFIXES; k++) f.head[k] = -1;
  for (int k = 0; k < WINDOW; k++) f.before[k] = -1;
  token ahead = {0, 0};
  size_t at = 0, first = 0, count = 0;
  do {
    for (count = 0, first = at; at < size && count < BLOCK; count++) {
      /* a longer match one place on is worth a literal here */
      token now = ahead.length ? ahead : find_match(&f, at);
      remember(&f, at);
      ahead = now.distance && now.length < LAZY && at + 1 < size ? find_match(&f, at + 1) : (token){0, 0};
      if (ahead.length > now.length) {
        t[count] = (token){1, 0};
        at++;
        continue;
      }
      ahead = (token){0, 0};
      t[count] = now;
      for (int k = 1; k < now.length; k++) remember(&f, at + (size_t)k);
      at += now.length;
    }
    put_block(b, data + first, t, count, at == size);
  } while (at < size);
  put_bits(b, 0, 7); /* to the end of the byte */
  b->bits = 0, b->bit_count = 0;
  free(f.head);
  free(f.before);
  free(t);
}
