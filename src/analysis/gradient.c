/* Derivatives of a certified answer, forward and adjoint.
 *
 *   forward   dq = dw + H'M^-1 df + dR (r - r_c) - R dr_c,   K dz = -J G S dq + E dmu
 *             dr = S dz,   dv = M^-1 (H dr + df),   du = (W + R) dr + dq
 *   adjoint   K'y = S (H'M^-1 c_v + (W + R)'c_u),   g_q = c_u - S (J G)'y
 *             g_w = g_q,   g_f = M^-1 (c_v + H g_q),   g_mu = E . y,   g_R = g_q (r - r_c),   g_rc = -R g_q */
#include "analysis/gradient.h"

#include "base/abi.h"
#include "linalg/dense.h"
#include "sim/sim_internal.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

#define CONSISTENT 1e-12        /* of a right-hand side: what is outside the range of K beyond this is not rounding */
#define ROUNDED 1e-10           /* the same of sparse factors, whose compliance is taken out by rounds */
enum { MOST_TREE_DOFS = 1024 }; /* whose velocities are refined */

const char *frix_gradient_verdict_name(frix_gradient_verdict verdict) {
  static const char *const name[] = {"smooth", "kink", "not unique", "smoothed"};
  return (unsigned)verdict < sizeof name / sizeof *name ? name[verdict] : "unknown";
}

/* ---- setup ---- */

static frix_status invert_masses(frix_gradient *g) {
  const fx_system *s = &g->s;
  if (!s->has_velocity) return FRIX_OK;
  const double *M = fx_system_mass(s);
  g->inverse = FX_TAKE(&g->arena, double, s->M_offset[s->mover_count]);
  if (!M || !g->inverse) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < s->mover_count; m++) {
    int32_t n = s->dof[m + 1] - s->dof[m], *pivot = FX_TAKE(&g->arena, int32_t, n);
    double *lu = FX_TAKE(&g->arena, double, (size_t)n *(size_t)n), *to = g->inverse + s->M_offset[m];
    if (!pivot || !lu) return FRIX_ERROR_MEMORY;
    memcpy(lu, M + s->M_offset[m], (size_t)n * (size_t)n * sizeof *lu);
    if (!fx_lu_factor(n, lu, pivot)) return fx_fail(g->context, FRIX_ERROR_INPUT, "gradient: M is singular");
    for (int32_t k = 0; k < n; k++) {
      to[k * n + k] = 1;
      fx_lu_solve(n, lu, pivot, to + (size_t)(k * n)); /* rows of the inverse: M is symmetric */
    }
  }
  return FRIX_OK;
}

/* The answer, at the centre of its forces where these are not unique: it is then inside whatever can be. */
static frix_status take_answer(frix_gradient *g) {
  frix_forces *f = g->forces;
  memcpy(g->r, f->r, (size_t)g->s.row_count * sizeof *g->r);
  g->forces_unique = true;
  if (f->freedom > 0) {
    frix_status status = frix_forces_centre(f, g->r, g->r + f->problem->row_count, NULL);
    if (status != FRIX_OK) return status;
  }
  fx_system_velocity(&f->s, g->r, g->u, g->v);
  return FRIX_OK;
}

/* kappa > 0: on the central path. */
static frix_status build(frix_gradient *g, double kappa) {
  frix_status status = FRIX_OK;
  g->s = g->forces->s;
  const fx_system *s = &g->s;
  size_t rows = (size_t)s->row_count, contacts = (size_t)s->contact_count, at = 0;
  g->r = FX_TAKE(&g->arena, double, rows);
  g->u = FX_TAKE(&g->arena, double, rows);
  g->v = FX_TAKE(&g->arena, double, s->dof_count);
  g->E = FX_TAKE(&g->arena, double, rows);
  g->among = FX_TAKE(&g->arena, uint8_t, contacts);
  g->block = FX_TAKE(&g->arena, size_t, contacts);
  g->J = FX_TAKE(&g->arena, double, rows *FRIX_MAX_DIM);
  g->JG = FX_TAKE(&g->arena, double, rows *FRIX_MAX_DIM);
  if (!g->r || !g->u || !g->v || !g->E || !g->among || !g->block || !g->J || !g->JG) return FRIX_ERROR_MEMORY;
  for (size_t i = 0; i < contacts; i++) {
    g->block[i] = at;
    at += (size_t)(s->contact[i].dim * s->contact[i].dim);
  }
  status = invert_masses(g);
  if (status == FRIX_OK) status = take_answer(g);
  if (status == FRIX_OK && kappa > 0) return fx_gradient_smooth(g, kappa);
  if (status == FRIX_OK) status = fx_gradient_modes(g);
  if (status == FRIX_OK) status = fx_gradient_factor_all(g);
  return status == FRIX_OK ? fx_gradient_polish(g) : status;
}

