/* A run as tables: one row per step, one row per body and step. */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct fx_run_csv {
  FILE *steps, *bodies;
  char *prefix;
};

static FILE *create(const char *prefix, const char *ending, const char *header) {
  char *path = fx_join(prefix, ending);
  FILE *file = fopen(path, "w");
  if (!file) fx_error("%s: cannot write: %s", path, strerror(errno));
  free(path);
  if (file) fprintf(file, "%s\n", header);
  return file;
}

fx_run_csv *fx_run_csv_open(const char *prefix) {
  fx_run_csv *csv = fx_grow(NULL, 1, sizeof *csv);
  csv->prefix = fx_join(prefix, "");
  csv->bodies = NULL;
  csv->steps = create(
      prefix, "_steps.csv",
      "step,time,contacts,touching,certified,overlaps_left,residual,iterations,penetration,kinetic,potential,work,"
      "friction,impact,damping,joint,scheme,error,seconds");
  if (csv->steps) csv->bodies = create(prefix, "_bodies.csv", "step,time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz");
  if (csv->bodies) return csv;
  fx_run_csv_close(csv);
  return NULL;
}

static void body_row(fx_run_csv *csv, const frix_sim *sim, const frix_model *model, frix_body_id id) {
  frix_body_state s;
  char name[256];
  if (frix_sim_body(sim, id, &s) != FRIX_OK) return;
  fx_body_name(sim, model, id, name, sizeof name);
  fprintf(csv->bodies, "%" PRId64 ",%.17g,", frix_sim_step_count(sim), frix_sim_time(sim));
  fx_csv_text(csv->bodies, name);
  const double value[] = {s.pose.p.x,   s.pose.p.y,   s.pose.p.z,   s.pose.q.w, s.pose.q.x, s.pose.q.y, s.pose.q.z,
                          s.velocity.x, s.velocity.y, s.velocity.z, s.spin.x,   s.spin.y,   s.spin.z};
  for (size_t k = 0; k < sizeof value / sizeof value[0]; k++) fprintf(csv->bodies, ",%.17g", value[k]);
  putc('\n', csv->bodies);
}

void fx_run_csv_add(fx_run_csv *csv, const frix_sim *sim, const frix_model *model, const frix_step_report *r) {
  frix_energy e = frix_sim_energy(sim);
  const double energy[] = {e.kinetic, e.potential, e.work, e.friction, e.impact, e.damping, e.joint, e.scheme, e.error};
  fprintf(csv->steps, "%" PRId64 ",%.17g,%d,%d,%d,%d,%.17g,%" PRId64 ",%.17g", frix_sim_step_count(sim),
          frix_sim_time(sim), (int)r->contact_count, (int)r->touching_count, (int)r->certified, (int)r->overlaps_left,
          r->certificate.residual, r->iterations, r->penetration);
  for (size_t k = 0; k < sizeof energy / sizeof energy[0]; k++) fprintf(csv->steps, ",%.17g", energy[k]);
  fprintf(csv->steps, ",%.9g\n", r->seconds);
  for (frix_body_id id = frix_sim_body_next(sim, (frix_body_id){0, 0}); id.index; id = frix_sim_body_next(sim, id))
    body_row(csv, sim, model, id);
}

bool fx_run_csv_close(fx_run_csv *csv) {
  if (!csv) return true;
  errno = 0;
  bool good = csv->steps && csv->bodies && !ferror(csv->steps) && !ferror(csv->bodies);
  if (csv->steps && fclose(csv->steps)) good = false;
  if (csv->bodies && fclose(csv->bodies)) good = false;
  if (!good && csv->bodies) fx_error("%s_*.csv: cannot write: %s", csv->prefix, strerror(errno ? errno : EIO));
  free(csv->prefix);
  free(csv);
  return good;
}
