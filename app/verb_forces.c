/* frix forces: which contact forces are sure. The interval of each force over all answers that the law allows at the
 * certified velocity, with the bounds that prove it (docs/explain.md). */
#include "moment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
  const char *of;
  bool json, centre;
  const char *witness;
  double tolerance;
} settings;

typedef struct row {
  char name[160];
  const char *face;
  double reported;
  frix_interval v;
} row;

typedef struct answer {
  frix_forces *forces;
  frix_forces_result view;
  frix_force_verdict verdict;
  frix_motion_verdict motion;
  double distance; /* of another motion */
  double *centre;
  double *other; /* another answer: of the same velocity, or of another motion */
  bool all_centred;
  row *row;
  int count;
  double gap, residual;
} answer;

/* ---- measures ---- */

static double over_rows(const fx_moment *m, const double *c, const double *r) {
  double sum = 0;
  for (int32_t k = 0; k < m->data.row_count; k++) sum += c[k] * r[k];
  return sum;
}

static bool add_row(frix_context *context, const fx_moment *m, answer *a, const double *c, const char *name,
                    const char *face) {
  a->row = fx_grow(a->row, (size_t)a->count + 1, sizeof *a->row);
  row *to = &a->row[a->count];
  memset(to, 0, sizeof *to);
  snprintf(to->name, sizeof to->name, "%s", name);
  to->face = face;
  if (frix_forces_interval(a->forces, c, NULL, NULL, NULL, &to->v) != FRIX_OK) {
    fx_error("%s: %s", m->word, frix_error_text(context));
    return false;
  }
  to->reported = over_rows(m, c, a->centre);
  a->gap = fmax(a->gap, to->v.gap);
  a->residual = fmax(a->residual, to->v.residual);
  a->count++;
  return true;
}

static bool add_normals(frix_context *context, const fx_moment *m, answer *a, double *c) {
  for (int32_t i = 0, at = 0; i < m->data.contact_count; at += m->data.contact[i++].dim) {
    char name[160];
    if (a->view.face[i] == FRIX_FACE_NONE) continue;
    memset(c, 0, (size_t)m->data.row_count * sizeof *c);
    c[at] = 1 / m->step;
    fx_moment_contact(m, i, name, sizeof name);
    fx_progress("%s: contact %d of %d", m->word, i + 1, m->data.contact_count);
    if (!add_row(context, m, a, c, name, frix_face_name(a->view.face[i]))) return false;
    if (fx_interrupted(NULL)) return false;
  }
  fx_progress_clear();
  return true;
}

static bool is_each(const settings *s) { return !s->of || !strcmp(s->of, "normals"); }

/* The one measure that is asked for, by row; false after a message. */
static bool read_measure(const fx_moment *m, const settings *s, double *c) {
  char *end = NULL;
  memset(c, 0, (size_t)m->data.row_count * sizeof *c);
  if (is_each(s)) return true;
  if (!strcmp(s->of, "total")) {
    for (int32_t i = 0, at = 0; i < m->data.contact_count; at += m->data.contact[i++].dim)
      if (m->data.contact[i].cone != FRIX_CONE_BILATERAL) c[at] = 1 / m->step;
    return true;
  }
  if (strncmp(s->of, "row:", 4)) return fx_moment_pair(m, s->of, c);
  long k = strtol(s->of + 4, &end, 10);
  bool good = end != s->of + 4 && !*end && k >= 0 && k < m->data.row_count;
  if (good)
    c[k] = 1 / m->step;
  else
    fx_error("--of %s: rows count from 0 to %d", s->of, m->data.row_count - 1);
  return good;
}

/* ---- output ---- */

static void end_text(double x, char *out, size_t size) {
  if (isfinite(x))
    snprintf(out, size, "%.9g", x);
  else
    snprintf(out, size, x > 0 ? "no limit" : "no limit below");
}