frix_status fx_gradient_factor_all(frix_gradient *g) {
  frix_status status = fx_islands_find(&g->arena, &g->s, g->among, &g->islands);
  if (status != FRIX_OK) return status;
  g->island = FX_TAKE(&g->arena, fx_gradient_island, g->islands.count);
  if (!g->island) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; status == FRIX_OK && k < g->islands.count; k++) status = fx_gradient_factor(g, k);
  return status;
}

/* How the answer is taken. */
typedef struct manner {
  double kappa; /* above 0: on the central path */
  bool as_is;   /* at the forces at hand, though others may be possible */
  bool known;   /* to be smooth, and certified */
} manner;

/* The answer as it was corrected: the one that is differentiated. */
static frix_status judge(frix_gradient *g) {
  fx_arena own;
  fx_arena_init(&own, g->context);
  frix_certificate *c = &g->forces->certificate;
  frix_status status = fx_certify_system(&own, g->forces->problem, &g->s, FRIX_LAW_COULOMB, g->r, g->u, g->v, c);
  fx_arena_free(&own);
  if (status != FRIX_OK || c->residual <= g->forces->tolerance) return status;
  return fx_fail(g->context, FRIX_ERROR_CERTIFICATE, "no certified answer: its residual is %.2e, above %.2e",
                 c->residual, g->forces->tolerance);
}

/* own: the problem itself, where the gradient is to keep it. *out is to be destroyed whatever comes of it. */
static frix_status create(frix_context *context, const frix_problem *problem, frix_problem *own,
                          const frix_forces_config *config, manner how, frix_gradient **out) {
  frix_gradient *g = FX_NEW(context, frix_gradient, 1);
  if (!g) {
    frix_problem_destroy(own);
    return FRIX_ERROR_MEMORY;
  }
  g->context = context;
  g->own = own;
  fx_arena_init(&g->arena, context);
  g->known = how.known;
  g->noise = 1e-8;
  frix_status status = fx_forces_open(context, problem, config, !how.as_is, !how.as_is, &g->forces);
  if (status == FRIX_OK) status = build(g, how.kappa);
  if (status == FRIX_OK && !how.known && !(how.kappa > 0)) status = judge(g);
  *out = g;
  return status;
}

static frix_status check_kappa(frix_context *context, double kappa) {
  if (kappa > 0 && kappa <= 1) return FRIX_OK;
  return fx_fail(context, FRIX_ERROR_INPUT, "gradient: kappa is a share of what bodies carry, above 0 and at most 1");
}

static frix_status create_of_problem(frix_context *context, const frix_problem *problem,
                                     const frix_forces_config *config, double kappa, frix_gradient **out) {
  frix_status status = create(context, problem, NULL, config, (manner){.kappa = kappa}, out);
  if (status != FRIX_OK) frix_gradient_destroy(*out), *out = NULL;
  return status;
}

frix_status frix_gradient_create(frix_context *context, const frix_problem *problem, const frix_forces_config *config,
                                 frix_gradient **out) {
  if (out) *out = NULL;
  if (!context || !problem || !out) return FRIX_ERROR_INPUT;
  return create_of_problem(context, problem, config, 0, out);
}

frix_status frix_gradient_smoothed(frix_context *context, const frix_problem *problem, const frix_forces_config *config,
                                   double kappa, frix_gradient **out) {
  if (out) *out = NULL;
  if (!context || !problem || !out) return FRIX_ERROR_INPUT;
  frix_status status = check_kappa(context, kappa);
  return status == FRIX_OK ? create_of_problem(context, problem, config, kappa, out) : status;
}

