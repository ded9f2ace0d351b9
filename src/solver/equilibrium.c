/* Does an equilibrium exist, and up to which load? Island by island,
 *
 *   verdict   0                A x = -f,           x in C
 *   largest   max t            A x + t l = -f,     x in C
 *
 * by cone_lp.c. What comes back is judged by problem/statics.c: forces that balance, or a velocity that shows there are
 * none; neither is believed without. */
#include "solver/equilibrium_internal.h"

#include "solver/equilibrium_programme.h"
#include "solver/load_path.h"

#include <math.h>
#include <string.h>

/* A mechanism counts where it excludes normal forces up to so many times the load. */
#define EXCLUDED 1e3
/* Relative width of a bracket that is not looked at again. */
#define SHARP 1e-8
/* Of residuals and gap of a programme: forces that are so near balance by the least change, where they exist. */
#define COARSE 1e-4
#define FINE 1e-12
/* Imbalance that is rounding. */
#define EXACT 1e-12
/* Factors up to so many times what makes the varied load as large as the other are excluded where none stands. */
#define FAR 1e6

enum { MOST_CAREFUL = 30000 }; /* unknowns of the linear systems that lose less to rounding */

typedef struct search {
  fx_arena *arena;
  const fx_statics *statics;
  fx_equilibrium_goal goal;
  double tolerance, most_cost;
  double *r, *v, *workspace, *u, *zero, *found; /* found: v of the best mechanism of the island at hand */
  fx_equilibrium *out;
} search;

static void keep_forces(search *q, const fx_statics_part *part) {
  const fx_system *s = q->statics->s;
  for (int32_t c = 0; c < part->contact_count; c++) {
    int32_t i = part->contact[c];
    memcpy(q->out->r + s->row[i], q->r + s->row[i], (size_t)s->contact[i].dim * sizeof *q->r);
  }
}

static void keep_velocity(search *q, const fx_statics_part *part) {
  const fx_system *s = q->statics->s;
  for (int32_t e = 0; e < part->mover_count; e++) {
    int32_t m = part->mover[e];
    memcpy(q->found + s->dof[m], q->v + s->dof[m], (size_t)(s->dof[m + 1] - s->dof[m]) * sizeof *q->v);
  }
}

/* What one island came to. */
typedef struct finding {
  frix_standing standing;
  double stands, falls, imbalance, force;
  fx_collapse mechanism;
  bool any_load; /* is held, however large */
} finding;

/* x of the programme as it is. */
static void judge_forces_at(search *q, fx_programme *p, finding *f) {
  double scale = p->lp.tau;
  double factor = p->lp.a ? fx_programme_factor(p, scale) : 0;
  fx_programme_forces(p, scale, q->r);
  double imbalance = fx_statics_imbalance(q->statics, p->part, factor, q->r, q->workspace);
  if (!(imbalance <= q->tolerance)) {
    if (imbalance < f->imbalance) f->imbalance = imbalance;
    return;
  }
  if (f->standing == FRIX_STANDING_STANDS && factor < f->stands) return;
  f->imbalance = imbalance;
  f->standing = FRIX_STANDING_STANDS;
  f->stands = p->lp.a ? factor : INFINITY;
  keep_forces(q, p->part);
}

static void judge_forces(search *q, fx_programme *p, finding *f) {
  fx_cone_lp_balance(&p->lp);
  judge_forces_at(q, p, f);
}

/* Power beyond what the law lets forces up to `force` take. */
static void judge_velocity(search *q, fx_programme *p, double factor, finding *f) {
  fx_cone_lp_balance_dual(&p->lp);
  fx_programme_velocity(p, q->v);
  fx_collapse m = fx_statics_mechanism(q->statics, p->part, q->v, q->u);
  double force = EXCLUDED * fx_statics_size(q->statics, p->part, isfinite(factor) ? factor : 0);
  double resists = force * m.leak + m.held;
  if (p->lp.a ? !(m.gain > 0 && (resists - m.power) / m.gain < f->falls) : !(m.power > resists)) return;
  f->mechanism = m;
  f->force = force;
  if (!p->lp.a) f->standing = FRIX_STANDING_FALLS;
  f->falls = p->lp.a ? (resists - m.power) / m.gain : -INFINITY;
  keep_velocity(q, p->part);
}

