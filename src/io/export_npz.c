/* NPZ: a zip file of .npy arrays, stored as they are (PKWARE's APPNOTE, sizes of 64 bits throughout; NumPy's
 * format 1.0).
 */
#include "io/export.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ARRAYS = 64, LOCAL_HEAD = 30, LOCAL_EXTRA = 20 };

typedef struct entry {
  char name[64];
  uint64_t at, size;
  uint32_t crc;
} entry;

typedef struct archive {
  frix_context *context;
  frix_output *output;
  uint64_t at;
  int count;
  entry entry[MOST_ARRAYS];
} archive;

static frix_status put(archive *a, const void *bytes, size_t size) {
  a->at += size;
  return frix_output_write(a->output, bytes, size);
}

/* Little-endian fields one after the other. */
typedef struct record {
  unsigned char bytes[160];
  size_t used;
} record;

static void field(record *r, uint64_t value, size_t size) {
  for (size_t k = 0; k < size; k++) r->bytes[r->used++] = (unsigned char)(value >> 8 * k);
}

/* Fields that the local head and the directory have alike, from "version needed" on. */
static void common(record *r, const entry *e, uint64_t extra) {
  field(r, 45, 2); /* version that knows 64-bit sizes */
  field(r, 0, 2);
  field(r, 0, 2);      /* stored */
  field(r, 0, 2);      /* time: none, so that the same run gives the same bytes */
  field(r, 0x0021, 2); /* 1980-01-01 */
  field(r, e->crc, 4);
  field(r, 0xffffffff, 4); /* sizes stand in the extra field */
  field(r, 0xffffffff, 4);
  field(r, strlen(e->name), 2);
  field(r, extra, 2);
}

static void local_head(record *r, const entry *e) {
  field(r, 0x04034b50, 4);
  common(r, e, LOCAL_EXTRA);
}

static void local_extra(record *r, const entry *e) {
  field(r, 1, 2);
  field(r, 16, 2);
  field(r, e->size, 8);
  field(r, e->size, 8);
}

/* All that stands before an array; long enough for the longest name. */
static record local_record(const entry *e) {
  record r = {.used = 0};
  local_head(&r, e);
  memcpy(r.bytes + r.used, e->name, strlen(e->name));
  r.used += strlen(e->name);
  local_extra(&r, e);
  return r;
}