void frix_gradient_destroy(frix_gradient *g) {
  if (!g) return;
  frix_forces_destroy(g->forces);
  frix_problem_destroy(g->own);
  fx_arena_free(&g->arena);
  fx_free(g->context, g);
}

/* ---- of a step ---- */

static frix_status list_bodies(frix_gradient *g, const frix_sim *sim) {
  g->body = FX_TAKE(&g->arena, frix_body_id, sim->mover_count);
  g->body_first = FX_TAKE(&g->arena, int32_t, sim->mover_count);
  g->body_dofs = FX_TAKE(&g->arena, int32_t, sim->mover_count);
  if (!g->body || !g->body_first || !g->body_dofs) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    if (m->tree || m->first < 0) continue;
    g->body[g->body_count] = fx_slot_id(sim, m->slot);
    g->body_first[g->body_count] = m->first;
    g->body_dofs[g->body_count++] = m->dof;
  }
  return FRIX_OK;
}

static frix_status create_of_step(const frix_sim *sim, const frix_forces_config *config, manner how,
                                  frix_gradient **out) {
  frix_problem *problem = NULL;
  frix_status status = frix_sim_problem(sim, &problem);
  if (status != FRIX_OK) return status;
  frix_forces_config own;
  frix_forces_init(&own, sizeof own);
  if (config) own.tolerance = config->tolerance;
  own.r = sim->rows.r;
  own.lambda = sim->rows.r + problem->row_count;
  if (sim->rows.compression)
    status = fx_fail(sim->context, FRIX_ERROR_UNSUPPORTED, "gradient: Poisson's law has two phases");
  if (status == FRIX_OK) {
    status = create(sim->context, problem, problem, &own, how, out);
    if (status == FRIX_OK) status = list_bodies(*out, sim);
    if (status != FRIX_OK) frix_gradient_destroy(*out), *out = NULL;
    return status;
  }
  frix_problem_destroy(problem);
  return status;
}

/* The centre of the forces costs more than the step. Modes that are clear at the answer of the solver are those at any
 * forces that move nothing: the centre is asked for only where they are not. */
static frix_status differentiate_step(const frix_sim *sim, const frix_forces_config *config, bool known,
                                      frix_gradient **out) {
  frix_status status = create_of_step(sim, config, (manner){.as_is = true, .known = known}, out);
  if (status == FRIX_OK && (*out)->verdict == FRIX_GRADIENT_SMOOTH) return status;
  if (status != FRIX_OK && status != FRIX_ERROR_CERTIFICATE) return status;
  frix_gradient_destroy(*out);
  return create_of_step(sim, config, (manner){0}, out);
}

frix_status frix_gradient_of_step(const frix_sim *sim, const frix_forces_config *config, frix_gradient **out) {
  if (out) *out = NULL;
  return sim && out ? differentiate_step(sim, config, false, out) : FRIX_ERROR_INPUT;
}

frix_status fx_gradient_of_step(const frix_sim *sim, bool known, frix_gradient **out) {
  *out = NULL;
  return differentiate_step(sim, NULL, known, out);
}

frix_status frix_gradient_of_step_smoothed(const frix_sim *sim, const frix_forces_config *config, double kappa,
                                           frix_gradient **out) {
  if (out) *out = NULL;
  if (!sim || !out) return FRIX_ERROR_INPUT;
  frix_status status = check_kappa(sim->context, kappa);
  return status == FRIX_OK ? create_of_step(sim, config, (manner){.kappa = kappa}, out) : status;
}

frix_status frix_gradient_body(const frix_gradient *g, frix_body_id body, int32_t *first, int32_t *count) {
  if (!g || !first || !count) return FRIX_ERROR_INPUT;
  *first = *count = 0;
  for (int32_t k = 0; k < g->body_count; k++)
    if (g->body[k].index == body.index && g->body[k].generation == body.generation)
      *first = g->body_first[k], *count = g->body_dofs[k];
  return FRIX_OK;
}

