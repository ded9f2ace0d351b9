/* The data of a replay page: one row of bytes, cut into base64 pieces of 3 MB (script elements of class frix-bytes) so
 * that no string gets too long for a browser, and an index that names columns in it. Every column starts at a multiple
 * of 8; numbers are little-endian. web/src/payload.js reads it. */
#include <stdlib.h>
#include <string.h>

#include "page.h"

enum { PIECE = 3 << 20 };

static const struct {
  const char *name;
  size_t size;
} types[] = {[FX_U8] = {"u8", 1},   [FX_I16] = {"i16", 2}, [FX_U16] = {"u16", 2}, [FX_I32] = {"i32", 4},
             [FX_U32] = {"u32", 4}, [FX_F32] = {"f32", 4}, [FX_F64] = {"f64", 8}};

void fx_page_begin(fx_page_bytes *bytes, FILE *file) {
  *bytes = (fx_page_bytes){.file = file, .piece = fx_grow(NULL, PIECE, 1), .room = PIECE};
}

void fx_page_put_piece(FILE *file, const char *kind, const unsigned char *piece, size_t size) {
  fprintf(file, "<script type=\"text/plain\" class=\"%s\">", kind);
  fx_put_base64(file, piece, size);
  fputs("</script>\n", file);
}

static void put_piece(fx_page_bytes *bytes) {
  fx_page_put_piece(bytes->file, "frix-bytes", bytes->piece, bytes->filled);
  bytes->filled = 0;
}

const fx_page_row *fx_page_find(const fx_page_bytes *bytes, const char *name) {
  for (int k = 0; k < bytes->row_count; k++)
    if (!strcmp(bytes->row[k].name, name)) return &bytes->row[k];
  return NULL;
}

void fx_page_put(fx_page_bytes *bytes, const void *data, size_t size) {
  const unsigned char *from = data;
  bytes->count += (int64_t)size;
  if (!bytes->file && bytes->filled + size > bytes->room) {
    bytes->room = 2 * bytes->room + size;
    bytes->piece = fx_grow(bytes->piece, bytes->room, 1);
  }
  while (size > 0) {
    size_t part = bytes->room - bytes->filled < size ? bytes->room - bytes->filled : size;
    memcpy(bytes->piece + bytes->filled, from, part);
    bytes->filled += part;
    from += part;
    size -= part;
    if (bytes->file && bytes->filled == PIECE) put_piece(bytes);
  }
}

void fx_page_align(fx_page_bytes *bytes) {
  static const unsigned char zero[8];
  fx_page_put(bytes, zero, (size_t)(-bytes->count & 7));
}

void fx_page_column(fx_page_bytes *bytes, const char *name, fx_column_type type, const void *data, int64_t count) {
  fx_page_align(bytes);
  bytes->row = fx_grow(bytes->row, (size_t)bytes->row_count + 1, sizeof *bytes->row);
  fx_page_row *row = &bytes->row[bytes->row_count++];
  *row = (fx_page_row){.type = type, .at = bytes->count, .count = count};
  snprintf(row->name, sizeof row->name, "%s", name);
  if (count > 0) fx_page_put(bytes, data, (size_t)count * types[type].size);
}

void fx_page_end(fx_page_bytes *bytes) {
  if (bytes->file && bytes->filled > 0) put_piece(bytes);
}

void fx_page_put_rows(const fx_page_bytes *bytes, fx_json *json) {
  fx_put_open(json, "columns", '{');
  for (int k = 0; k < bytes->row_count; k++) {
    const fx_page_row *row = &bytes->row[k];
    fx_put_open(json, row->name, '[');
    fx_put_text(json, NULL, types[row->type].name);
    fx_put_integer(json, NULL, row->at);
    fx_put_integer(json, NULL, row->count);
    fx_put_close(json, ']');
  }
  fx_put_close(json, '}');
}

void fx_page_free(fx_page_bytes *bytes) {
  free(bytes->piece);
  free(bytes->row);
  *bytes = (fx_page_bytes){0};
}
