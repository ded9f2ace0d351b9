/* A run as tables: one row per step, one row per body and step. */
#include "run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct fx_run_csv {
  fx_output *steps, *bodies;
};

static fx_output *create(frix_context *context, const char *prefix, const char *ending, const char *header) {
  char *path = fx_join(prefix, ending);
  fx_output *output = fx_output_open(context, path);
  free(path);
  if (output) fprintf(output->file, "%s\n", header);
  return output;
}

fx_run_csv *fx_run_csv_open(frix_context *context, const char *prefix) {
  fx_run_csv *csv = fx_grow(NULL, 1, sizeof *csv);
  csv->bodies = NULL;
  char header[1024] = "step,time";
  for (int k = 0; fx_step_column_at(k); k++)
    strncat(strncat(header, ",", sizeof header - strlen(header) - 1), fx_step_column_at(k)->name,
            sizeof header - strlen(header) - 1);
  strncat(header, ",kinetic,potential,work,friction,impact,damping,joint,contact,scheme,error,seconds",
          sizeof header - strlen(header) - 1);
  csv->steps = create(context, prefix, "_steps.csv", header);
  if (csv->steps)
    csv->bodies = create(context, prefix, "_bodies.csv", "step,time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz");
  if (csv->bodies) return csv;
  fx_output_close(csv->steps, false);
  free(csv);
  return NULL;
}

static void body_row(FILE *file, const frix_sim *sim, const frix_model *model, frix_body_id id) {
  frix_body_state s;
  char name[256];
  if (frix_sim_body(sim, id, &s) != FRIX_OK) return;
  fx_body_name(sim, model, id, name, sizeof name);
  fprintf(file, "%" PRId64 ",%.17g,", frix_sim_step_count(sim), frix_sim_time(sim));
  fx_csv_text(file, name);
  const double value[] = {s.pose.p.x,   s.pose.p.y,   s.pose.p.z,   s.pose.q.w, s.pose.q.x, s.pose.q.y, s.pose.q.z,
                          s.velocity.x, s.velocity.y, s.velocity.z, s.spin.x,   s.spin.y,   s.spin.z};
  for (size_t k = 0; k < sizeof value / sizeof value[0]; k++) fprintf(file, ",%.17g", value[k]);
  putc('\n', file);
}

void fx_run_csv_add(fx_run_csv *csv, const fx_step_view *view) {
  const frix_sim *sim = view->sim;
  frix_energy e = frix_sim_energy(sim);
  FILE *file = csv->steps->file;
  const double energy[] = {e.kinetic, e.potential, e.work,    e.friction, e.impact,
                           e.damping, e.joint,     e.contact, e.scheme,   e.error};
  fprintf(file, "%" PRId64 ",%.17g", frix_sim_step_count(sim), frix_sim_time(sim));
  for (int k = 0; fx_step_column_at(k); k++)
    fprintf(file, fx_step_column_at(k)->whole ? ",%.0f" : ",%.17g", fx_step_column_at(k)->get(view));
  for (size_t k = 0; k < sizeof energy / sizeof energy[0]; k++) fprintf(file, ",%.17g", energy[k]);
  fprintf(file, ",%.9g\n", view->report->seconds);
  for (frix_body_id id = frix_sim_body_next(sim, (frix_body_id){0, 0}); id.index; id = frix_sim_body_next(sim, id))
    body_row(csv->bodies->file, sim, view->model, id);
}

bool fx_run_csv_close(fx_run_csv *csv) {
  if (!csv) return true;
  bool steps = fx_output_close(csv->steps, true), bodies = fx_output_close(csv->bodies, true);
  free(csv);
  return steps && bodies;
}