static void print_table(const fx_moment *m, const settings *s, const answer *a) {
  fx_column column[] = {{"contact", 24, true},
                        {"state", 6, true},
                        {"least", 14, false},
                        {"most", 14, false},
                        {s->centre ? "centre" : "solver", 14, false},
                        {"gap", 8, false}};
  enum { COLUMNS = sizeof column / sizeof *column };
  printf("%s%s: %s forces, motion %s%s; %d free directions, residual %.1e\n", fx_colour_on(FX_BOLD), m->word,
         frix_force_verdict_name(a->verdict), frix_motion_verdict_name(a->motion), fx_colour_off(), a->view.freedom,
         a->view.certificate.residual);
  if (a->motion == FRIX_MOTION_SEVERAL)
    printf("another certified motion is %.2e of the change of velocity away\n", a->distance);
  if (s->centre && !a->all_centred) printf("no centre where bodies jam: forces there are the solver's\n");
  fx_table_header(column, COLUMNS);
  for (int k = 0; k < a->count; k++) {
    const row *r = &a->row[k];
    fx_cell cell[COLUMNS] = {0};
    char least[32], most[32];
    end_text(r->v.least, least, sizeof least);
    end_text(r->v.most, most, sizeof most);
    fx_cell_set(&cell[0], FX_PLAIN, "%s", r->name);
    fx_cell_set(&cell[1], FX_DIM, "%s", r->face);
    fx_cell_set(&cell[2], FX_PLAIN, "%s", least);
    fx_cell_set(&cell[3], FX_PLAIN, "%s", most);
    fx_cell_set(&cell[4], FX_PLAIN, "%.9g", r->reported);
    fx_cell_set(&cell[5], r->v.gap <= 1e-8 ? FX_GREEN : FX_YELLOW, "%.1e", r->v.gap);
    fx_table_row(column, cell, COLUMNS);
  }
  printf("%s; largest gap %.1e, largest residual at an end %.1e\n", m->sim ? "forces in N" : "impulses as in the file",
         a->gap, a->residual);
}

static void print_json(const fx_moment *m, const settings *s, const answer *a) {
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "subject", m->word);
  if (m->sim) fx_put_real(&json, "time", frix_sim_time(m->sim));
  fx_put_text(&json, "forces", frix_force_verdict_name(a->verdict));
  fx_put_text(&json, "motion", frix_motion_verdict_name(a->motion));
  fx_put_real(&json, "motion_distance", a->distance);
  fx_put_integer(&json, "freedom", a->view.freedom);
  fx_put_real(&json, "residual", a->view.certificate.residual);
  fx_put_text(&json, "reported", s->centre ? "centre" : "solver");
  fx_put_boolean(&json, "centred", a->all_centred);
  fx_put_real(&json, "gap", a->gap);
  fx_put_real(&json, "end_residual", a->residual);
  fx_put_open(&json, "measures", '[');
  for (int k = 0; k < a->count; k++) {
    const row *r = &a->row[k];
    fx_put_open(&json, NULL, '{');
    fx_put_text(&json, "name", r->name);
    fx_put_text(&json, "state", r->face);
    fx_put_real(&json, "least", r->v.least);
    fx_put_real(&json, "most", r->v.most);
    fx_put_real(&json, "least_bound", r->v.least_bound);
    fx_put_real(&json, "most_bound", r->v.most_bound);
    fx_put_real(&json, "reported", r->reported);
    fx_put_real(&json, "gap", r->v.gap);
    fx_put_real(&json, "residual", r->v.residual);
    fx_put_close(&json, '}');
  }
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

/* The second answer, as frix certify reads it. */
static bool write_witness(frix_context *context, const fx_moment *m, const answer *a, const char *path) {
  if (a->verdict != FRIX_FORCES_SEVERAL && a->motion != FRIX_MOTION_SEVERAL) {
    fx_remark("%s: there is no second answer to write", m->word);
    return true;
  }
  fx_output *out = fx_output_open(context, path);
  if (!out) return false;
  fx_json json = {out->file, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "differs_in", a->motion == FRIX_MOTION_SEVERAL ? "motion" : "forces");
  fx_put_open(&json, "r", '[');
  for (int32_t k = 0; k < m->data.row_count; k++) fx_put_real(&json, NULL, a->other[k]);
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
  return fx_output_close(out, true);
}

/* ---- the verb ---- */

