/* What a run amounts to: steps, certificates, penetration, energy, time; as text and as JSON. */
#include "run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- adding up */

void fx_account_begin(fx_account *a, const frix_sim *sim, const frix_model *model) {
  int32_t count = frix_sim_body_count(sim);
  *a = (fx_account){.tally = frix_tally_default(), .first_step = frix_sim_step_count(sim)};
  a->body = fx_grow(NULL, (size_t)count, sizeof *a->body);
  a->start = fx_grow(NULL, (size_t)count, sizeof *a->start);
  for (frix_body_id id = frix_sim_body_next(sim, (frix_body_id){0, 0}); id.index; id = frix_sim_body_next(sim, id)) {
    frix_body_id pattern = id;
    frix_body_state state;
    frix_body_config body;
    frix_sim_pattern(sim, id, &pattern);
    if (frix_model_body(model, pattern, &body) != FRIX_OK || body.kind != FRIX_BODY_DYNAMIC) continue;
    if (frix_sim_body(sim, id, &state) != FRIX_OK) continue;
    a->body[a->body_count] = id;
    a->start[a->body_count++] = state.center;
  }
  a->wall = fx_now(), a->cpu = cpu_seconds();
}

void fx_account_start(fx_account *a, frix_body_id id, frix_vec3 center) {
  for (int32_t k = 0; k < a->body_count; k++)
    if (a->body[k].index == id.index && a->body[k].generation == id.generation) a->start[k] = center;
}

void fx_account_add(fx_account *a, const fx_step_view *view, int64_t step, double tolerance) {
  const frix_step_report *r = view->report;
  frix_tally_add(&a->tally, r, step, tolerance);
  a->made++;
  a->reduced += r->restitution < 1;
  fx_worst_add(a->worst, view, step);
  a->collide += r->collide_seconds, a->assemble += r->assemble_seconds;
  a->solve += r->solve_seconds, a->integrate += r->integrate_seconds;
}

void fx_account_end(fx_account *a) { a->wall = fx_now() - a->wall, a->cpu = cpu_seconds() - a->cpu; }

void fx_account_free(fx_account *a) {
  free(a->body);
  free(a->start);
  a->body = NULL, a->start = NULL;
}

/* The farthest a body that is still there stands from where it started, and which. */
static double displacement(const fx_run *run, frix_body_id *which) {
  const fx_account *a = &run->account;
  double most = 0;
  for (int32_t k = 0; k < a->body_count; k++) {
    frix_body_state s;
    if (frix_sim_body(run->sim, a->body[k], &s) != FRIX_OK) continue;
    double x = s.center.x - a->start[k].x, y = s.center.y - a->start[k].y, z = s.center.z - a->start[k].z;
    double d = sqrt(x * x + y * y + z * z);
    if (!(d <= most)) most = d, *which = a->body[k];
  }
  return most;
}

/* The ledger: name, sign in the sum, value. */
typedef struct entry {
  const char *name, *summary;
  double sign, value;
} entry;
enum { ENTRIES = 9 };

static double ledger(const frix_sim *sim, frix_energy *now, entry row[ENTRIES]) {
  frix_energy e = *now = frix_sim_energy(sim);
  const entry rows[ENTRIES] = {
      {"start", "at the start", 1, e.start},
      {"work", "work of applied forces, motors and changes of the state", 1, e.work},
      {"friction", "lost to friction", -1, e.friction},
      {"impact", "lost in impacts", -1, e.impact},
      {"damping", "lost in dampers", -1, e.damping},
      {"joint", "from joint drift control and from preloading contact springs at rest", 1, e.joint},
      {"contact", "from pushing overlaps apart and from Newton's law of restitution", 1, e.contact},
      {"scheme", "from the time discretisation", 1, e.scheme},
      {"error", "from the solver's error", 1, e.error},
  };
  double sum = 0;
  for (int k = 0; k < ENTRIES; k++) row[k] = rows[k], sum += rows[k].sign * rows[k].value;
  return e.kinetic + e.potential - sum;
}

/* Steps that averages are over. */
static double known(const frix_tally *t) { return t->steps > t->unknown ? (double)(t->steps - t->unknown) : 1.0; }

/* ---- text */

static void print_phases(const fx_account *a) {
  const struct {
    const char *name;
    double seconds;
  } phase[] = {{"collide", a->collide}, {"assemble", a->assemble}, {"solve", a->solve}, {"integrate", a->integrate}};
  double rest = a->wall, made = (double)(a->made ? a->made : 1);
  printf("  time per step     ");
  for (int k = 0; k < 4; k++) {
    char text[32];
    fx_format_seconds(phase[k].seconds / made, text, sizeof text);
    printf("%s %s, ", phase[k].name, text);
    rest -= phase[k].seconds;
  }
  char text[32];
  fx_format_seconds((rest > 0 ? rest : 0) / made, text, sizeof text);
  printf("other %s\n", text);
}