/* Head of an .npy array: magic, version, and a Python literal padded to 64 bytes. */
static size_t npy_head(char *out, size_t room, fx_number type, int dims, const int64_t *dim) {
  static const char *const code[] = {"<f8", "<f4", "<i8", "<u8", "<i4", "|u1", "|S64"};
  char shape[80] = "";
  for (int k = 0; k < dims; k++) {
    size_t used = strlen(shape);
    snprintf(shape + used, sizeof shape - used, "%lld%s", (long long)dim[k],
             dims == 1      ? ","
             : k + 1 < dims ? ", "
                            : "");
  }
  memcpy(out, "\x93NUMPY\x01\x00", 8);
  int length =
      snprintf(out + 10, room - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", code[type], shape);
  size_t total = (10 + (size_t)length + 1 + 63) / 64 * 64;
  memset(out + 10 + length, ' ', total - 10 - (size_t)length);
  out[total - 1] = '\n';
  out[8] = (char)((total - 10) & 255), out[9] = (char)((total - 10) >> 8);
  return total;
}

static frix_status add(archive *a, const void *bytes, size_t size) {
  entry *e = &a->entry[a->count];
  e->crc = frix_crc32(e->crc, bytes, size);
  e->size += size;
  return put(a, bytes, size);
}

static frix_status begin(void *user, const char *name, fx_number type, int dims, const int64_t *dim) {
  archive *a = user;
  char head[512];
  if (a->count == MOST_ARRAYS) return fx_fail(a->context, FRIX_ERROR_INPUT, "npz: too many arrays");
  entry *e = &a->entry[a->count];
  *e = (entry){.at = a->at};
  snprintf(e->name, sizeof e->name, "%s.npy", name);
  record local = local_record(e); /* written again when sizes are known */
  frix_status status = put(a, local.bytes, local.used);
  return status ? status : add(a, head, npy_head(head, sizeof head, type, dims, dim));
}

static frix_status rows(void *user, const unsigned char *bytes, size_t size, int64_t count) {
  (void)count;
  return add(user, bytes, size);
}

static frix_status end(void *user) {
  archive *a = user;
  const entry *e = &a->entry[a->count++];
  record local = local_record(e);
  return fx_output_patch(a->output, (int64_t)e->at, local.bytes, local.used);
}

static frix_status put_directory_row(archive *a, const entry *e) {
  record head = {.used = 0}, extra = {.used = 0};
  field(&head, 0x02014b50, 4);
  field(&head, 45, 2);
  common(&head, e, 28);
  field(&head, 0, 2); /* comment */
  field(&head, 0, 2); /* disk */
  field(&head, 0, 2);
  field(&head, 0, 4);
  field(&head, 0xffffffff, 4); /* where: in the extra field */
  field(&extra, 1, 2);
  field(&extra, 24, 2);
  field(&extra, e->size, 8);
  field(&extra, e->size, 8);
  field(&extra, e->at, 8);
  frix_status status = put(a, head.bytes, head.used);
  if (!status) status = put(a, e->name, strlen(e->name));
  return status ? status : put(a, extra.bytes, extra.used);
}

static frix_status put_directory(archive *a) {
  uint64_t from = a->at;
  frix_status status = FRIX_OK;
  for (int k = 0; !status && k < a->count; k++) status = put_directory_row(a, &a->entry[k]);
  uint64_t to = a->at;
  record r = {.used = 0};
  field(&r, 0x06064b50, 4); /* end of the directory, 64 bits */
  field(&r, 44, 8);
  field(&r, 45, 2);
  field(&r, 45, 2);
  field(&r, 0, 4);
  field(&r, 0, 4);
  field(&r, (uint64_t)a->count, 8);
  field(&r, (uint64_t)a->count, 8);
  field(&r, to - from, 8);
  field(&r, from, 8);
  field(&r, 0x07064b50, 4); /* where that stands */
  field(&r, 0, 4);
  field(&r, to, 8);
  field(&r, 1, 4);
  field(&r, 0x06054b50, 4); /* the end as everybody knows it */
  field(&r, 0, 4);
  field(&r, 0xffff, 2);
  field(&r, 0xffff, 2);
  field(&r, 0xffffffff, 4);
  field(&r, 0xffffffff, 4);
  field(&r, 0, 2);
  return status ? status : put(a, r.bytes, r.used);
}

/* Opens the file, lets `fill` write arrays, and closes it. */
static frix_status write_archive(frix_context *context, const char *path,
                                 frix_status (*fill)(const fx_array_sink *sink, const void *user), const void *user) {
  archive *a = FX_NEW(context, archive, 1);
  if (!a) return FRIX_ERROR_MEMORY;
  fx_array_sink sink = {begin, rows, end, a};
  a->context = context;
  frix_status status = frix_output_open(context, path, &a->output);
  if (!status) status = fx_output_has_places(a->output);
  if (!status) status = fill(&sink, user);
  if (!status) status = put_directory(a);
  frix_status closed = frix_output_close(a->output, status == FRIX_OK);
  fx_free(context, a);
  return status ? status : closed;
}

static frix_status fill_export(const fx_array_sink *sink, const void *user) { return fx_export_arrays(user, sink); }

frix_status fx_export_npz(const fx_export *e, const char *path) {
  return write_archive(e->context, path, fill_export, e);
}

typedef struct table {
  const frix_column *column;
  int32_t column_count;
  int64_t row_count;
} table;

static frix_status fill_columns(const fx_array_sink *sink, const void *user) {
  const table *t = user;
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < t->column_count && !status; k++) {
    status = sink->begin(sink->user, t->column[k].name, FX_F64, 1, &t->row_count);
    for (int64_t row = 0; row < t->row_count && !status; row++) {
      uint64_t word;
      unsigned char bytes[8];
      memcpy(&word, &t->column[k].value[row], sizeof word);
      for (int b = 0; b < 8; b++) bytes[b] = (unsigned char)(word >> 8 * b);
      status = sink->rows(sink->user, bytes, sizeof bytes, 1);
    }
    if (!status) status = sink->end(sink->user);
  }
  return status;
}

frix_status frix_columns_write(frix_context *context, const char *path, const frix_column *column, int32_t column_count,
                               int64_t row_count) {
  if (!context) return FRIX_ERROR_INPUT;
  bool good = path && column_count >= 0 && column_count <= MOST_ARRAYS && row_count >= 0 && (column || !column_count);
  for (int32_t k = 0; good && k < column_count; k++)
    good = column[k].name && strlen(column[k].name) < 48 && (column[k].value || !row_count);
  if (!good) return fx_fail(context, FRIX_ERROR_INPUT, "frix_columns_write: no path, or columns that make no sense");
  return write_archive(context, path, fill_columns, &(table){column, column_count, row_count});
}
