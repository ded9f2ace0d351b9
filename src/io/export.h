/* Trajectories as tables: one list of columns, any number of ways to write them. */
#ifndef FX_IO_EXPORT_H
#define FX_IO_EXPORT_H

#include "io/file.h"
#include "io/output_internal.h"

#include <frix/trajectory.h>

/* What a column has a row for. */
typedef enum fx_scope { FX_SCOPE_FRAME, FX_SCOPE_BODY, FX_SCOPE_STATE, FX_SCOPE_CONTACT } fx_scope;

typedef enum fx_number { FX_F64, FX_F32, FX_I64, FX_U64, FX_I32, FX_U8, FX_TEXT } fx_number;

enum { FX_NAME_SIZE = 64 }; /* bytes of a text, zero padded */

typedef union fx_value {
  double real[4];
  int64_t integer;
  uint64_t word;
  const char *text;
} fx_value;

/* A body that was there in some frame. */
typedef struct fx_export_body {
  frix_body_id id, pattern;
  int32_t next; /* with the same index, -1: none */
} fx_export_body;

typedef struct fx_export {
  frix_context *context;
  frix_trajectory *trajectory;
  const frix_model *model;
  int32_t *frame, frame_count; /* those exported, by their number in the file */
  int32_t body_count, body_room, head_count;
  fx_export_body *body;
  int32_t *head; /* body index -> its first row of body, -1 */
  int64_t contact_count;
} fx_export;

typedef struct fx_export_column {
  const char *name;
  fx_scope scope;
  fx_number type;
  int width;
  const char *part; /* names of the parts, one letter each; NULL where width is 1 */
  /* k: body (rows of fx_export.body), place in frame->body, or contact; row: of the frame among those exported */
  void (*read)(const fx_export *e, const frix_frame *frame, int32_t row, int32_t k, fx_value *out);
} fx_export_column;

/* Row k of the table of columns, NULL past its end. */
const fx_export_column *fx_export_column_at(int32_t k);
size_t fx_number_size(fx_number type);
/* width numbers of the column's type, little-endian. */
void fx_export_put(const fx_export_column *column, const fx_value *value, unsigned char *out);
/* Frame `row` of those exported. */
frix_status fx_export_frame(const fx_export *e, int32_t row, frix_frame *out);
/* Row of a body, -1: not there. */
int32_t fx_export_find(const fx_export *e, frix_body_id id);

/* One array after the other: begin, its rows (of the first dimension) in turn, end. */
typedef struct fx_array_sink {
  frix_status (*begin)(void *user, const char *name, fx_number type, int dims, const int64_t *dim);
  frix_status (*rows)(void *user, const unsigned char *bytes, size_t size, int64_t count);
  frix_status (*end)(void *user);
  void *user;
} fx_array_sink;

frix_status fx_export_arrays(const fx_export *e, const fx_array_sink *sink);

frix_status fx_export_csv(const fx_export *e, const char *path);
frix_status fx_export_npz(const fx_export *e, const char *path);
frix_status fx_export_hdf5(const fx_export *e, const char *path);

#endif
