/* Tables as text: steps, bodies and contacts, numbers with every digit. */
#include "io/export.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>

typedef struct text_row {
  char text[2048];
  size_t used;
} text_row;

static void add_text(text_row *r, const char *text) {
  size_t length = strlen(text);
  if (r->used + length + 1 > sizeof r->text) length = sizeof r->text - 1 - r->used;
  memcpy(r->text + r->used, text, length);
  r->used += length;
}

static void add_cell(text_row *r, const char *text) {
  if (r->used) add_text(r, ",");
  add_text(r, text);
}

/* In quotes, quotes doubled; names come from users. */
static void add_name(text_row *r, const char *name) {
  char cell[2 * FX_NAME_SIZE + 3];
  size_t used = 0;
  cell[used++] = '"';
  for (size_t k = 0; name && name[k] && k < FX_NAME_SIZE - 1; k++) {
    if (name[k] == '"') cell[used++] = '"';
    cell[used++] = (unsigned char)name[k] < ' ' ? '?' : name[k];
  }
  cell[used++] = '"';
  cell[used] = 0;
  add_cell(r, cell);
}

static void add_value(text_row *r, const fx_export_column *c, const fx_value *value) {
  char cell[64];
  for (int k = 0; k < c->width; k++) {
    if (c->type == FX_TEXT) {
      add_name(r, value->text);
      continue;
    }
    if (c->type == FX_F64) {
      fx_print_real(cell, value->real[k]);
    } else if (c->type == FX_F32) {
      snprintf(cell, sizeof cell, "%.9g", value->real[k]);
    } else if (c->type == FX_U64) {
      snprintf(cell, sizeof cell, "%016llx", (unsigned long long)value->word);
    } else {
      snprintf(cell, sizeof cell, "%lld", (long long)value->integer);
    }
    add_cell(r, cell);
  }
}

/* Columns of one or two scopes; k_body: row of fx_export.body that goes with k. */
static void add_columns(text_row *r, const fx_export *e, fx_scope scope, const frix_frame *f, int32_t row, int32_t k) {
  for (int32_t i = 0; fx_export_column_at(i); i++) {
    const fx_export_column *c = fx_export_column_at(i);
    fx_value value = {{0}};
    if (c->scope != scope) continue;
    c->read(e, f, row, k, &value);
    add_value(r, c, &value);
  }
}

static void add_titles(text_row *r, fx_scope scope) {
  for (int32_t i = 0; fx_export_column_at(i); i++) {
    const fx_export_column *c = fx_export_column_at(i);
    if (c->scope != scope) continue;
    for (int k = 0; k < c->width; k++) {
      char title[64];
      snprintf(title, sizeof title, c->part ? "%s_%c" : "%s", c->name, c->part ? c->part[k] : 0);
      add_cell(r, title);
    }
  }
}

static frix_status put_row(frix_output *s, text_row *r) {
  r->text[r->used++] = '\n';
  frix_status status = frix_output_write(s, r->text, r->used);
  r->used = 0;
  return status;
}

/* A row begins with the frame and its time where it is one of many of them. */
static void begin_row(text_row *r, const frix_frame *f, int32_t row) {
  char cell[64];
  snprintf(cell, sizeof cell, "%d", row);
  add_cell(r, cell);
  fx_print_real(cell, f->time);
  add_cell(r, cell);
}

static frix_status put_frame(const fx_export *e, fx_scope scope, const frix_frame *f, int32_t row, frix_output *s) {
  text_row r = {.used = 0};
  frix_status status = FRIX_OK;
  int32_t count = scope == FX_SCOPE_FRAME ? 1 : scope == FX_SCOPE_STATE ? f->body_count : f->contact_count;
  for (int32_t k = 0; !status && k < count; k++) {
    if (scope != FX_SCOPE_FRAME) begin_row(&r, f, row);
    if (scope == FX_SCOPE_STATE) add_columns(&r, e, FX_SCOPE_BODY, f, row, fx_export_find(e, f->body[k].id));
    add_columns(&r, e, scope, f, row, k);
    status = put_row(s, &r);
  }
  return status;
}

static frix_status put_table(const fx_export *e, fx_scope scope, frix_output *s) {
  text_row r = {.used = 0};
  if (scope != FX_SCOPE_FRAME) add_text(&r, "frame,time");
  if (scope == FX_SCOPE_STATE) add_titles(&r, FX_SCOPE_BODY);
  add_titles(&r, scope);
  frix_status status = put_row(s, &r);
  for (int32_t row = 0; !status && row < e->frame_count; row++) {
    frix_frame frame;
    status = fx_export_frame(e, row, &frame);
    if (!status) status = put_frame(e, scope, &frame, row, s);
  }
  return status;
}

frix_status fx_export_csv(const fx_export *e, const char *path) {
  static const char *const kind[] = {"steps", "bodies", "contacts"};
  static const fx_scope scope[] = {FX_SCOPE_FRAME, FX_SCOPE_STATE, FX_SCOPE_CONTACT};
  size_t length = strlen(path);
  if (length > 4 && strcmp(path + length - 4, ".csv") == 0) length -= 4;
  char *name = FX_NEW(e->context, char, length + 32);
  frix_status status = name ? FRIX_OK : FRIX_ERROR_MEMORY;
  for (int k = 0; !status && k < 3; k++) {
    frix_output *s = NULL;
    snprintf(name, length + 32, "%.*s_%s.csv", (int)length, path, kind[k]);
    status = frix_output_open(e->context, name, &s);
    if (!status) status = put_table(e, scope[k], s);
    frix_status closed = frix_output_close(s, status == FRIX_OK);
    if (!status) status = closed;
  }
  fx_free(e->context, name);
  return status;
}