/* Whether the varied load acts on any body of the part, or an actuator. */
static bool is_loaded(const fx_statics *t, const fx_statics_part *part) {
  for (int32_t c = 0; t->paid && c < part->contact_count; c++)
    if (t->paid[part->contact[c]]) return true;
  for (int32_t e = 0; e < part->mover_count; e++)
    for (int32_t k = t->s->dof[part->mover[e]]; k < t->s->dof[part->mover[e] + 1]; k++)
      if (t->load[k] != 0) return true;
  return false;
}

/* No factor has an equilibrium: the mechanism's power does not depend on it, for factors as large as matter. */
static void judge_nowhere(search *q, fx_programme *p, finding *f) {
  fx_programme_velocity(p, q->v);
  fx_collapse m = fx_statics_mechanism(q->statics, p->part, q->v, q->u);
  double force = EXCLUDED * fx_statics_size(q->statics, p->part, 0);
  double largest = FAR * p->force_scale / p->load_scale;
  if (!(m.power > force * m.leak + m.held + largest * fabs(m.gain))) return;
  f->mechanism = m;
  f->force = force;
  f->standing = FRIX_STANDING_FALLS;
  f->falls = -INFINITY;
  keep_velocity(q, p->part);
}

/* Forces that hold the load alone, and more and more of it: with those of an equilibrium they hold any load. */
static bool holds_load(search *q, fx_programme *p) {
  fx_statics alone = *q->statics;
  alone.force = alone.given = q->zero;
  fx_cone_lp_balance(&p->lp);
  fx_programme_forces(p, p->lp.t * p->force_scale / p->load_scale, q->r);
  return fx_statics_imbalance(&alone, p->part, 1, q->r, q->workspace) <= q->tolerance;
}

static bool is_exact(const finding *f) { return f->standing == FRIX_STANDING_STANDS && f->imbalance <= EXACT; }

/* Both, of where the programme ended. A mechanism has more weight than forces that are nearly in balance. */
static void judge(search *q, fx_programme *p, fx_cone_lp_end end, finding *f) {
  bool largest = p->lp.a != NULL;
  if (end == FX_CONE_LP_INFEASIBLE && largest) {
    fx_cone_lp_balance_dual(&p->lp);
    judge_nowhere(q, p, f);
  } else if (end == FX_CONE_LP_UNBOUNDED) {
    f->any_load = holds_load(q, p);
  } else {
    if (end != FX_CONE_LP_INFEASIBLE) judge_forces(q, p, f);
    if (largest || !is_exact(f)) judge_velocity(q, p, largest ? fx_programme_factor(p, p->lp.tau) : 0, f);
  }
}

static bool is_sharp(const fx_programme *p, const finding *f) {
  if (f->standing == FRIX_STANDING_FALLS || f->any_load) return true;
  if (!p->lp.a || !isfinite(f->stands)) return is_exact(f);
  return f->falls - f->stands <= SHARP * fmax(fabs(f->stands), fabs(f->falls));
}

/* The least of the forces that balance in place of those that were found first, none where contacts carry none. */
static frix_status take_least(search *q, fx_arena *arena, fx_programme *p, finding *f) {
  finding least = {.stands = -INFINITY, .imbalance = INFINITY}, without = least;
  bool *idle = FX_TAKE(arena, bool, p->unit_count);
  if (!idle) return FRIX_ERROR_MEMORY;
  fx_cone_lp_balance(&p->lp);
  fx_cone_qp_least(&p->lp, p->weight);
  judge_forces(q, p, &least);
  if (least.standing == FRIX_STANDING_STANDS) f->imbalance = least.imbalance;
  if (fx_cone_qp_drop_idle(&p->lp, p->weight, idle)) judge_forces_at(q, p, &without);
  if (without.standing == FRIX_STANDING_STANDS) f->imbalance = without.imbalance;
  return FRIX_OK;
}

/* Whether nothing acts on the part but the varied load. */
static bool is_weightless(const fx_statics *t, const fx_statics_part *part) {
  for (int32_t e = 0; e < part->mover_count; e++)
    for (int32_t k = t->s->dof[part->mover[e]]; k < t->s->dof[part->mover[e] + 1]; k++)
      if (t->force[k] != 0) return false;
  for (int32_t c = 0; c < part->contact_count; c++)
    if (t->kind[part->contact[c]] == FX_STATICS_GIVEN) return false;
  return true;
}

/* No forces at all. */
static void stand_without(search *q, const fx_statics_part *part, finding *f) {
  const fx_system *s = q->statics->s;
  for (int32_t c = 0; c < part->contact_count; c++) {
    int32_t i = part->contact[c];
    memset(q->r + s->row[i], 0, (size_t)s->contact[i].dim * sizeof *q->r);
  }
  f->imbalance = fx_statics_imbalance(q->statics, part, 0, q->r, q->workspace);
  f->standing = FRIX_STANDING_STANDS;
  f->stands = 0;
  keep_forces(q, part);
}