void frix_gradient_view_sized(const frix_gradient *g, frix_gradient_result *out, size_t size) {
  if (!g || !out) return;
  const frix_problem *p = g->forces->problem;
  frix_gradient_result all = {.size = sizeof all,
                              .verdict = g->verdict,
                              .distance = g->distance,
                              .contact = g->contact,
                              .forces_unique = g->forces_unique,
                              .certificate = g->forces->certificate,
                              .contact_count = p->contact_count,
                              .row_count = p->row_count,
                              .dof_count = p->dof_count,
                              .joint_count = p->joint_count,
                              .r = g->r,
                              .lambda = g->r + p->row_count,
                              .u = g->u,
                              .v = g->s.has_velocity ? g->v : NULL};
  fx_give_struct(out, size, &all, sizeof all);
}

/* ---- products ---- */

/* out = M^-1 x */
static void over_mass(const frix_gradient *g, const double *x, double *out) {
  const fx_system *s = &g->s;
  for (int32_t m = 0; m < s->mover_count; m++) {
    int32_t n = s->dof[m + 1] - s->dof[m];
    for (int32_t r = 0; r < n; r++) {
      out[s->dof[m] + r] = 0;
      for (int32_t c = 0; c < n; c++)
        out[s->dof[m] + r] += g->inverse[s->M_offset[m] + (size_t)(r * n + c)] * x[s->dof[m] + c];
    }
  }
}

/* y += M^-1 (x - M y) of trees: M^-1 as a matrix leaves |M^-1| |M| |M^-1| |x| of rounding, a round the rounding of M.
 */
static void refine_velocity(const frix_gradient *g, const double *x, double *y) {
  const fx_system *s = &g->s;
  const double *M = fx_system_mass(s);
  for (int32_t m = 0; M && m < s->mover_count; m++) {
    int32_t n = s->dof[m + 1] - s->dof[m], first = s->dof[m];
    double left[MOST_TREE_DOFS];
    if (n <= 6 || n > MOST_TREE_DOFS) continue;
    for (int32_t r = 0; r < n; r++) {
      left[r] = x[first + r];
      for (int32_t c = 0; c < n; c++) left[r] -= M[s->M_offset[m] + (size_t)(r * n + c)] * y[first + c];
    }
    for (int32_t r = 0; r < n; r++)
      for (int32_t c = 0; c < n; c++) y[first + r] += g->inverse[s->M_offset[m] + (size_t)(r * n + c)] * left[c];
  }
}

static frix_status check_smooth(const frix_gradient *g) {
  if (g->verdict == FRIX_GRADIENT_SMOOTH || g->verdict == FRIX_GRADIENT_SMOOTHED) return FRIX_OK;
  return fx_fail(g->context, FRIX_ERROR_UNSUPPORTED, "no derivative: %s, contact %d is %.1e from a change of its mode",
                 frix_gradient_verdict_name(g->verdict), g->contact, g->distance);
}

frix_status fx_gradient_solve_all(const frix_gradient *g, fx_arena *arena, bool transposed, double *b) {
  double *part = FX_TAKE(arena, double, g->s.row_count), *y = FX_TAKE(arena, double, 3 * (size_t)g->s.row_count);
  double *out = FX_TAKE(arena, double, g->s.row_count);
  if (!part || !y || !out) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < g->islands.count; k++) {
    const fx_gradient_island *is = &g->island[k];
    for (int32_t e = 0; e < is->n; e++) part[e] = b[is->row[e]];
    double off = is->sparse ? fx_gradient_sparse_solve(g, is->sparse, transposed, part)
                            : fx_gradient_solve(is, transposed, part, y);
    if (!(off <= fmax(is->sparse ? ROUNDED : CONSISTENT, g->rounded)))
      return fx_fail(g->context, FRIX_ERROR_UNSUPPORTED,
                     "no derivative: rigid contacts cannot follow this change without opening or sliding");
    for (int32_t e = 0; e < is->n; e++) out[is->row[e]] = part[e];
  }
  memcpy(b, out, (size_t)g->s.row_count * sizeof *b);
  return FRIX_OK;
}

