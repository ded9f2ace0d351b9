/* What a scene file asks for and frix does not do, as rows, text and JSON. */
#include "missing.h"

#include <stdlib.h>
#include <string.h>

static fx_missing_row *add_row(fx_missing *m) {
  m->row = fx_grow(m->row, (size_t)m->row_count + 1, sizeof *m->row);
  m->row[m->row_count] = (fx_missing_row){0};
  return &m->row[m->row_count++];
}

static int32_t count_moving(const frix_model *model) {
  int32_t moving = 0;
  for (int32_t k = 0; k < frix_model_count(model).body_count; k++) {
    frix_body_config body;
    bool good = frix_model_body(model, frix_model_body_at(model, k), &body) == FRIX_OK;
    moving += good && body.kind == FRIX_BODY_DYNAMIC;
  }
  return moving;
}

fx_missing fx_missing_of(const frix_mjcf_info *info, bool allowed) {
  fx_missing m = {.from_file = true, .allowed = allowed, .moving = count_moving(info->model)};
  for (int32_t k = 0; k < info->note_count; k++) {
    const frix_mjcf_note *n = &info->note[k];
    if (n->kind == FRIX_MJCF_LOOKS) continue;
    fx_missing_row *row = add_row(&m);
    row->name = fx_join(n->name, ""), row->text = fx_join(n->text, ""), row->file = fx_join(n->file, "");
    row->line = n->line, row->count = n->count;
    row->changes = n->kind == FRIX_MJCF_UNSUPPORTED;
  }
  return m;
}

void fx_missing_free(fx_missing *m) {
  for (int32_t k = 0; k < m->row_count; k++) {
    free(m->row[k].name);
    free(m->row[k].text);
    free(m->row[k].file);
  }
  free(m->row);
  *m = (fx_missing){0};
}

/* ---- JSON */

static const char *const kinds[2] = {"not_needed", "unsupported"};

void fx_missing_put(fx_json *json, const fx_missing *m) {
  fx_put_open(json, "ignored", '[');
  for (int32_t k = 0; k < m->row_count; k++) {
    const fx_missing_row *row = &m->row[k];
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "name", row->name);
    fx_put_text(json, "kind", kinds[row->changes]);
    fx_put_text(json, "text", row->text);
    fx_put_text(json, "file", row->file);
    fx_put_integer(json, "line", row->line);
    fx_put_integer(json, "count", row->count);
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
  fx_put_boolean(json, "missing_allowed", m->allowed);
  if (m->from_file) fx_put_integer(json, "moving_bodies", m->moving);
}

char *fx_read_json_text(const char **at) {
  const char *s = *at;
  if (*s++ != '"') return NULL;
  char *out = fx_grow(NULL, strlen(s) + 1, 1), *end = out;
  for (; *s && *s != '"'; s++) {
    unsigned code;
    if (*s != '\\') {
      *end++ = *s;
    } else if (s[1] == 'u' && sscanf(s + 2, "%4x", &code) == 1 && code < 0x80 && strlen(s) > 5) {
      *end++ = (char)code, s += 5;
    } else if (s[1]) {
      *end++ = *++s;
    }
  }
  *end = 0;
  if (*s == '"') {
    *at = s + 1;
    return out;
  }
  free(out);
  return NULL;
}

/* Goes on behind a literal text, which must come next; false where it does not. */
static bool pass(const char **at, const char *text) {
  size_t length = strlen(text);
  if (strncmp(*at, text, length)) return false;
  *at += length;
  return true;
}

static char *read_field(const char **at, const char *key) { return pass(at, key) ? fx_read_json_text(at) : NULL; }

static int32_t read_number(const char **at, const char *key) {
  if (!pass(at, key)) return 0;
  char *end;
  long value = strtol(*at, &end, 10);
  *at = end;
  return value < 0 || value > INT32_MAX ? 0 : (int32_t)value;
}

fx_missing fx_missing_read(const char *meta) {
  static const char list[] = "\"ignored\": [", allowed[] = "\"missing_allowed\": true",
                    moving[] = "\"moving_bodies\": ";
  fx_missing m = {0};
  const char *at = meta ? strstr(meta, list) : NULL;
  if (!at) return m;
  at += sizeof list - 1;
  while (pass(&at, "{")) {
    fx_missing_row *row = add_row(&m);
    row->name = read_field(&at, "\"name\": ");
    char *kind = read_field(&at, ", \"kind\": ");
    row->text = read_field(&at, ", \"text\": ");
    row->file = read_field(&at, ", \"file\": ");
    row->line = read_number(&at, ", \"line\": ");
    row->count = read_number(&at, ", \"count\": ");
    row->changes = kind && !strcmp(kind, kinds[1]);
    free(kind);
    if (!row->name || !row->text || !row->file || !pass(&at, "}")) {
      fx_missing_free(&m); /* not as it was written: of another hand */
      return m;
    }
    if (!pass(&at, ", ")) break;
  }
  m.allowed = strstr(at, allowed) != NULL;
  const char *number = strstr(at, moving);
  m.from_file = number != NULL;
  if (number) m.moving = read_number(&number, moving);
  return m;
}

/* ---- text */

static int32_t count_changes(const fx_missing *m) {
  int32_t count = 0;
  for (int32_t k = 0; k < m->row_count; k++) count += m->row[k].changes;
  return count;
}

void fx_missing_print(const fx_missing *m, int width) {
  int32_t changes = count_changes(m);
  const char *red = fx_colour_on(FX_RED), *off = fx_colour_off();
  if (m->from_file && !m->moving)
    printf("  %s%-*s%s no body of the file can move: there is nothing to simulate\n", red, width, "no motion", off);
  if (changes)
    printf("  %s%-*s%s the file asks for %d thing%s that frix does not do%s:\n", red, width, "ignored", off,
           (int)changes, changes == 1 ? "" : "s", m->allowed ? ", which was allowed" : "");
  for (int32_t k = 0; k < m->row_count; k++) {
    const fx_missing_row *row = &m->row[k];
    if (row->changes)
      printf("    %s, %d, first at %s:%d: %s\n", row->name, (int)row->count, row->file, (int)row->line, row->text);
  }
  bool first = true;
  for (int32_t k = 0; k < m->row_count; k++) {
    if (m->row[k].changes) continue;
    if (first) printf("  %-*s ", width, "not needed");
    printf("%s%s", first ? "" : ", ", m->row[k].name);
    first = false;
  }
  if (!first) printf("\n");
}

int fx_missing_code(const fx_missing *m, int code) {
  bool lacks = count_changes(m) > 0 || (m->from_file && !m->moving);
  return code == FX_EXIT_SOLVED && lacks && !m->allowed ? FX_EXIT_MISSING : code;
}