/* Forces that follow from the loads body by body, where these are enough. */
static frix_status follow_loads(search *q, const fx_statics_part *part, finding *f) {
  fx_arena arena;
  int32_t left;
  fx_arena_init(&arena, q->arena->context);
  frix_status status = fx_load_path_find(&arena, q->statics, part, 0, q->r, &left);
  fx_arena_free(&arena);
  if (status != FRIX_OK || left != 0) return status;
  double imbalance = fx_statics_imbalance(q->statics, part, 0, q->r, q->workspace);
  if (!(imbalance <= EXACT)) return FRIX_OK;
  *f = (finding){.standing = FRIX_STANDING_STANDS, .stands = INFINITY, .falls = INFINITY, .imbalance = imbalance};
  keep_forces(q, part);
  return FRIX_OK;
}

static frix_status search_part(search *q, const fx_statics_part *part, const int32_t *place, bool largest, finding *f) {
  fx_arena arena;
  fx_programme p;
  bool affordable = false;
  *f = (finding){.stands = -INFINITY, .falls = INFINITY, .imbalance = INFINITY};
  if (is_weightless(q->statics, part)) stand_without(q, part, f);
  frix_status status = FRIX_OK;
  if (!largest && is_exact(f)) f->stands = INFINITY;
  if (!largest && !is_exact(f) && part->mover_count >= FX_LOAD_PATH_BODIES) status = follow_loads(q, part, f);
  if (status != FRIX_OK || (!largest && is_exact(f))) return status;
  fx_arena_init(&arena, q->arena->context);
  status = fx_programme_take(&arena, q->statics, part, place, largest, q->most_cost, &p, &affordable);
  if (status == FRIX_OK && affordable && fx_cone_lp_unreached(&p.lp)) judge_nowhere(q, &p, f);
  if (status == FRIX_OK && affordable && f->standing != FRIX_STANDING_FALLS) {
    judge(q, &p, fx_cone_lp_solve(&p.lp, largest ? FINE : COARSE), f);
    if (!is_sharp(&p, f) && !largest) judge(q, &p, fx_cone_lp_go_on(&p.lp, FINE), f);
    bool finish = !is_sharp(&p, f) && p.lp.variable_count + p.lp.row_count <= MOST_CAREFUL;
    if (finish) status = fx_cone_lp_be_careful(&arena, &p.lp);
    if (finish && status == FRIX_OK) judge(q, &p, fx_cone_lp_go_on(&p.lp, FINE), f);
    if (status == FRIX_OK && !largest && f->standing == FRIX_STANDING_STANDS) status = take_least(q, &arena, &p, f);
    q->out->steps += p.lp.steps;
    fx_cone_lp_free(&p.lp);
  }
  fx_arena_free(&arena);
  return status;
}

/* An island without a varied load stands for all factors or for none; so does one that holds any of it, where it stands
 * without. */
static frix_status search_island(search *q, const fx_statics_part *part, const int32_t *place, finding *f) {
  bool loaded = q->goal == FX_EQUILIBRIUM_LARGEST && is_loaded(q->statics, part);
  frix_status status = FRIX_OK;
  *f = (finding){0};
  if (loaded) status = search_part(q, part, place, true, f);
  if (status == FRIX_OK && (!loaded || f->any_load)) status = search_part(q, part, place, false, f);
  return status;
}

/* ---- all islands ---- */

static void note(search *q, const fx_statics_part *part, const finding *f) {
  fx_equilibrium *out = q->out;
  const fx_system *s = q->statics->s;
  bool largest = q->goal == FX_EQUILIBRIUM_LARGEST;
  bool first_to_fall =
      largest ? f->falls < out->falls : f->standing == FRIX_STANDING_FALLS && out->standing != FRIX_STANDING_FALLS;
  for (int32_t c = 0; c < part->contact_count; c++) {
    int32_t i = part->contact[c];
    out->island[i] = (uint8_t)f->standing;
  }
  if (first_to_fall) {
    memset(out->v, 0, (size_t)s->dof_count * sizeof *out->v);
    for (int32_t e = 0; e < part->mover_count; e++) {
      int32_t m = part->mover[e];
      memcpy(out->v + s->dof[m], q->found + s->dof[m], (size_t)(s->dof[m + 1] - s->dof[m]) * sizeof *out->v);
    }
    out->mechanism = f->mechanism;
    out->force = f->force;
  }
  if (f->standing == FRIX_STANDING_FALLS || out->standing == FRIX_STANDING_STANDS) out->standing = f->standing;
  if (f->stands < out->stands) out->stands = f->stands;
  if (f->falls < out->falls) out->falls = f->falls;
  if (!(f->imbalance <= out->imbalance)) out->imbalance = f->imbalance;
}

