/* Tallies: what the steps of a run amount to, added up step by step, and at the head of a checkpoint. */
#include "base/abi.h"
#include "io/trajectory_internal.h"

#include <math.h>

/* Versions of a checkpoint; 4 is that of the state alone, 5 the same with numbers of robots and soft bodies. */
enum { WITHOUT_TALLY = 4, NUMBERS_WITHOUT_TALLY = 5, WITH_TALLY = 2 };

static frix_tally default_tally(void) { return (frix_tally){.size = sizeof(frix_tally)}; }

void frix_tally_init(frix_tally *out, size_t size) {
  frix_tally all = default_tally();
  fx_give_struct(out, size, &all, sizeof all);
}

/* What is not a number exceeds everything and stays. */
static bool exceeds(double value, double most) { return !(value <= most) && !isnan(most); }

static void keep_largest(double *most, double value) {
  if (exceeds(value, *most)) *most = value;
}

void frix_tally_add(frix_tally *a, const frix_step_report *r, int64_t step, double tolerance) {
  if (!a || !r) return;
  const frix_certificate *c = &r->certificate;
  /* a step certified because all errors are below rounding has no residual worth telling */
  bool counts = !r->certified || c->residual <= tolerance;
  a->steps++;
  a->certified += r->certified;
  a->approximate += r->approximate;
  a->overlaps_left += r->overlaps_left;
  a->contacts += r->touching_count;
  a->iterations += r->iterations;
  if (a->contacts_max < r->touching_count) a->contacts_max = r->touching_count;
  if (counts && exceeds(c->residual, a->residual_max)) a->residual_max = c->residual, a->residual_step = step;
  if (exceeds(r->penetration, a->penetration_max)) a->penetration_max = r->penetration, a->penetration_step = step;
  keep_largest(&a->worst_velocity, c->worst_velocity);
  keep_largest(&a->signorini, c->signorini);
  keep_largest(&a->bilateral, c->bilateral);
}

static void pack_tally(fx_pack *p, frix_tally *a) {
  int64_t *count[] = {&a->steps,    &a->certified,  &a->approximate,   &a->overlaps_left,   &a->unknown,
                      &a->contacts, &a->iterations, &a->residual_step, &a->penetration_step};
  double *real[] = {&a->residual_max, &a->penetration_max, &a->worst_velocity, &a->signorini, &a->bilateral};
  for (size_t k = 0; k < sizeof count / sizeof *count; k++) {
    fx_pack_i64(p, count[k]);
    if (*count[k] < 0) p->failed = true;
  }
  fx_pack_i32(p, &a->contacts_max);
  for (size_t k = 0; k < sizeof real / sizeof *real; k++) fx_pack_f64(p, real[k]);
}

static bool sensible(const frix_tally *a) {
  if (a->steps < 0 || a->steps >= INT64_MAX / 2 || a->unknown < 0 || a->unknown > a->steps) return false;
  int64_t known = a->steps - a->unknown;
  return a->contacts_max >= 0 && a->certified <= known && a->approximate <= known && a->overlaps_left <= known &&
         a->contacts < INT64_MAX / 2 && a->iterations < INT64_MAX / 2;
}

frix_status fx_checkpoint_write(fx_buffer *out, const frix_tally *tally, const fx_state *state) {
  if (tally) {
    fx_pack p = fx_pack_writer(out);
    frix_tally a = *tally;
    int32_t version = WITH_TALLY;
    fx_pack_i32(&p, &version);
    pack_tally(&p, &a);
  }
  return fx_state_encode(state, out);
}

frix_status fx_checkpoint_read(frix_context *context, const unsigned char *bytes, size_t size, frix_tally *tally,
                               size_t *state) {
  fx_pack p = fx_pack_reader(context, bytes, size);
  int32_t version = 0;
  *tally = frix_tally_default();
  *state = 0;
  fx_pack_i32(&p, &version);
  if (version == WITH_TALLY) {
    pack_tally(&p, tally);
    *state = (size_t)(p.at - bytes);
  } else {
    tally->size = 0;
  }
  bool known = version == WITH_TALLY || version == WITHOUT_TALLY || version == NUMBERS_WITHOUT_TALLY;
  return fx_pack_status(&p, known && sensible(tally), "its bytes are damaged, or of another version");
}