/* JG x or (JG)'x of contact i. */
static void times_JG(const frix_gradient *g, int32_t i, bool transposed, const double *x, double *out) {
  int32_t d = g->s.contact[i].dim;
  const double *JG = g->JG + g->block[i];
  for (int32_t a = 0; a < d; a++) {
    out[a] = 0;
    for (int32_t b = 0; b < d; b++) out[a] += (transposed ? JG[b * d + a] : JG[a * d + b]) * x[b];
  }
}

/* ---- forward ---- */

static frix_status drive(const frix_gradient *g, const frix_gradient_data *data, double *dv, double *dq) {
  const fx_system *s = &g->s;
  const frix_problem *p = g->forces->problem;
  int32_t rows = p->row_count;
  for (int32_t k = 0; k < rows; k++) {
    if (data->w) dq[k] += data->w[k];
    if (data->R) dq[k] += data->R[k] * (g->r[k] - (p->r_c ? p->r_c[k] : 0));
    if (data->r_c && s->R) dq[k] -= s->R[k] * data->r_c[k];
  }
  for (int32_t k = 0; data->b && k < p->joint_count; k++) dq[rows + k] += data->b[k];
  if (!data->f) return FRIX_OK;
  if (!s->has_velocity) return fx_fail(g->context, FRIX_ERROR_INPUT, "a reduced problem has no f: give w, of q");
  over_mass(g, data->f, dv);
  fx_block_multiply_add(&s->Ht, dv, dq);
  return FRIX_OK;
}

/* The change of v that goes with the change z of impulses. */
static void find_velocity(const frix_gradient *g, const frix_gradient_data *data, const double *z, double *moved,
                          double *dv) {
  const fx_system *s = &g->s;
  size_t bytes = (size_t)s->dof_count * sizeof *moved;
  memset(moved, 0, bytes), memset(dv, 0, bytes);
  if (data->f) over_mass(g, data->f, dv);
  fx_block_transpose_multiply_add(fx_system_response(s), z, moved);
  for (int32_t k = 0; k < s->dof_count; k++) dv[k] += moved[k];
  memset(moved, 0, bytes);
  if (data->f) memcpy(moved, data->f, bytes);
  fx_block_transpose_multiply_add(&s->Ht, z, moved);
  refine_velocity(g, moved, dv);
}

/* du = H'dv + dq + R dz, dq what data changes of it directly. */
static void find_speeds(const frix_gradient *g, const frix_gradient_data *data, const double *dv, const double *z,
                        double *du) {
  frix_gradient_data direct = *data;
  direct.f = NULL;
  memset(du, 0, (size_t)g->s.row_count * sizeof *du);
  drive(g, &direct, NULL, du);
  fx_block_multiply_add(&g->s.Ht, dv, du);
  for (int32_t k = 0; g->s.R && k < g->s.row_count; k++) du[k] += g->s.R[k] * z[k];
}

/* Trees: a round on what z leaves of the law, E dmu - (I - J) dz - J G S du, where du takes dv as it is refined. K
 * holds W = H'M^-1 H with the rounding of M^-1. */
static frix_status refine_impulses(const frix_gradient *g, fx_arena *arena, const frix_gradient_data *data,
                                   const double *dv, double *z) {
  const fx_system *s = &g->s;
  double *du = FX_TAKE(arena, double, s->row_count), *left = FX_TAKE(arena, double, s->row_count);
  if (!du || !left) return FRIX_ERROR_MEMORY;
  find_speeds(g, data, dv, z, du);
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t row = s->row[i], d = s->contact[i].dim;
    double scaled[FRIX_MAX_DIM], S = g->forces->scale[i];
    double change = data->mu && i < g->forces->problem->contact_count ? data->mu[i] : 0;
    const double *J = g->J + g->block[i];
    if (!g->among[i]) continue;
    for (int32_t k = 0; k < d; k++) scaled[k] = -S * du[row + k];
    times_JG(g, i, false, scaled, left + row);
    for (int32_t k = 0; k < d; k++) {
      left[row + k] += g->E[row + k] * change;
      if (s->contact[i].cone == FRIX_CONE_BILATERAL) continue;
      left[row + k] -= z[row + k] / S;
      for (int32_t e = 0; e < d; e++) left[row + k] += J[k * d + e] * z[row + e] / S;
    }
  }
  if (fx_gradient_solve_all(g, arena, false, left) != FRIX_OK) return FRIX_OK; /* rounding alone */
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) z[k] += g->forces->scale[i] * left[k];
  return FRIX_OK;
}