static bool find_answer(frix_context *context, const fx_moment *m, const settings *s, double *c, answer *a) {
  frix_forces_config config = frix_forces_default();
  size_t rows = (size_t)m->data.row_count;
  config.tolerance = s->tolerance;
  config.r = m->r, config.lambda = m->lambda;
  a->centre = fx_grow(NULL, rows, sizeof *a->centre);
  bool good = frix_forces_create(context, m->problem, &config, &a->forces) == FRIX_OK;
  if (good) {
    a->view.size = sizeof a->view;
    frix_forces_view(a->forces, &a->view);
    memcpy(a->centre, a->view.r, rows * sizeof *c);
    a->other = fx_grow(NULL, rows + 1, sizeof *a->other);
    good = frix_forces_unique(a->forces, &a->verdict, a->other) == FRIX_OK &&
           frix_forces_motion(a->forces, &a->motion, a->other, &a->distance) == FRIX_OK &&
           (!s->centre || frix_forces_centre(a->forces, a->centre, NULL, &a->all_centred) == FRIX_OK);
  }
  if (!good) fx_error("%s: %s", m->word, frix_error_text(context));
  if (!good) return false;
  return is_each(s) ? add_normals(context, m, a, c) : add_row(context, m, a, c, s->of, "-");
}

static int judge(frix_context *context, const fx_moment *m, const settings *s) {
  answer a = {0};
  int code = FX_EXIT_UNSOLVED;
  double *c = fx_grow(NULL, (size_t)m->data.row_count + 1, sizeof *c);
  if (!read_measure(m, s, c)) {
    code = FX_EXIT_USAGE;
  } else if (!m->certified) {
    fx_error("%s: the step is not certified", m->word);
  } else if (find_answer(context, m, s, c, &a)) {
    (s->json ? print_json : print_table)(m, s, &a);
    code = a.gap <= 1e-8 ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
    if (s->witness && !write_witness(context, m, &a, s->witness)) code = FX_EXIT_USAGE;
  }
  frix_forces_destroy(a.forces);
  free(a.centre);
  free(a.other);
  free(a.row);
  free(c);
  return code;
}

static int run_forces(const fx_args *args) {
  settings s = {.of = fx_arg(args, "--of"), .json = fx_arg(args, "--json") != NULL, .tolerance = 1e-8};
  s.witness = fx_arg(args, "--witness");
  s.centre = fx_arg_choice(args, "--forces", 0) == 0;
  if (!fx_arg_real(args, "--tol", 1e-14, 0.1, &s.tolerance)) return FX_EXIT_USAGE;
  frix_context *context = fx_context(false);
  fx_moment m;
  fx_catch_interrupt();
  if (s.witness && !fx_check_output(context, s.witness)) {
    frix_context_destroy(context);
    return FX_EXIT_USAGE;
  }
  int code = fx_moment_read(context, args, &m) ? judge(context, &m, &s) : FX_EXIT_USAGE;
  fx_moment_free(&m);
  frix_context_destroy(context);
  return code;
}

static const fx_flag flags[] = {
    {"--of", "MEASURE", NULL, "force to bound: normals (default), total, row:K; in scenes also A.x, A,B.x, A.n"},
    {"--forces", "WHICH", "centre|solver", "force to report: the analytic centre (default) or the solver's"},
    {"--witness", "FILE", NULL, "write a second certified answer, if there is one, for frix certify"},
    {"--json", NULL, NULL, "print one JSON object"},
    {"--text", "KIND", "local|global|lcp|mlcp", "kind of problem in a .dat file, if the file does not say"},
    FX_MOMENT_FLAGS,
    {0},
};

const fx_verb fx_verb_forces = {
    .name = "forces",
    .arguments = "PROBLEM|SCENE",
    .summary = "certified lower and upper bounds of contact forces that the law leaves open",
    .detail =
        "At the certified velocity, all impulses that obey Coulomb's law form a convex set. Prints the interval of "
        "each normal\n"
        "force over this set, or of the quantity that --of names: total, row:K of the problem; in a scene A,B.x, the "
        "force of\n"
        "body B on body A along x (y, z, or n: sum of the normal forces), and A.x, the force of all bodies on A. The "
        "ends come\n"
        "from conic programmes with exact cones; `gap` is the distance to their dual bounds. Contacts of a scene are "
        "rigid\n"
        "unless --contact says otherwise. Exit code 1 if a gap is above 1e-8 or nothing is certified.",
    .example =
        "  frix forces hexapyramid\n  frix forces arch --set voussoirs=11 --of voussoir_0.x\n"
        "  frix forces problem.hdf5 --of total --json\n"
        "  frix forces problem.hdf5 --witness other.json",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_forces,
};
