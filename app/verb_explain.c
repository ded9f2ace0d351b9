/* frix explain: why a body moved, and what would have held it (docs/explain.md). */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "page.h"

enum { SHOWN = 12 }; /* rows of a history, events of a chain */
#define FELL 1e-3    /* m: less is not worth a word */

typedef struct story {
  fx_run run; /* subject, settings and step; no sim of its own */
  fx_run_file *file;
  frix_explain_config config;
  frix_explanation *explanation;
  frix_explanation_result v;
  const char *body;
  fx_run_robot *robot; /* its controls; NULL: as they are */
} story;

static frix_status drive(frix_sim *sim, double h, void *user) {
  const fx_run *run = &((const story *)user)->run;
  if (fx_interrupted(NULL)) return FRIX_ERROR_CANCELLED;
  fx_run_controls_drive(((const story *)user)->robot, sim);
  return run->subject.scene ? frix_scene_drive(run->subject.scene, sim, run->subject.model, run->subject.value, h)
                            : FRIX_OK;
}

/* ---- names ---- */

typedef struct label {
  char text[64];
} label;

static label name_of(const story *s, frix_body_id id) {
  label out;
  frix_body_config body;
  if (!id.index)
    snprintf(out.text, sizeof out.text, "the world");
  else if (frix_model_body(s->run.subject.model, id, &body) == FRIX_OK && body.name && body.name[0])
    snprintf(out.text, sizeof out.text, "%s", body.name);
  else
    snprintf(out.text, sizeof out.text, "body_%u", (unsigned)id.index);
  return out;
}

static frix_body_id find_body(const frix_model *model, const char *name) {
  frix_body_id id = frix_model_find_body(model, name);
  unsigned number = 0;
  if (!id.index && sscanf(name, "body_%u", &number) == 1)
    for (int32_t k = 0; k < frix_model_count(model).body_count; k++)
      if (frix_model_body_at(model, k).index == number) id = frix_model_body_at(model, k);
  return id;
}

/* ---- sentences ---- */