double fx_equilibrium_loose(int32_t dof, const double *f, const double *l) {
  double fl = 0, ll = 0, ff = 0, rest = 0;
  for (int32_t k = 0; k < dof; k++) {
    ff += f[k] * f[k];
    if (l) fl += f[k] * l[k], ll += l[k] * l[k];
  }
  if (!(ll > 0)) return ff > 0 ? -INFINITY : INFINITY;
  for (int32_t k = 0; k < dof; k++) rest += (f[k] - fl / ll * l[k]) * (f[k] - fl / ll * l[k]);
  return rest <= 1e-24 * ff ? -fl / ll : -INFINITY;
}

static void note_loose(search *q, int32_t m) {
  const fx_statics *t = q->statics;
  int32_t first = t->s->dof[m], dof = t->s->dof[m + 1] - first;
  fx_statics_part part = {0, 1, NULL, &m};
  double factor = fx_equilibrium_loose(dof, t->force + first, t->load ? t->load + first : NULL);
  finding f = {
      .standing = factor == -INFINITY ? FRIX_STANDING_FALLS : FRIX_STANDING_STANDS, .stands = factor, .falls = factor};
  memcpy(q->found + first, isfinite(factor) ? t->load + first : t->force + first, (size_t)dof * sizeof *q->found);
  f.mechanism = fx_statics_mechanism(t, &part, q->found, q->u);
  note(q, &part, &f);
}

static frix_status take(search *q) {
  const fx_system *s = q->statics->s;
  q->r = FX_TAKE(q->arena, double, s->row_count);
  q->u = FX_TAKE(q->arena, double, s->row_count);
  q->v = FX_TAKE(q->arena, double, s->dof_count);
  q->found = FX_TAKE(q->arena, double, s->dof_count);
  q->zero = FX_TAKE(q->arena, double, (size_t)s->dof_count + (size_t)s->row_count);
  q->workspace = FX_TAKE(q->arena, double, (size_t)s->dof_count + (size_t)s->mover_count);
  q->out->r = FX_TAKE(q->arena, double, s->row_count);
  q->out->v = FX_TAKE(q->arena, double, s->dof_count);
  q->out->island = FX_TAKE(q->arena, uint8_t, s->contact_count);
  bool good = q->r && q->u && q->v && q->found && q->zero && q->workspace;
  return good && q->out->r && q->out->v && q->out->island ? FRIX_OK : FRIX_ERROR_MEMORY;
}

frix_status fx_equilibrium_find(fx_arena *arena, const fx_statics *statics, fx_equilibrium_goal goal, double tolerance,
                                double most_cost, fx_equilibrium *out) {
  const fx_system *s = statics->s;
  *out = (fx_equilibrium){.standing = FRIX_STANDING_STANDS, .stands = INFINITY, .falls = INFINITY};
  search q = {
      .arena = arena, .statics = statics, .goal = goal, .tolerance = tolerance, .most_cost = most_cost, .out = out};
  frix_status status = take(&q);
  if (status != FRIX_OK) return status;
  uint8_t *used = FX_TAKE(arena, uint8_t, s->contact_count), *held = FX_TAKE(arena, uint8_t, s->mover_count);
  if (!used || !held) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < s->contact_count; i++) used[i] = statics->kind[i] != FX_STATICS_OPEN;
  fx_islands islands;
  if ((status = fx_islands_find(arena, s, used, &islands)) != FRIX_OK) return status;
  for (int32_t k = 0; k < islands.count && status == FRIX_OK; k++) {
    fx_statics_part part = {islands.start[k + 1] - islands.start[k],
                            islands.mover_start[k + 1] - islands.mover_start[k], islands.contact + islands.start[k],
                            islands.mover + islands.mover_start[k]};
    finding f;
    for (int32_t e = 0; e < part.mover_count; e++) held[part.mover[e]] = 1;
    status = search_island(&q, &part, islands.mover_place, &f);
    if (status == FRIX_OK) note(&q, &part, &f);
  }
  for (int32_t m = 0; m < s->mover_count && status == FRIX_OK; m++)
    if (!held[m]) note_loose(&q, m);
  return status;
}