static bool has_trees(const fx_system *s) {
  for (int32_t m = 0; m < s->mover_count; m++)
    if (s->dof[m + 1] - s->dof[m] > 6) return true;
  return false;
}

frix_status fx_gradient_along(const frix_gradient *g, fx_arena *arena, const frix_gradient_data *data, double *v,
                              double *u, double *r) {
  const fx_system *s = &g->s;
  const frix_problem *p = g->forces->problem;
  double *dq = FX_TAKE(arena, double, s->row_count), *z = FX_TAKE(arena, double, s->row_count);
  double *dv = FX_TAKE(arena, double, s->dof_count);
  if (!dq || !z || !dv) return FRIX_ERROR_MEMORY;
  frix_status status = drive(g, data, dv, dq);
  for (int32_t i = 0; status == FRIX_OK && i < s->contact_count; i++) {
    double scaled[FRIX_MAX_DIM], S = g->forces->scale[i], change = data->mu && i < p->contact_count ? data->mu[i] : 0;
    int32_t row = s->row[i], d = s->contact[i].dim;
    bool round = s->contact[i].cone == FRIX_CONE_CIRCULAR || s->contact[i].cone == FRIX_CONE_PLANAR;
    if (change != 0 && !round)
      return fx_fail(g->context, FRIX_ERROR_UNSUPPORTED, "contact %d: no derivative by the friction of this cone", i);
    if (change != 0 && fx_gradient_starts_friction(g, i))
      return fx_fail(g->context, FRIX_ERROR_UNSUPPORTED,
                     "contact %d: it has no friction and does not slip; what little of it does has no derivative", i);
    for (int32_t k = 0; k < d; k++) scaled[k] = -S * dq[row + k];
    times_JG(g, i, false, scaled, z + row);
    for (int32_t k = 0; k < d; k++) z[row + k] += g->E[row + k] * change;
  }
  if (status == FRIX_OK) status = fx_gradient_solve_all(g, arena, false, z);
  if (status != FRIX_OK) return status;
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) z[k] *= g->forces->scale[i];
  double *moved = FX_TAKE(arena, double, s->dof_count);
  if (!moved) return FRIX_ERROR_MEMORY;
  bool trees = s->has_velocity && has_trees(s);
  if (trees) {
    find_velocity(g, data, z, moved, dv);
    status = refine_impulses(g, arena, data, dv, z);
    if (status != FRIX_OK) return status;
    find_velocity(g, data, z, moved, dv);
    find_speeds(g, data, dv, z, dq);
  }
  if (r) memcpy(r, z, (size_t)p->row_count * sizeof *r);
  if (!trees && s->has_velocity) { /* W z */
    fx_block_transpose_multiply_add(fx_system_response(s), z, moved);
    fx_block_multiply_add(&s->Ht, moved, dq);
    for (int32_t k = 0; k < s->dof_count; k++) dv[k] += moved[k];
  } else if (!trees) {
    fx_block_multiply_add(&s->W, z, dq);
  }
  for (int32_t k = 0; !trees && s->R && k < s->row_count; k++) dq[k] += s->R[k] * z[k];
  if (u) memcpy(u, dq, (size_t)p->row_count * sizeof *u);
  if (v && s->has_velocity) memcpy(v, dv, (size_t)s->dof_count * sizeof *v);
  return FRIX_OK;
}

