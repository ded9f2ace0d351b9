/* JSON problems and solutions: writer. Numbers read back bit for bit. */
#include <string.h>

#include "io/json.h"
#include "io/json_pull.h"

/* A JSON string; bytes that are no UTF-8 become question marks. */
static void put_string(fx_buffer *out, const char *text) {
  const char *end = text + strlen(text);
  fx_buffer_text(out, "\"");
  while (text < end) {
    size_t length = fx_utf8_length(text, end);
    char piece[8] = "?";
    if (*text == '"' || *text == '\\') {
      piece[0] = '\\';
      piece[1] = *text;
    } else if (length == 1 && (unsigned char)*text < 0x20) {
      static const char hex[] = "0123456789abcdef";
      memcpy(piece, "\\u00", 4);
      piece[4] = hex[(unsigned char)*text >> 4];
      piece[5] = hex[*text & 15];
    } else if (length) {
      memcpy(piece, text, length);
    }
    fx_buffer_text(out, piece);
    text += length ? length : 1;
  }
  fx_buffer_text(out, "\"");
}

static void put_key(fx_buffer *out, const char *key) {
  fx_buffer_text(out, ",\n \"");
  fx_buffer_text(out, key);
  fx_buffer_text(out, "\": ");
}

static void put_reals(fx_buffer *out, const double *x, int64_t count, int64_t width) {
  fx_buffer_text(out, "[");
  for (int64_t k = 0; k < count; k++) {
    if (k) fx_buffer_text(out, k % width ? ", " : ",\n  ");
    fx_buffer_real(out, x[k]);
  }
  fx_buffer_text(out, "]");
}

static void put_optional(fx_buffer *out, const char *key, const double *x, int64_t count) {
  if (!x) return;
  put_key(out, key);
  put_reals(out, x, count, 6);
}

static void put_field(fx_buffer *out, const char *key, double value) {
  fx_buffer_text(out, ", \"");
  fx_buffer_text(out, key);
  fx_buffer_text(out, "\": ");
  fx_buffer_real(out, value);
}

static void put_contact(fx_buffer *out, const frix_contact *contact, int64_t count) {
  uint32_t fields = fx_json_fields[contact->cone];
  fx_buffer_text(out, "{\"cone\": \"");
  fx_buffer_text(out, frix_cone_table((int32_t)contact->cone)->name);
  fx_buffer_text(out, "\"");
  if (fields & FX_FIELD_DIM) put_field(out, "dim", contact->dim);
  if (fields & FX_FIELD_MU) put_field(out, "mu", contact->mu);
  if (fields & FX_FIELD_MU2) put_field(out, "mu2", contact->mu2);
  if (fields & FX_FIELD_MU_R) put_field(out, "mu_r", contact->mu_r);
  if (fields & FX_FIELD_AXIS) {
    fx_buffer_text(out, ", \"axis\": ");
    put_reals(out, contact->axis, 2, 2);
  }
  if (fields & FX_FIELD_FACETS) put_field(out, "facets", contact->facets);
  if (count > 1) put_field(out, "count", (double)count);
  fx_buffer_text(out, "}");
}

/* Whether the file would say the same of both; bits, so that -0 stays. */
static bool same_contact(const frix_contact *a, const frix_contact *b) {
  return a->cone == b->cone && a->dim == b->dim && a->facets == b->facets && !memcmp(&a->mu, &b->mu, sizeof a->mu) &&
         !memcmp(&a->mu2, &b->mu2, sizeof a->mu2) && !memcmp(&a->mu_r, &b->mu_r, sizeof a->mu_r) &&
         !memcmp(a->axis, b->axis, sizeof a->axis);
}

static void put_contacts(fx_buffer *out, const frix_problem_data *data) {
  put_key(out, "contacts");
  fx_buffer_text(out, "[");
  for (int32_t k = 0, next; k < data->contact_count; k = next) {
    for (next = k + 1; next < data->contact_count && same_contact(&data->contact[k], &data->contact[next]);) next++;
    if (k) fx_buffer_text(out, ",\n  ");
    put_contact(out, &data->contact[k], (int64_t)next - k);
  }
  fx_buffer_text(out, "]");
}

static void put_rows(fx_buffer *out, const frix_matrix *m) {
  for (int32_t i = 0; i < m->row_count; i++) {
    fx_buffer_text(out, i ? ",\n  [" : "[[");
    for (int32_t j = 0; j < m->col_count; j++) {
      if (j) fx_buffer_text(out, ", ");
      fx_buffer_real(out, m->x[(int64_t)j * m->row_count + i]);
    }
    fx_buffer_text(out, "]");
  }
  fx_buffer_text(out, "]");
}

static void put_matrix(fx_buffer *out, const char *key, const frix_matrix *m) {
  put_key(out, key);
  if (fx_matrix_full(m)) {
    put_rows(out, m);
    return;
  }
  fx_buffer_text(out, "{\"rows\": ");
  fx_buffer_integer(out, m->row_count);
  fx_buffer_text(out, ", \"cols\": ");
  fx_buffer_integer(out, m->col_count);
  fx_buffer_text(out, ", \"entries\": [");
  for (int32_t j = 0; j < m->col_count; j++)
    for (int32_t k = m->p[j]; k < m->p[j + 1]; k++) {
      fx_buffer_text(out, k ? ",\n  [" : "\n  [");
      fx_buffer_integer(out, m->i[k]);
      fx_buffer_text(out, ", ");
      fx_buffer_integer(out, j);
      fx_buffer_text(out, ", ");
      fx_buffer_real(out, m->x[k]);
      fx_buffer_text(out, "]");
    }
  fx_buffer_text(out, "]}");
}

static frix_status write_solution(const frix_result *result, fx_buffer *out) {
  fx_buffer_text(out, "{\"r\":");
  put_reals(out, result->r, result->row_count, result->row_count + 1);
  fx_buffer_text(out, ",\"u\":");
  put_reals(out, result->u, result->row_count, result->row_count + 1);
  fx_buffer_text(out, ",\"v\":");
  put_reals(out, result->v, result->v ? result->dof_count : 0, (int64_t)result->dof_count + 1);
  if (result->lambda && result->joint_count) {
    fx_buffer_text(out, ",\"lambda\":");
    put_reals(out, result->lambda, result->joint_count, (int64_t)result->joint_count + 1);
  }
  fx_buffer_text(out, "}\n");
  return FRIX_OK;
}

frix_status fx_json_write(const char *path, const frix_problem_data *data, const frix_result *result, fx_buffer *out) {
  (void)path;
  if (result) return write_solution(result, out);
  fx_buffer_text(out, "{\"format\": \"" FX_JSON_FORMAT "\"");
  if (data->title) {
    put_key(out, "title");
    put_string(out, data->title);
  }
  put_contacts(out, data);
  if (data->form == FRIX_FORM_LOCAL) {
    put_matrix(out, "W", &data->W);
    put_optional(out, "q", data->q, data->row_count);
  } else {
    put_matrix(out, "M", &data->M);
    put_matrix(out, "H", &data->H);
    put_optional(out, "f", data->f, data->dof_count);
    put_optional(out, "w", data->w, data->row_count);
  }
  if (data->joint_count > 0) {
    put_matrix(out, "G", &data->G);
    put_optional(out, "b", data->b, data->joint_count);
  }
  put_optional(out, "R", data->R, data->row_count);
  put_optional(out, "r_c", data->r_c, data->row_count);
  put_optional(out, "guess", data->guess, data->row_count);
  fx_buffer_text(out, "}\n");
  return FRIX_OK;
}
