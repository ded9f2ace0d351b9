/* A contact problem from a file, or that of a step of a scene with the answer of the step. */
#include "moment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *text, const char *ending) {
  size_t n = strlen(text), m = strlen(ending);
  return n >= m && !strcmp(text + n - m, ending);
}

static bool is_world(const char *word) {
  return frix_scene_find(word) || ends_with(word, ".xml") || ends_with(word, ".urdf") || ends_with(word, ".mjcf");
}

static bool is_problem(const char *word) {
  static const char *const ending[] = {".dat", ".hdf5", ".h5", ".json", ".txt"};
  for (size_t k = 0; k < sizeof ending / sizeof *ending; k++)
    if (ends_with(word, ending[k])) return true;
  return false;
}

/* r and lambda of the step, in the order of the problem. */
static bool read_impulses(fx_moment *m) {
  int32_t at = 0, rows = m->data.row_count, joints = m->data.joint_count;
  m->r = fx_grow(NULL, (size_t)rows + (size_t)joints + 1, sizeof *m->r);
  m->lambda = m->r + rows;
  for (int32_t k = 0; k < frix_sim_row_count(m->sim); k++) {
    frix_row_report report;
    if (frix_sim_row(m->sim, k, &report) != FRIX_OK) return false;
    for (int32_t e = 0; e < report.law.dim && at < rows + joints; e++) m->r[at++] = report.impulse[e];
  }
  return at == rows + joints;
}

static bool step_to(frix_context *context, fx_moment *m, double h, double time, bool before) {
  int64_t steps = (int64_t)(time / h + 0.5);
  frix_step_report report = {.certified = false};
  if (steps < 1) steps = 1;
  for (int64_t k = 0; k < steps; k++) {
    fx_run_controls_drive(m->robot, m->sim);
    if (!fx_subject_drive(&m->subject, context, m->sim, h)) return false;
    if (before && k == steps - 1) return true;
    if (frix_sim_step(m->sim, h, &report) != FRIX_OK) {
      fx_error("%s: %s", m->word, frix_error_text(context));
      return false;
    }
    if (fx_interrupted(NULL)) return false;
  }
  m->certified = report.certified;
  return true;
}

/* before: of the step that ends at --at, what it begins with. */
static bool read_scene(frix_context *context, const fx_args *args, fx_moment *m, bool before) {
  frix_sim_config config;
  double time = 0;
  if (!fx_subject_read(args, m->word, &m->subject) || !fx_subject_build(&m->subject, context)) return false;
  if (!fx_sim_settings(context, args, &config, &m->options)) return false;
  if (!fx_arg(args, "--contact")) config.contact = FRIX_CONTACT_KIND_RIGID;
  if (!fx_arg(args, "--tol")) config.tolerance = 1e-10;
  m->step = m->subject.step;
  if (!fx_arg_real(args, "--dt", 1e-9, 1, &m->step) || !fx_arg_real(args, "--at", 0, 1e9, &time)) return false;
  if (frix_sim_create(context, m->subject.model, &config, &m->sim) != FRIX_OK) {
    fx_error("%s: %s", m->word, frix_error_text(context));
    return false;
  }
  if (!fx_run_controls_open(m->subject.model, m->word, args, &m->robot)) return false;
  if (!step_to(context, m, m->step, time, before)) return false;
  if (before) return true;
  if (frix_sim_problem(m->sim, &m->problem) != FRIX_OK) {
    fx_error("%s: %s", m->word, frix_error_text(context));
    return false;
  }
  frix_problem_view(m->problem, &m->data);
  if (!read_impulses(m)) {
    fx_error("%s: the rows of the step are not those of its problem", m->word);
    return false;
  }
  return true;
}

static void begin(const fx_args *args, fx_moment *m) {
  memset(m, 0, sizeof *m);
  m->word = args->word[0];
  m->data = frix_problem_data_default();
  m->step = 1;
}

bool fx_moment_before(frix_context *context, const fx_args *args, fx_moment *m) {
  begin(args, m);
  return read_scene(context, args, m, true);
}

bool fx_moment_read(frix_context *context, const fx_args *args, fx_moment *m) {
  begin(args, m);
  if (is_world(m->word) || !is_problem(m->word)) return read_scene(context, args, m, false);
  m->problem = fx_read_problem(context, m->word, fx_arg(args, "--text"));
  if (!m->problem) return false;
  m->certified = true; /* judged by the code that solves it */
  frix_problem_view(m->problem, &m->data);
  return true;
}

void fx_moment_free(fx_moment *m) {
  frix_problem_destroy(m->problem);
  frix_sim_destroy(m->sim);
  frix_options_destroy(m->options);
  fx_run_robot_close(m->robot, false);
  fx_subject_free(&m->subject);
  free(m->r);
}

void fx_moment_contact(const fx_moment *m, int32_t i, char *out, size_t size) {
  frix_row_report report;
  char a[64], b[64];
  snprintf(out, size, "%d", i);
  if (!m->sim || frix_sim_row(m->sim, i, &report) != FRIX_OK) return;
  fx_body_name(m->sim, m->subject.model, report.a, a, sizeof a);
  fx_body_name(m->sim, m->subject.model, report.b, b, sizeof b);
  snprintf(out, size, "%d %s|%s", i, a, b);
}

/* ---- forces between bodies ---- */

static bool is_named(const fx_moment *m, frix_body_id id, const char *name) {
  char own[64];
  fx_body_name(m->sim, m->subject.model, id, own, sizeof own);
  return !strcmp(own, name);
}

/* "A,B.x" into its parts; b is empty where there is none. */
static bool split(const char *text, char a[64], char b[64], char *axis) {
  const char *dot = strrchr(text, '.'), *comma = strchr(text, ',');
  if (!dot || !dot[1] || dot[2] || !strchr("xyzn", dot[1])) return false;
  if (comma && comma > dot) comma = NULL;
  size_t first = (size_t)((comma ? comma : dot) - text), second = comma ? (size_t)(dot - comma - 1) : 0;
  if (first == 0 || first >= 64 || second >= 64) return false;
  memcpy(a, text, first), a[first] = 0;
  if (comma) memcpy(b, comma + 1, second);
  b[second] = 0;
  *axis = dot[1];
  return true;
}

bool fx_moment_pair(const fx_moment *m, const char *text, double *c) {
  char a[64], b[64], axis;
  bool any = false;
  if (!m->sim || !split(text, a, b, &axis)) {
    fx_error("--of %s: should read normals, total, row:K%s", text, m->sim ? ", A.x, A,B.x or A.n" : "");
    return false;
  }
  for (int32_t k = 0, at = 0; k < m->data.contact_count; at += m->data.contact[k++].dim) {
    frix_row_report report;
    if (frix_sim_row(m->sim, k, &report) != FRIX_OK || report.kind != FRIX_ROW_CONTACT) continue;
    bool first = is_named(m, report.a, a), second = is_named(m, report.b, a);
    frix_body_id other = first ? report.b : report.a;
    if (!(first || second) || (b[0] && !is_named(m, other, b))) continue;
    any = true;
    for (int32_t e = 0; e < report.law.dim; e++) {
      frix_vec3 d = report.direction[e];
      double along = axis == 'x' ? d.x : axis == 'y' ? d.y : d.z;
      if (axis == 'n') along = e == 0; /* presses, whichever side A is */
      if (!report.angular[e]) c[at + e] += (first || axis == 'n' ? along : -along) / m->step;
    }
  }
  if (!any) fx_error("--of %s: no contacts of these bodies", text);
  return any;
}
