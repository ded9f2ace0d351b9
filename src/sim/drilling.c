/* Drilling friction: the problem holds its bound as a known normal impulse; it is solved again until the bound agrees
 * with the normal impulse of the contact. */
#include "sim/solving.h"

#include <math.h>

enum { ROUNDS = 30, FAILURES = 3 };

/* Bounds of drilling friction from the contacts' normal impulses; true where one moved. */
bool fx_drilling_update(fx_assembly *a) {
  bool moved = false;
  for (int32_t k = 1; k < a->joint_first; k++) {
    if (a->group[k].kind != FX_GROUP_SPINNING) continue;
    double normal = a->r[a->group[k - 1].row], *bound = &a->r_c[a->group[k].row]; /* its contact stands just before */
    if (fabs(normal - *bound) > 1e-13 * fabs(normal)) moved = true;
    *bound = a->r[a->group[k].row] = normal;
  }
  return moved;
}

/* Bounds of drilling friction from the answer, friction kept within them, and the answer judged once more. False where
 * there is none. */
static bool set_bounds(fx_assembly *a) {
  bool any = false;
  fx_drilling_update(a);
  for (int32_t k = 1; k < a->joint_first; k++) {
    if (a->group[k].kind != FX_GROUP_SPINNING) continue;
    double *r = a->r + a->group[k].row, bound = a->law[k].mu * (r[0] > 0.0 ? r[0] : 0.0);
    if (fabs(r[1]) > bound) r[1] = r[1] > 0.0 ? bound : -bound;
    any = true;
  }
  return any;
}

/* Bounds of drilling friction follow the answer, until they agree or the problem is not solved again and again. */
frix_status fx_drilling_agree(frix_sim *sim, fx_assembly *a) {
  frix_status status = FRIX_OK;
  int failed = 0;
  for (int round = 0; status == FRIX_OK && round < ROUNDS && failed < FAILURES && fx_drilling_update(a); round++) {
    status = fx_solve_once(sim, a, true, INFINITY, NULL);
    failed = fx_certified(sim) ? 0 : failed + 1;
  }
  return status;
}

/* Friction and normal impulses of drilling contacts agree at last, or the certificate says that they do not. */
frix_status fx_drilling_judge(frix_sim *sim, fx_assembly *a) {
  frix_status status = FRIX_OK;
  int failed = 0;
  for (int round = 0; status == FRIX_OK && !sim->report.approximate && set_bounds(a); round++) {
    double *v = FX_TAKE_RAW(&sim->arena, double, sim->problem.dof_count);
    if (!v) return FRIX_ERROR_MEMORY;
    status = fx_rows_judge(sim, a, a->r, a->u, v, &sim->report.certificate);
    if (status != FRIX_OK) break;
    fx_put_answer(sim, v);
    if (fx_certified(sim) || round == ROUNDS || sim->deadline > 0.0) break;
    if (failed == FAILURES) break;
    status = fx_solve_once(sim, a, true, INFINITY, NULL);
    failed = fx_certified(sim) ? 0 : failed + 1;
  }
  return status;
}