static void print_ledger(const frix_sim *sim) {
  frix_energy e;
  entry row[ENTRIES];
  double gap = ledger(sim, &e, row);
  printf("  energy            %.6g J now (kinetic %.6g, potential %.6g), ledger open by %.1e J\n",
         e.kinetic + e.potential, e.kinetic, e.potential, fabs(gap));
  for (int k = 0; k < ENTRIES; k++)
    if (k == 0 || row[k].value != 0)
      printf("    %c %-12.6g    %s\n", row[k].sign * row[k].value < 0 ? '-' : '+', fabs(row[k].value), row[k].summary);
}

void fx_run_print(const fx_run *run) {
  const fx_account *a = &run->account;
  const frix_tally *t = &a->tally;
  bool all = t->certified == t->steps && !run->broken;
  double simulated = run->length ? frix_sim_time(run->sim) : (double)a->made * run->h,
         per_step = a->wall / (double)(a->made ? a->made : 1);
  char wall[32], each[32], moved[128] = "";
  frix_body_id which = {0, 0};
  double far = displacement(run, &which);
  fx_format_seconds(a->wall, wall, sizeof wall);
  fx_format_seconds(per_step, each, sizeof each);
  if (which.index) fx_body_name(run->sim, run->subject.model, which, moved, sizeof moved);
  printf("%s%s%s: %" PRId64 " steps of %g s, %.6g s simulated in %s (%.2f times real time, %s per step)\n",
         fx_colour_on(FX_BOLD), run->subject.word, fx_colour_off(), a->made, run->h, simulated, wall,
         a->wall > 0 ? simulated / a->wall : 0, each);
  if (a->first_step)
    printf("  resumed           at step %" PRId64 "; the counts below include the steps before it\n", a->first_step);
  printf("  certified         %s%" PRId64 " of %" PRId64 " steps%s to %g; worst residual %.2e at step %" PRId64 "\n",
         fx_colour_on(all ? FX_GREEN : FX_RED), t->certified, t->steps, fx_colour_off(), run->config.tolerance,
         t->residual_max, t->residual_step);
  printf("  law               %s contact, %s\n", frix_contact_kind_table((int32_t)run->config.contact)->name,
         frix_law_name(run->config.law));
  if (t->unknown)
    printf("  %sunknown%s           %" PRId64 " steps: the file has no record of them\n", fx_colour_on(FX_RED),
           fx_colour_off(), t->unknown);
  fx_missing_print(&run->subject.missing, 17);
  if (t->approximate)
    printf("  %sapproximate%s       %" PRId64 " steps, as asked for: solver %s, law %s\n", fx_colour_on(FX_YELLOW),
           fx_colour_off(), t->approximate, run->config.solver, frix_law_name(run->config.law));
  if (t->overlaps_left)
    printf("  %soverlaps left%s     in %" PRId64 " steps: no certified answer with push-out, one without\n",
           fx_colour_on(FX_YELLOW), fx_colour_off(), t->overlaps_left);
  if (a->reduced)
    printf("  restitution       reduced in %" PRId64 " steps, where the full one would have created energy\n",
           a->reduced);
  printf("  contacts          %.1f on average, %d at most\n", (double)t->contacts / known(t), (int)t->contacts_max);
  fx_worst_print(a->worst, 17);
  printf("  penetration       %.2e m at most, at step %" PRId64 "\n", t->penetration_max, t->penetration_step);
  printf("  displacement      %.3e m at most%s%s\n", far, moved[0] ? ", " : "", moved);
  print_ledger(run->sim);
  print_phases(a);
  if (run->out && !run->scratch) printf("  file              %s\n", run->out);
  if (run->page) printf("  page              %s\n", run->page);
  if (run->interrupted)
    printf("  %sinterrupted%s       at step %" PRId64 " of %" PRId64 "\n", fx_colour_on(FX_YELLOW), fx_colour_off(),
           frix_sim_step_count(run->sim), run->step_count);
}

/* ---- JSON */

static void put_vec(fx_json *json, const char *key, frix_vec3 v) {
  fx_put_open(json, key, '[');
  fx_put_real(json, NULL, v.x), fx_put_real(json, NULL, v.y), fx_put_real(json, NULL, v.z);
  fx_put_close(json, ']');
}

static void put_poses(fx_json *json, const fx_run *run) {
  fx_put_open(json, "bodies", '{');
  const frix_sim *sim = run->sim;
  for (frix_body_id id = frix_sim_body_next(sim, (frix_body_id){0, 0}); id.index; id = frix_sim_body_next(sim, id)) {
    frix_body_state s;
    char name[256];
    if (frix_sim_body(run->sim, id, &s) != FRIX_OK) continue;
    fx_body_name(run->sim, run->subject.model, id, name, sizeof name);
    fx_put_open(json, name, '{');
    put_vec(json, "pos", s.pose.p);
    fx_put_open(json, "quat", '[');
    fx_put_real(json, NULL, s.pose.q.w), fx_put_real(json, NULL, s.pose.q.x);
    fx_put_real(json, NULL, s.pose.q.y), fx_put_real(json, NULL, s.pose.q.z);
    fx_put_close(json, ']');
    put_vec(json, "vel", s.velocity);
    put_vec(json, "angvel", s.spin);
    fx_put_close(json, '}');
  }
  fx_put_close(json, '}');
}

