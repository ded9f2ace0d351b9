/* Replay pages: a trajectory as one HTML file that opens offline. Layout of the data in it: page_columns.c. */
#ifndef FX_PAGE_H
#define FX_PAGE_H

#include "app.h"

#include <frix/trajectory.h>

/* ---- for verbs (page.c) */

typedef struct fx_page_config {
  int64_t frames;   /* at most so many */
  double megabytes; /* of the page, about: coarser positions, then fewer frames */
  bool plain;       /* numbers as they are, bytes unpacked */
  bool prove;       /* the page carries the core, and runs its run again where the reader asks */
} fx_page_config;

fx_page_config fx_page_default(void);
/* Whether this build can put the core into pages; false after a message that says what is missing. */
bool fx_page_can_prove(void);
/* Whether this build can make pages; false after a message that says what is missing. */
bool fx_page_available(void);
/* Opens a file or an address in the desktop's browser; false where there is no desktop (verb_view.c). */
bool fx_open_browser(const char *path);
/* Writes the page of a trajectory file, whole or not at all; false after a message. Damaged frames are left out, with a
 * warning, and counted in *damaged. */
bool fx_page_write(frix_context *context, const char *trajectory, const char *html, const fx_page_config *config,
                   int32_t *damaged);

/* ---- a row of bytes within an HTML file, and the index of what lies where (page_columns.c) */

typedef enum fx_column_type { FX_U8, FX_I16, FX_U16, FX_I32, FX_U32, FX_F32, FX_F64 } fx_column_type;

typedef struct fx_page_row {
  char name[48];
  fx_column_type type;
  int64_t at, count;
} fx_page_row;

typedef struct fx_page_bytes {
  FILE *file;           /* NULL: all bytes stay in piece */
  unsigned char *piece; /* what is not written yet */
  size_t filled, room;
  int64_t count; /* all bytes so far */
  fx_page_row *row;
  int row_count;
} fx_page_bytes;

/* Radius and half length, or half sides. (page_model.c) */
void fx_page_shape_size(float out[3], const frix_shape_config *shape);
void fx_page_begin(fx_page_bytes *bytes, FILE *file);
/* Values as they lie in memory (frix runs on little-endian machines only where pages are made; see the test). */
void fx_page_put(fx_page_bytes *bytes, const void *data, size_t size);
/* Up to the next multiple of 8. */
void fx_page_align(fx_page_bytes *bytes);
void fx_page_column(fx_page_bytes *bytes, const char *name, fx_column_type type, const void *data, int64_t count);
/* The last piece; then rows go into the index. */
void fx_page_end(fx_page_bytes *bytes);
/* Packs the bytes of a page that is in memory, and writes them as pieces (page_pack.c). */
void fx_page_pack(const fx_page_bytes *bytes, FILE *file);
/* The column of this name, NULL where there is none. */
const fx_page_row *fx_page_find(const fx_page_bytes *bytes, const char *name);
void fx_page_put_piece(FILE *file, const char *kind, const unsigned char *piece, size_t size);
void fx_page_put_rows(const fx_page_bytes *bytes, fx_json *json);
void fx_page_free(fx_page_bytes *bytes);

/* ---- parts of a page */

/* Bodies, shapes and geometries as columns (page_model.c). */
void fx_page_put_model(fx_page_bytes *bytes, const frix_model *model);
/* Body of the model by id: -1 for the world; map from fx_page_body_map. */
int32_t *fx_page_body_map(const frix_model *model, uint32_t *count);

/* The model's bytes and the words that say how it is stepped (page_proof.c). */
frix_status fx_page_put_proof(fx_page_bytes *bytes, frix_context *context, frix_trajectory *trajectory, double h);

typedef struct fx_page_frames fx_page_frames;

/* Poses and contacts, frame by frame (page_frames.c). */
typedef struct fx_page_layout {
  bool coarse;  /* positions in 16 bits of the box of their frame */
  bool rounded; /* numbers rounded to what one can see (page_frames.c), which makes packed pages small */
} fx_page_layout;
fx_page_frames *fx_page_frames_create(fx_page_bytes *bytes, const frix_model *model, fx_page_layout layout);
void fx_page_frames_add(fx_page_frames *frames, const frix_frame *frame);
/* Where the last frame is: its two places in the row of bytes, and its lists. */
typedef struct fx_page_last {
  int64_t poses, contacts;
  uint32_t body_count, contact_count, slot_count, gone_count;
  const uint32_t *slot, *slot_pattern, *gone;
} fx_page_last;
void fx_page_frames_last(const fx_page_frames *frames, fx_page_last *out);
/* The columns that say where all frames are. */
void fx_page_frames_end(fx_page_frames *frames);
void fx_page_frames_free(fx_page_frames *frames);
/* Bytes that a frame takes. */
int64_t fx_page_frame_size(int32_t body_count, int32_t contact_count, bool coarse);

#endif
