/* Bytes, little-endian, both ways. */
#include "io/pack.h"

#include <float.h>
#include <string.h>

fx_pack fx_pack_writer(fx_buffer *out) { return (fx_pack){.context = out->context, .out = out}; }

fx_pack fx_pack_reader(frix_context *context, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  return (fx_pack){.context = context, .at = at, .end = at + size};
}

frix_status fx_pack_status(const fx_pack *p, bool good, const char *text) {
  if (p->no_memory) return FRIX_ERROR_MEMORY;
  return good && !p->failed ? FRIX_OK : fx_fail(p->context, FRIX_ERROR_FORMAT, "%s", text);
}

bool fx_pack_room(fx_pack *p, uint64_t count, size_t size) {
  if (p->out) return true;
  if (!p->failed && count <= (uint64_t)(p->end - p->at) / size) return true;
  p->failed = true;
  return false;
}

/* The low `size` bytes of a word. */
static uint64_t move(fx_pack *p, uint64_t word, size_t size) {
  if (p->out) {
    char *room = fx_buffer_reserve(p->out, size);
    if (!room) return word;
    for (size_t k = 0; k < size; k++) room[k] = (char)(word >> 8 * k & 255);
    p->out->count += size;
    return word;
  }
  if (!fx_pack_room(p, size, 1)) return 0;
  word = 0;
  for (size_t k = 0; k < size; k++) word |= (uint64_t)p->at[k] << 8 * k;
  p->at += size;
  return word;
}

void fx_pack_u8(fx_pack *p, uint8_t *x) { *x = (uint8_t)move(p, *x, 1); }
void fx_pack_u16(fx_pack *p, uint16_t *x) { *x = (uint16_t)move(p, *x, 2); }
void fx_pack_u32(fx_pack *p, uint32_t *x) { *x = (uint32_t)move(p, *x, 4); }
void fx_pack_u64(fx_pack *p, uint64_t *x) { *x = move(p, *x, 8); }
void fx_pack_i32(fx_pack *p, int32_t *x) { *x = (int32_t)(uint32_t)move(p, (uint32_t)*x, 4); }
void fx_pack_i64(fx_pack *p, int64_t *x) { *x = (int64_t)move(p, (uint64_t)*x, 8); }

void fx_pack_f64(fx_pack *p, double *x) {
  uint64_t word;
  memcpy(&word, x, sizeof word);
  word = move(p, word, 8);
  memcpy(x, &word, sizeof word);
}

void fx_pack_single(fx_pack *p, double *x) {
  float y = *x > FLT_MAX ? FLT_MAX : *x < -FLT_MAX ? -FLT_MAX : (float)*x;
  uint32_t word;
  memcpy(&word, &y, sizeof word);
  word = (uint32_t)move(p, word, 4);
  memcpy(&y, &word, sizeof word);
  if (!p->out) *x = (double)y;
}

void fx_pack_bool(fx_pack *p, bool *x) {
  int choice = *x;
  fx_pack_choice(p, &choice, 2);
  *x = choice;
}

void fx_pack_choice(fx_pack *p, int *x, int limit) {
  int value = (int)move(p, (uint64_t)*x, 1);
  if (!p->out && value >= limit) p->failed = true, value = 0;
  *x = value;
}

void fx_pack_reals(fx_pack *p, double *x, size_t count) {
  for (size_t k = 0; k < count; k++) fx_pack_f64(p, x + k);
}

void fx_pack_vec(fx_pack *p, frix_vec3 *v) {
  fx_pack_f64(p, &v->x);
  fx_pack_f64(p, &v->y);
  fx_pack_f64(p, &v->z);
}

void fx_pack_quat(fx_pack *p, frix_quat *q) {
  fx_pack_f64(p, &q->w);
  fx_pack_f64(p, &q->x);
  fx_pack_f64(p, &q->y);
  fx_pack_f64(p, &q->z);
}

void fx_pack_pose(fx_pack *p, frix_pose *pose) {
  fx_pack_vec(p, &pose->p);
  fx_pack_quat(p, &pose->q);
}

void fx_pack_sym(fx_pack *p, frix_sym3 *s) {
  double *part[6] = {&s->xx, &s->yy, &s->zz, &s->xy, &s->xz, &s->yz};
  for (int k = 0; k < 6; k++) fx_pack_f64(p, part[k]);
}

/* The length plus one; 0 stands for NULL. */
void fx_pack_text(fx_pack *p, const char **text) {
  uint32_t mark = p->out && *text ? (uint32_t)strlen(*text) + 1 : 0;
  fx_pack_u32(p, &mark);
  if (p->out) {
    if (*text) fx_buffer_text(p->out, *text);
    return;
  }
  *text = NULL;
  if (mark == 0 || !fx_pack_room(p, mark - 1, 1)) return;
  bool clean = !memchr(p->at, 0, mark - 1);
  char *copy = clean ? FX_NEW(p->context, char, mark) : NULL;
  if (!copy) {
    p->failed = true;
    p->no_memory = clean;
    return;
  }
  memcpy(copy, p->at, mark - 1);
  p->at += mark - 1;
  *text = copy;
}