static void put_energy(fx_json *json, const frix_sim *sim) {
  frix_energy e;
  entry row[ENTRIES];
  double gap = ledger(sim, &e, row);
  fx_put_open(json, "energy", '{');
  fx_put_real(json, "kinetic", e.kinetic);
  fx_put_real(json, "potential", e.potential);
  for (int k = 0; k < ENTRIES; k++) fx_put_real(json, row[k].name, row[k].value);
  fx_put_real(json, "gap", gap);
  fx_put_close(json, '}');
}

void fx_put_settings(fx_json *json, const fx_run *run) {
  const frix_scene *scene = run->subject.scene;
  fx_put_text(json, scene ? "scene" : "file", run->subject.word);
  fx_put_open(json, "parameters", '{');
  for (int32_t k = 0; scene && k < scene->parameter_count; k++) {
    const frix_option_info *row = &scene->parameter[k];
    char text[128];
    fx_subject_value(row, run->subject.value[k], text, sizeof text);
    if (row->kind == FRIX_OPTION_CHOICE)
      fx_put_text(json, row->name, text);
    else
      fx_put_real(json, row->name, run->subject.value[k]);
  }
  fx_put_close(json, '}');
  fx_put_integer(json, "seed", (int64_t)run->subject.seed);
  fx_put_text(json, "solver", run->config.solver);
  fx_put_text(json, "law", frix_law_name(run->config.law));
  fx_put_text(json, "integrator", run->config.integrator);
  bool reduced = frix_model_robot(run->subject.model) || run->config.coordinates == FRIX_COORDINATES_REDUCED;
  fx_put_text(json, "coordinates", reduced ? "reduced" : "maximal");
  fx_put_text(json, "contact", frix_contact_kind_table((int32_t)run->config.contact)->name);
  fx_put_text(json, "restitution", frix_restitution_table((int32_t)run->config.restitution)->name);
  fx_put_real(json, "tolerance", run->config.tolerance);
  fx_put_integer(json, "threads", run->config.thread_count);
  fx_put_real(json, "dt", run->h);
  if (run->accuracy.wanted > 0) {
    fx_put_open(json, "accuracy", '{');
    fx_put_real(json, "wanted", run->accuracy.wanted);
    fx_put_boolean(json, "reached", run->accuracy.reached);
    fx_put_real(json, "found", run->accuracy.found);
    fx_put_real(json, "until", run->accuracy.until);
    fx_put_integer(json, "passes", run->accuracy.passes);
    fx_put_integer(json, "located", run->accuracy.located);
    fx_put_close(json, '}');
  }
  fx_missing_put(json, &run->subject.missing);
}

void fx_run_json(const fx_run *run) {
  const fx_account *a = &run->account;
  const frix_tally *t = &a->tally;
  fx_json json = {stdout, false};
  frix_body_id which = {0, 0};
  uint64_t hash = 0;
  char text[32];
  frix_sim_hash(run->sim, &hash);
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  fx_put_open(&json, NULL, '{');
  fx_put_settings(&json, run);
  fx_put_integer(&json, "first_step", a->first_step);
  fx_put_integer(&json, "steps", t->steps);
  fx_put_real(&json, "time", frix_sim_time(run->sim));
  fx_put_boolean(&json, "interrupted", run->interrupted);
  fx_put_real(&json, "wall_seconds", a->wall);
  fx_put_real(&json, "cpu_seconds", a->cpu);
  fx_put_real(&json, "ms_per_step", 1e3 * a->wall / (double)(a->made ? a->made : 1));
  fx_put_real(&json, "collide_seconds", a->collide);
  fx_put_real(&json, "assemble_seconds", a->assemble);
  fx_put_real(&json, "solve_seconds", a->solve);
  fx_put_real(&json, "integrate_seconds", a->integrate);
  fx_put_real(&json, "contacts_mean", (double)t->contacts / known(t));
  fx_put_integer(&json, "contacts_max", t->contacts_max);
  fx_put_real(&json, "iterations_mean", (double)t->iterations / known(t));
  fx_put_real(&json, "residual_max", t->residual_max);
  fx_put_integer(&json, "residual_step", t->residual_step);
  fx_worst_put(&json, a->worst);
  fx_put_integer(&json, "certified_steps", t->certified);
  fx_put_integer(&json, "unknown_steps", t->unknown);
  fx_put_integer(&json, "overlaps_left_steps", t->overlaps_left);
  fx_put_integer(&json, "restitution_reduced_steps", a->reduced);
  fx_put_boolean(&json, "approximate", t->approximate > 0);
  fx_put_real(&json, "max_penetration", t->penetration_max);
  fx_put_real(&json, "max_displacement", displacement(run, &which));
  fx_put_text(&json, "final_hash", text);
  put_energy(&json, run->sim);
  if (run->poses) put_poses(&json, run);
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}