static double length(frix_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static void say_event(const story *s, const frix_event *e, char *out, size_t size) {
  label a = name_of(s, e->a), b = name_of(s, e->b);
  int n = snprintf(out, size, "At %.4g s ", e->time);
  char *at = out + n;
  size -= (size_t)n;
  if (e->kind == FRIX_FAILURE_APPEAR)
    snprintf(at, size, "%s touches %s.", a.text, b.text);
  else if (e->kind == FRIX_FAILURE_REMOVED)
    snprintf(at, size, "the contact of %s and %s is gone: one of them was removed.", a.text, b.text);
  else if (e->kind == FRIX_FAILURE_SLIP)
    snprintf(at, size, "%s begins to slide on %s: %.4g N along the contact, of which friction %.3g holds %.4g N.",
             a.text, b.text, e->tangent_force, e->mu, e->mu * e->normal_force);
  else if (e->kind == FRIX_FAILURE_TIP)
    snprintf(at, size, "%s begins to tip on %s, which presses with %.4g N at an edge.", a.text, b.text,
             e->normal_force);
  else if (e->kind == FRIX_FAILURE_LIFT)
    snprintf(at, size, "%s leaves %s; %.4g N pressed them together before.", a.text, b.text, e->normal_force);
  else
    snprintf(at, size, "%s begins to roll on %s.", a.text, b.text);
}

static void say_cause(const story *s, char *out, size_t size) {
  label by = name_of(s, s->v.cause_body);
  const frix_vec3 f = s->v.cause_force;
  static const char *const what[] = {"", "weight of", "force on", "motion of", "momentum of", "", "", "belt of"};
  if (s->v.cause == FRIX_CAUSE_REMOVAL)
    snprintf(out, size, "The removal of %s did it.", by.text);
  else if (s->v.cause == FRIX_CAUSE_JOINT)
    snprintf(out, size, "%s%s drive%s it.", s->v.cause_name ? "Motor or spring " : "Motors or springs of joints",
             s->v.cause_name ? s->v.cause_name : "", s->v.cause_name ? "s" : "");
  else if (s->v.cause == FRIX_CAUSE_NONE)
    snprintf(out, size, "No force does work on it.");
  else
    snprintf(out, size, "The %s %s drives it: %.4g N, (%.4g, %.4g, %.4g).", what[s->v.cause], by.text, length(f), f.x,
             f.y, f.z);
}

static void say_remedy(const story *s, frix_remedy_kind kind, char *out, size_t size) {
  const frix_remedy *r = &s->v.remedy[kind];
  label a = name_of(s, s->v.first.a), b = name_of(s, s->v.first.b), by = name_of(s, s->v.cause_body);
  const char *load = s->v.cause == FRIX_CAUSE_JOINT ? "motor" : frix_cause_name(s->v.cause);
  const char *proof = r->certified ? "every step certified" : "not every step certified";
  if (kind == FRIX_REMEDY_KEEP)
    snprintf(out, size, "%s: with %s in its place %s.", r->found ? "Holds" : "Does not hold", by.text, proof);
  else if (!r->found && kind == FRIX_REMEDY_FRICTION)
    snprintf(out, size, "No friction up to 10 holds it.");
  else if (!r->found && kind == FRIX_REMEDY_PRESS)
    snprintf(out, size, "No force that presses %s against %s holds it.", a.text, b.text);
  else if (!r->found)
    snprintf(out, size, "It moves even without this load.");
  else if (kind == FRIX_REMEDY_FRICTION)
    snprintf(out, size, "Friction of %.5g between these materials holds it, %.5g does not (%s).", r->holds, r->fails,
             proof);
  else if (kind == FRIX_REMEDY_PRESS)
    snprintf(out, size, "%.5g N more between %s and %s hold it, %.5g N do not (%s).", r->holds, a.text, b.text,
             r->fails, proof);
  else if (r->fails < 1e-3)
    snprintf(out, size, "As little as %.1g of this %s moves it (%s).", r->fails, load, proof);
  else
    snprintf(out, size, "%.5g of this %s is held, %.5g is not (%s).", r->holds, load, r->fails, proof);
}

/* ---- output ---- */

static void print_history(const story *s) {
  fx_column column[] = {{"time", 8, false}, {"margin", 8, false}, {"N", 10, false},
                        {"T", 10, false},   {"points", 6, false}, {"moved", 10, false}};
  enum { COLUMNS = sizeof column / sizeof *column };
  int32_t last = 0, count = s->v.history_count;
  while (last < count && s->v.history[last].time <= s->v.first.time + 2.5 * s->config.step) last++;
  int32_t first = last > SHOWN ? last - SHOWN : 0;
  if (last <= first) return;
  printf("\nmargin of the contact (1: slides), T / (mu N)\n");
  fx_table_header(column, COLUMNS);
  for (int32_t k = first; k < last; k++) {
    const frix_margin *m = &s->v.history[k];
    fx_cell cell[COLUMNS] = {0};
    fx_cell_set(&cell[0], FX_PLAIN, "%.4g", m->time);
    fx_cell_set(&cell[1], m->margin > 0.999 ? FX_RED : FX_PLAIN, "%.4f", m->margin);
    fx_cell_set(&cell[2], FX_PLAIN, "%.5g", m->normal_force);
    fx_cell_set(&cell[3], FX_PLAIN, "%.5g", m->tangent_force);
    fx_cell_set(&cell[4], FX_PLAIN, "%d", m->points);
    fx_cell_set(&cell[5], FX_PLAIN, "%.2e", m->distance);
    fx_table_row(column, cell, COLUMNS);
  }
}

/* How far the body fell, by the work of its weight, m. */
static double fallen(const story *s) {
  static const char *const name[3] = {"gravity.x", "gravity.y", "gravity.z"};
  const frix_model *model = s->run.subject.model;
  frix_body_config body;
  double square = 0, g;
  for (int k = 0; k < 3; k++)
    if (frix_model_quantity(s->run.context, model, name[k], &g) == FRIX_OK) square += g * g;
  if (frix_model_body(model, s->config.body, &body) != FRIX_OK || !(body.mass * square > 0)) return 0;
  return s->v.energy.weight / (body.mass * sqrt(square));
}

static void print_text(const story *s) {
  char text[512];
  const frix_explanation_result *v = &s->v;
  bool held = v->first.kind == FRIX_FAILURE_NONE;
  label a = name_of(s, v->first.a), b = name_of(s, v->first.b);
  printf("%s%s, %s at %.6g s%s: %s\n", fx_colour_on(FX_BOLD), s->run.subject.word, s->body, s->config.time,
         fx_colour_off(), held ? "held" : frix_failure_name(v->first.kind));
  if (held && v->history_count)
    printf("  Nearest to slipping: %s on %s, %.4g of what friction holds.\n", a.text, b.text, v->first.margin);
  if (held && fallen(s) > FELL)
    printf("  No contact gave way, yet %s fell by %.3g m: joints or springs let it.\n", s->body, fallen(s));
  int32_t shown = v->event_count < SHOWN ? v->event_count : SHOWN;
  for (int32_t k = 0; k < shown && !held; k++) {
    say_event(s, &v->event[k], text, sizeof text);
    printf("  %s\n", text);
    bool first = v->event[k].step == v->first.step && v->event[k].kind == v->first.kind &&
                 v->event[k].a.index == v->first.a.index && v->event[k].b.index == v->first.b.index;
    if (!first) continue;
    say_cause(s, text, sizeof text);
    printf("    %s\n", text);
    if (v->overlap > 0) printf("    They overlap by %.3g m at the start: contacts push them apart.\n", v->overlap);
    for (int r = 0; r < FRIX_REMEDY_COUNT; r++) {
      if (!v->remedy[r].tried) continue;
      say_remedy(s, (frix_remedy_kind)r, text, sizeof text);
      printf("    %s\n", text);
    }
  }
  if (v->event_count > shown && !held) printf("  and %d more\n", v->event_count - shown);
  const frix_body_energy *w = &v->energy;
  printf("  Energy of %s: %.4g J to %.4g J; weight %+.4g, applied forces %+.4g, contacts %+.4g, other %+.2g J.\n",
         s->body, w->kinetic_start, w->kinetic_end, w->weight, w->applied, w->contacts, w->other);
  print_history(s);
  printf("%lld of %lld steps certified, worst residual %.1e\n", (long long)v->certified_steps, (long long)v->steps,
         v->residual);
}

static void put_vector(fx_json *json, const char *key, frix_vec3 v) {
  fx_put_open(json, key, '[');
  fx_put_real(json, NULL, v.x), fx_put_real(json, NULL, v.y), fx_put_real(json, NULL, v.z);
  fx_put_close(json, ']');
}

static void put_event(fx_json *json, const char *key, const story *s, const frix_event *e) {
  char text[512];
  say_event(s, e, text, sizeof text);
  fx_put_open(json, key, '{');
  fx_put_text(json, "kind", frix_failure_name(e->kind));
  fx_put_integer(json, "step", e->step);
  fx_put_real(json, "time", e->time);
  fx_put_text(json, "a", name_of(s, e->a).text);
  fx_put_text(json, "b", name_of(s, e->b).text);
  put_vector(json, "point", e->point);
  put_vector(json, "normal", e->normal);
  fx_put_real(json, "normal_force", e->normal_force);
  fx_put_real(json, "tangent_force", e->tangent_force);
  fx_put_real(json, "mu", e->mu);
  fx_put_real(json, "margin", e->margin);
  fx_put_real(json, "distance", e->distance);
  fx_put_text(json, "text", text);
  fx_put_close(json, '}');
}

static void put_remedies(fx_json *json, const story *s) {
  fx_put_open(json, "remedies", '{');
  for (int k = 0; k < FRIX_REMEDY_COUNT; k++) {
    const frix_remedy *r = &s->v.remedy[k];
    char text[512];
    if (!r->tried) continue;
    say_remedy(s, (frix_remedy_kind)k, text, sizeof text);
    fx_put_open(json, frix_remedy_kind_name((frix_remedy_kind)k), '{');
    fx_put_boolean(json, "found", r->found);
    fx_put_real(json, "holds", r->holds);
    fx_put_real(json, "fails", r->fails);
    fx_put_boolean(json, "certified", r->certified);
    fx_put_integer(json, "runs", r->runs);
    fx_put_text(json, "text", text);
    fx_put_close(json, '}');
  }
  fx_put_close(json, '}');
}

static void print_json(const story *s) {
  const frix_explanation_result *v = &s->v;
  char text[512];
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "subject", s->run.subject.word);
  fx_put_text(&json, "body", s->body);
  fx_put_real(&json, "at", s->config.time);
  fx_put_real(&json, "fallen", fallen(s));
  fx_put_text(&json, "verdict", v->first.kind == FRIX_FAILURE_NONE ? "held" : frix_failure_name(v->first.kind));
  put_event(&json, "first", s, &v->first);
  fx_put_open(&json, "cause", '{');
  say_cause(s, text, sizeof text);
  fx_put_text(&json, "kind", frix_cause_name(v->cause));
  fx_put_text(&json, "body", name_of(s, v->cause_body).text);
  if (v->cause_name) fx_put_text(&json, "name", v->cause_name);
  put_vector(&json, "force", v->cause_force);
  fx_put_real(&json, "power", v->cause_power);
  fx_put_text(&json, "text", text);
  fx_put_close(&json, '}');
  if (v->overlap > 0) fx_put_real(&json, "overlap", v->overlap);
  put_remedies(&json, s);
  fx_put_open(&json, "chain", '[');
  for (int32_t k = 0; k < v->event_count; k++) put_event(&json, NULL, s, &v->event[k]);
  fx_put_close(&json, ']');
  fx_put_open(&json, "history", '[');
  for (int32_t k = 0; k < v->history_count; k++) {
    fx_put_open(&json, NULL, '[');
    fx_put_real(&json, NULL, v->history[k].time), fx_put_real(&json, NULL, v->history[k].margin);
    fx_put_real(&json, NULL, v->history[k].normal_force), fx_put_real(&json, NULL, v->history[k].tangent_force);
    fx_put_close(&json, ']');
  }
  fx_put_close(&json, ']');
  fx_put_open(&json, "energy", '{');
  fx_put_real(&json, "kinetic_start", v->energy.kinetic_start);
  fx_put_real(&json, "kinetic_end", v->energy.kinetic_end);
  fx_put_real(&json, "weight", v->energy.weight);
  fx_put_real(&json, "applied", v->energy.applied);
  fx_put_real(&json, "contacts", v->energy.contacts);
  fx_put_real(&json, "other", v->energy.other);
  fx_put_close(&json, '}');
  fx_put_integer(&json, "steps", v->steps);
  fx_put_integer(&json, "certified", v->certified_steps);
  fx_put_real(&json, "residual", v->residual);
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

/* ---- the page, opened at the moment with the contact marked ---- */

static bool record(story *s, const char *file) {
  fx_run *run = &s->run;
  frix_recorder *recorder = NULL;
  frix_sim *sim = NULL;
  frix_status status = frix_sim_create(run->context, run->subject.model, &run->config, &sim);
  if (status == FRIX_OK) status = frix_recorder_create(run->context, file, run->subject.model, "{}", &recorder);
  if (status == FRIX_OK) status = frix_recorder_add(recorder, sim, NULL);
  for (int64_t k = 0; status == FRIX_OK && k < s->v.steps; k++) {
    frix_step_report report;
    status = drive(sim, s->config.step, s);
    if (status == FRIX_OK) status = frix_sim_step(sim, s->config.step, &report);
    if (status == FRIX_OK) status = frix_recorder_add(recorder, sim, &report);
  }
  frix_status closed = frix_recorder_close(recorder);
  if (status == FRIX_OK) status = closed;
  frix_sim_destroy(sim);
  if (status != FRIX_OK) fx_error("%s", frix_error_text(run->context));
  return status == FRIX_OK;
}

static bool write_page(story *s, const char *page, bool open) {
  fx_page_config config = fx_page_default();
  int32_t damaged = 0;
  char address[1024];
  char *scratch = fx_new_file(page, ".frx");
  if (!scratch) return false;
  bool good = record(s, scratch) && fx_page_write(s->run.context, scratch, page, &config, &damaged);
  unlink(scratch);
  free(scratch);
  if (!good) return false;
  frix_vec3 p = s->v.first.point;
  snprintf(address, sizeof address, "%s#t=%.6g&mark=%.6g,%.6g,%.6g", page, s->v.first.time, p.x, p.y, p.z);
  if (!open || !fx_open_browser(address)) fx_remark("open %s in a browser", address);
  return true;
}

/* ---- the verb ---- */

static bool ends_with(const char *text, const char *ending) {
  size_t n = strlen(text), m = strlen(ending);
  return n >= m && !strcmp(text + n - m, ending);
}

static bool read_subject(story *s, const fx_args *args) {
  fx_run *run = &s->run;
  const char *word = args->word[0];
  if (ends_with(word, ".frx")) {
    s->file = fx_run_file_read(run, word, args);
    return s->file && fx_run_controls_open(run->subject.model, run->subject.word, fx_run_file_args(s->file), &s->robot);
  }
  if (!fx_subject_read(args, word, &run->subject) || !fx_subject_build(&run->subject, run->context)) return false;
  run->h = run->subject.step;
  return fx_arg_real(args, "--dt", 1e-9, 1, &run->h) &&
         fx_sim_settings(run->context, args, &run->config, &run->options) &&
         fx_run_controls_open(run->subject.model, word, args, &s->robot);
}

static bool read_flags(story *s, const fx_args *args) {
  s->config = frix_explain_default();
  s->body = fx_arg(args, "--body");
  if (!s->body) {
    fx_error("explain needs --body NAME, the body that moved: see 'frix help explain'");
    return false;
  }
  if (!read_subject(s, args)) return false;
  s->config.step = s->run.h;
  s->config.time = s->run.subject.time;
  s->config.remedies = fx_arg(args, "--no-remedies") == NULL;
  s->config.drive = drive, s->config.user = s;
  s->config.body = find_body(s->run.subject.model, s->body);
  if (!s->config.body.index) {
    fx_no_body(&s->run.subject, s->body);
    return false;
  }
  const char *page = fx_arg(args, "--html");
  if (page && (!fx_page_available() || !fx_check_output(s->run.context, page))) return false;
  return fx_arg_real(args, "--at", s->config.step, 1e9, &s->config.time) &&
         fx_arg_real(args, "--within", 1e-9, 0.5, &s->config.within) &&
         fx_arg_real(args, "--distance", 1e-9, 10, &s->config.distance);
}

static int run_explain(const fx_args *args) {
  story s = {.run = {.context = fx_context(false)}};
  fx_catch_interrupt();
  int code = FX_EXIT_USAGE;
  if (read_flags(&s, args)) {
    frix_status status = frix_explain(s.run.context, s.run.subject.model, &s.run.config, &s.config, &s.explanation);
    if (status != FRIX_OK) {
      fx_error("%s: %s", s.run.subject.word, frix_error_text(s.run.context));
    } else {
      frix_explanation_view(s.explanation, &s.v);
      (fx_arg(args, "--json") ? print_json : print_text)(&s);
      const char *page = fx_arg(args, "--html");
      bool good = !page || write_page(&s, page, !fx_arg(args, "--no-open"));
      code = !good ? FX_EXIT_USAGE : s.v.certified_steps == s.v.steps ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
    }
  }
  frix_explanation_destroy(s.explanation);
  fx_run_robot_close(s.robot, false);
  frix_options_destroy(s.run.options);
  fx_run_file_free(s.file);
  fx_subject_free(&s.run.subject);
  frix_context_destroy(s.run.context);
  return code;
}

static const fx_flag flags[] = {
    {"--body", "NAME", NULL, "the body that moved"},
    {"--at", "T", NULL, "time in s; default: the end of the run"},
    {"--within", "X", NULL, "relative precision of the remedies, default 1e-3"},
    {"--distance", "X", NULL, "a contact failed if it moved by this share of the smaller body, default 1e-3"},
    {"--no-remedies", NULL, NULL, "report only what happened: one run instead of dozens"},
    {"--html", "PAGE", NULL, "write a replay page that opens at that time with the contact marked"},
    {"--no-open", NULL, NULL, "print the address instead of opening a browser"},
    {"--json", NULL, NULL, "print one JSON object"},
    {"--set", "k=v", NULL, "set a parameter of the scene or an option of a solver; may be repeated"},
    {"--dt", "H", NULL, "time step in s; default: the scene's"},
    {"--seed", "N", NULL, "seed of the random parts of the scene"},
    {"--ctrl", "NAME=X", NULL, "robots: set the control of an actuator from the start (*: all); may be repeated"},
    {"--ctrl-file", "FILE", NULL, "robots: read controls over time from a table time,NAME,NAME..."},
    FX_SIM_FLAGS,
    {0},
};

const fx_verb fx_verb_explain = {
    .name = "explain",
    .arguments = "RUN|SCENE --body NAME",
    .summary = "explain why a body moved: the contact, the force, and what would have held it",
    .detail =
        "Runs the scene (or the run of a .frx file) to --at and reports the first contact that slipped, tipped, lifted "
        "or\n"
        "rolled and the force that did the most work on the body then. Remedies follow: the least friction, the least "
        "force\n"
        "pressing the contact, and the largest part of the load with which the contact holds. Each remedy is bracketed "
        "by\n"
        "certified runs from the start. Exit code 0: every step is certified; 1: not; 2: bad usage or input.",
    .example =
        "  frix explain dominoes --set n=3 --body tile_1 --at 0.2\n"
        "  frix explain run.frx --body cup --at 1.3 --html why.html",
    .flag = flags,
    .words = "@scenes",
    .min_words = 1,
    .max_words = 1,
    .run = run_explain,
};
