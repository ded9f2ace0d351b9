/* Is there a `smooth` step whose derivative by a named input is wrong? Random worlds of the adversary, in every step a
 * few inputs of random bodies, against central differences of certified steps at 1e-12 that begin beside. Differences
 * of two widths that do not agree lead over a kink and say nothing. */
#include "adversary/random_world.h"
#include "analysis/step_inputs.h"
#include "sim/mechanism.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 6, OUTPUTS = 6, LISTED = 12 };

typedef struct count {
  long steps, smooth, kinks, refused, derivatives, apart, wrong;
  double worst;
} count;

static uint64_t next_of(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* A step of a copy, as the derivative sees it, whose input grew by `amount`. */
static bool outcome(world *w, const frix_snapshot *start, frix_sim *copy, const char *input, double amount,
                    const char *const *of, double *out) {
  fx_step_input in;
  frix_step_report report = {.certified = false};
  double h = w->h, scratch[512];
  if (frix_sim_restore(copy, start) != FRIX_OK) return false;
  if (copy->mechanism) fx_transport_drop(copy);
  if (copy->config.contact == FRIX_CONTACT_KIND_RIGID) { /* springs are part of the state */
    int32_t kept = 0;
    for (int32_t k = 0; k < copy->state.touching_count; k++)
      if (copy->state.touching[k].stiffness > 0) copy->state.touching[kept++] = copy->state.touching[k];
    copy->state.touching_count = kept, copy->state.ended_count = 0;
    fx_contacts_index(copy);
  }
  for (int32_t k = 1; k < copy->state.count; k++)
    if (copy->state.prototype[k] > 0) fx_wake(copy, k);
  if (fx_step_input_read(copy, input, &in) != FRIX_OK) return false;
  if (fx_step_input_change(copy, &in, amount) != FRIX_OK) return false;
  if (in.kind == FX_INPUT_STEP) h += amount;
  bool exact;
  if (fx_step_exactly(copy, h, &report, &exact) != FRIX_OK || !report.certified) return false;
  if (copy->rows.leaves_overlaps) return false; /* to 1e-12 it has an answer only of another law */
  for (int k = 0; k < OUTPUTS; k++) {
    fx_step_output o;
    if (fx_step_output_read(copy, of[k], &o) != FRIX_OK) return false;
    out[k] = fx_step_output_value(copy, w->sim, &o, scratch);
  }
  return true;
}

/* Of places and velocities. */
static double largest(const frix_sim *sim) {
  const fx_state *s = &sim->state;
  double most = 0;
  for (int32_t k = 1; k < s->count; k++)
    if (s->prototype[k] > 0) most = fmax(most, fmax(fx_norm(s->pose[k].p), fx_norm(s->velocity[k])));
  return most;
}

static void compare(fx_test *t, world *w, const frix_snapshot *start, frix_sim *copy, const char *input,
                    const char *const *of, const double *value, int stride, const char *where, count *sum) {
  static const double part[4] = {-1, 1, -0.5, 0.5};
  bool place = strstr(input, "#") && (strstr(input, ".z") || strstr(input, "turn")) && !strstr(input, "spin") &&
               !strstr(input, "force"); /* velocities have a part 1 / h of it, or 1, in this body if in no other */
  double at[4][OUTPUTS], d = 1e-5,
                         most = place                                                ? 1 / w->h
                                : strstr(input, "velocity") || strstr(input, "spin") ? 1
                                                                                     : 1e-3,
                         off = 0, apart = 0;
  for (int n = 0; n < 4; n++)
    if (!outcome(w, start, copy, input, part[n] * d, of, at[n])) {
      sum->apart++;
      return;
    }
  for (int k = 0; k < OUTPUTS; k++) {
    double wide = (at[1][k] - at[0][k]) / (2 * d), narrow = (at[3][k] - at[2][k]) / d;
    double expected = (4 * narrow - wide) / 3, by = fabs(expected - value[k * stride]);
    most = fmax(most, fabs(expected)), apart = fmax(apart, fabs(wide - narrow)), off = by <= off ? off : by;
  }
  if (apart > 1e-6 * most) {
    sum->apart++;
    return;
  }
  sum->derivatives++, sum->worst = fmax(sum->worst, off / most);
  double rounding = 1e-13 + 1e-15 * largest(copy); /* of velocities that are solved to 1e-12, and of numbers */
  if (off <= 1e-6 * most + 2 * apart + rounding / d) return;
  sum->wrong++;
  fx_test_fail(t, __FILE__, __LINE__, "%s by %s: off by %.2e of %.2e, differences %.1e apart", where, input, off, most,
               apart);
}

static void name_of(char out[96], const char *word, const char *body) {
  snprintf(out, 96, "%s%s", word[0] == '.' ? body : "", word);
}

static void attack_step(fx_test *t, world *w, const char *where, uint64_t *random, count *sum) {
  static const char *const word[] = {".velocity.x", ".force.z", ".z", ".turn.y", "gravity.x", ".spin.z"};
  static const char *const out[] = {".x", ".z", ".vx", ".vz", ".wy", ".wz"};
  char by[INPUTS][96], of[OUTPUTS][96];
  const char *wrt[INPUTS], *seen[OUTPUTS];
  char body[LISTED][16];
  int bodies = 0;
  for (int32_t k = 1; k < w->sim->model->body_count && bodies < LISTED; k++)
    if (w->sim->state.prototype[k] == k && fx_slot_body(w->sim, k)->kind == FRIX_BODY_DYNAMIC)
      snprintf(body[bodies++], sizeof body[0], "#%d", k);
  if (bodies == 0) return;
  for (int k = 0; k < INPUTS; k++) {
    name_of(by[k], word[k], body[next_of(random) % (uint64_t)bodies]), wrt[k] = by[k];
    name_of(of[k], out[k], body[next_of(random) % (uint64_t)bodies]), seen[k] = of[k];
  }
  frix_step_gradient_config config = frix_step_gradient_default();
  frix_gradient_result r = {.size = sizeof r};
  config.step = w->h, config.of_count = OUTPUTS, config.of = seen;
  frix_sim_config c = w->sim->config;
  frix_snapshot *start = NULL;
  frix_sim *copy = NULL;
  c.sleep = false, c.projections = 0, c.tolerance = 1e-12;
  if (c.contact == FRIX_CONTACT_KIND_RIGID) c.stabilisation = 1;
  if (frix_sim_save(w->sim, &start) == FRIX_OK &&
      frix_sim_create(w->sim->context, w->sim->root, &c, &copy) == FRIX_OK) {
    copy->of_state = true;
    for (int k = 0; k < INPUTS; k++) { /* each alone: one that is refused must not hide others */
      double value[OUTPUTS];
      config.wrt_count = 1, config.wrt = wrt + k;
      sum->steps++;
      if (frix_sim_step_gradient(w->sim, &config, value, NULL, &r) != FRIX_OK) {
        sum->refused++;
      } else if (r.verdict != FRIX_GRADIENT_SMOOTH) {
        sum->kinks++;
      } else {
        sum->smooth++;
        compare(t, w, start, copy, wrt[k], seen, value, 1, where, sum);
      }
    }
  }
  frix_sim_destroy(copy);
  frix_snapshot_destroy(start);
}

static void attack(fx_test *t) {
  const char *more = getenv("FRIX_ATTACK"), *from = getenv("FRIX_ATTACK_SEED"), *which = getenv("FRIX_ATTACK_CLASS");
  uint64_t seed = from ? strtoull(from, NULL, 10) : 1, random = seed;
  int each = more ? atoi(more) : 1;
  count sum = {0};
  for (int k = 0; world_class_at(k); k++) {
    const world_class *class = world_class_at(k);
    if (!class->fill || class->make || class->run || (which && strcmp(which, class->name) != 0)) continue;
    for (int i = 0; i < each; i++) {
      world w;
      if (!world_open(&w, class, seed, (uint64_t)i, (units){1, 1, 1}) || !w.sim) {
        world_close(&w);
        continue;
      }
      for (int n = 0; n < w.steps && n < 6; n++) {
        frix_step_report r = {.size = sizeof r};
        char where[96];
        snprintf(where, sizeof where, "%s %llu %d step %d", class->name, (unsigned long long)seed, i, n);
        if (w.edit) w.edit(&w);
        for (int p = 0; p < w.push_count; p++)
          frix_sim_add_force(w.sim, w.push[p].body, w.push[p].force, w.push[p].torque);
        attack_step(t, &w, where, &random, &sum);
        if (frix_sim_step(w.sim, w.h, &r) != FRIX_OK) break;
      }
      world_close(&w);
    }
  }
  fx_test_note(t, "%ld steps: %ld smooth, %ld kinks, %ld refused; %ld derivatives to %.1e, %ld over kinks, %ld wrong",
               sum.steps, sum.smooth, sum.kinks, sum.refused, sum.derivatives, sum.worst, sum.apart, sum.wrong);
  CHECK(t, which || sum.derivatives > 20);
}

const fx_test_row test_step_attack[] = {{"step_attack/random", attack}, {0}};