frix_status frix_gradient_forward(const frix_gradient *g, const frix_gradient_data *data, double *v, double *u,
                                  double *r) {
  if (!g || !data) return FRIX_ERROR_INPUT;
  frix_gradient_data none = {.size = sizeof none};
  FX_WHOLE(frix_gradient_data, data, none);
  if (data != &data_whole) return fx_fail(g->context, FRIX_ERROR_INPUT, "frix_gradient_data: its size is not known");
  frix_status status = check_smooth(g);
  if (status != FRIX_OK) return status;
  if (r && !g->forces_unique)
    return fx_fail(g->context, FRIX_ERROR_UNSUPPORTED, "forces are not unique: they have no derivative");
  fx_arena own;
  fx_arena_init(&own, g->context);
  status = fx_gradient_along(g, &own, data, v, u, r);
  fx_arena_free(&own);
  return status;
}

/* ---- adjoint ---- */

static frix_status adjoint(const frix_gradient *g, fx_arena *arena, const double *c_v, const double *c_u,
                           const frix_gradient_parts *out) {
  const fx_system *s = &g->s;
  const frix_problem *p = g->forces->problem;
  double *y = FX_TAKE(arena, double, s->row_count), *gq = FX_TAKE(arena, double, s->row_count);
  double *cu = FX_TAKE(arena, double, s->row_count), *mv = FX_TAKE(arena, double, s->dof_count);
  if (!y || !gq || !cu || !mv) return FRIX_ERROR_MEMORY;
  if (c_v && s->has_velocity) fx_block_multiply_add(fx_system_response(s), c_v, y);
  if (c_u) {
    memcpy(cu, c_u, (size_t)p->row_count * sizeof *cu);
    if (s->has_velocity) {
      fx_block_transpose_multiply_add(fx_system_response(s), cu, mv);
      fx_block_multiply_add(&s->Ht, mv, y);
      memset(mv, 0, (size_t)s->dof_count * sizeof *mv);
    } else {
      fx_block_transpose_multiply_add(&s->W, cu, y);
    }
    for (int32_t k = 0; s->R && k < s->row_count; k++) y[k] += s->R[k] * cu[k];
  }
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = s->row[i]; k < s->row[i + 1]; k++) y[k] *= g->forces->scale[i];
  frix_status status = fx_gradient_solve_all(g, arena, true, y);
  if (status != FRIX_OK) return status;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t row = s->row[i];
    double sum = 0;
    times_JG(g, i, true, y + row, gq + row);
    for (int32_t k = row; k < s->row[i + 1]; k++) {
      gq[k] = cu[k] - g->forces->scale[i] * gq[k];
      sum += g->E[k] * y[k];
    }
    if (out->mu && i < p->contact_count) out->mu[i] = sum;
  }
  for (int32_t k = 0; k < p->row_count; k++) {
    if (out->w) out->w[k] = gq[k];
    if (out->R) out->R[k] = gq[k] * (g->r[k] - (p->r_c ? p->r_c[k] : 0));
    if (out->r_c) out->r_c[k] = s->R ? -s->R[k] * gq[k] : 0;
  }
  for (int32_t k = 0; out->b && k < p->joint_count; k++) out->b[k] = gq[p->row_count + k];
  if (out->f && s->has_velocity) {
    if (c_v) memcpy(mv, c_v, (size_t)s->dof_count * sizeof *mv);
    fx_block_transpose_multiply_add(&s->Ht, gq, mv);
    over_mass(g, mv, out->f);
    refine_velocity(g, mv, out->f);
  }
  return FRIX_OK;
}

frix_status frix_gradient_adjoint(const frix_gradient *g, const double *c_v, const double *c_u,
                                  const frix_gradient_parts *out) {
  if (!g || !out) return FRIX_ERROR_INPUT;
  frix_gradient_parts none = {.size = sizeof none};
  FX_WHOLE(frix_gradient_parts, out, none);
  if (out != &out_whole) return fx_fail(g->context, FRIX_ERROR_INPUT, "frix_gradient_parts: its size is not known");
  frix_status status = check_smooth(g);
  if (status != FRIX_OK) return status;
  if (c_v && !g->s.has_velocity) return fx_fail(g->context, FRIX_ERROR_INPUT, "a reduced problem has no v: give c_u");
  fx_arena own;
  fx_arena_init(&own, g->context);
  status = adjoint(g, &own, c_v, c_u, out);
  fx_arena_free(&own);
  return status;
}
