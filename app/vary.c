/* Runs of a scene with other values of its parameters, and least squares over them. */
#include "vary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is varied ---- */

static bool find_mass(fx_vary *v, fx_varied *out) {
  frix_body_config body;
  out->body = frix_model_find_body(v->subject.model, out->name + 5);
  out->parameter = -1;
  if (!out->body.index || frix_model_body(v->subject.model, out->body, &body) != FRIX_OK ||
      body.kind != FRIX_BODY_DYNAMIC) {
    fx_error("--vary %s: %s has no such moving body", out->name, v->subject.word);
    return false;
  }
  out->start = body.mass, out->least = 1e-3 * body.mass, out->most = 1e3 * body.mass;
  return true;
}

static bool find_varied(fx_vary *v, fx_varied *out) {
  const frix_scene *scene = v->subject.scene;
  if (!strncmp(out->name, "mass:", 5)) return find_mass(v, out);
  out->parameter = scene ? frix_scene_parameter_index(scene, out->name) : strcmp(out->name, "friction") ? -1 : -2;
  if (out->parameter == -2) {
    out->start = v->subject.friction, out->least = 0, out->most = 100;
    return true;
  }
  if (out->parameter < 0 || scene->parameter[out->parameter].kind != FRIX_OPTION_REAL) {
    fx_error("--vary %s: no real parameter of %s has this name (%s)", out->name, v->subject.word,
             scene ? "or mass:BODY" : "friction, mass:BODY");
    return false;
  }
  out->start = v->subject.value[out->parameter];
  out->least = scene->parameter[out->parameter].minimum, out->most = scene->parameter[out->parameter].maximum;
  return true;
}

static bool read_list(fx_vary *v, const char *text) {
  for (const char *p = text; p && *p;) {
    size_t n = strcspn(p, ",");
    if (v->count == FX_MOST_VARIED || n >= sizeof v->varied->name) {
      fx_error("--vary: at most %d parameters", (int)FX_MOST_VARIED);
      return false;
    }
    fx_varied *out = &v->varied[v->count];
    snprintf(out->name, sizeof out->name, "%.*s", (int)n, p);
    if (!find_varied(v, out)) return false;
    v->count++;
    p += n + (p[n] == ',');
  }
  if (!v->count) fx_error("what is to be varied? --vary LIST");
  return v->count > 0;
}

bool fx_vary_open(fx_vary *v, const fx_args *args, const char *word) {
  memset(v, 0, sizeof *v);
  v->context = fx_context(false);
  v->certified = true;
  if (!fx_subject_read(args, word, &v->subject) || !fx_subject_build(&v->subject, v->context)) return false;
  v->h = v->subject.step;
  if (!fx_arg_real(args, "--dt", 1e-9, 1, &v->h)) return false;
  if (!fx_sim_settings(v->context, args, &v->config, &v->options)) return false;
  if (!fx_arg(args, "--tol")) v->config.tolerance = 1e-12;
  return read_list(v, fx_arg(args, "--vary"));
}

void fx_vary_close(fx_vary *v) {
  frix_options_destroy(v->options);
  fx_subject_free(&v->subject);
  frix_context_destroy(v->context);
}

void fx_vary_clamp(const fx_vary *v, double *value) {
  for (int k = 0; k < v->count; k++) value[k] = fmin(fmax(value[k], v->varied[k].least), v->varied[k].most);
}

/* ---- readings ---- */

static const char *const coordinate_name[] = {"x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"};

int fx_vary_coordinate(const char *name) {
  for (int k = 0; k < 9; k++)
    if (!strcmp(name, coordinate_name[k])) return k;
  return -1;
}

bool fx_vary_reading(const fx_vary *v, const char *text, fx_reading *out) {
  char body[128];
  const char *dot = strrchr(text, '.');
  snprintf(body, sizeof body, "%.*s", dot ? (int)(dot - text) : 0, text);
  out->body = dot ? frix_model_find_body(v->subject.model, body) : (frix_body_id){0, 0};
  out->coordinate = dot ? fx_vary_coordinate(dot + 1) : -1;
  if (out->body.index && out->coordinate >= 0) return true;
  fx_error("'%s' should read BODY.x: a body of %s, and x, y, z, vx, vy, vz, wx, wy or wz", text, v->subject.word);
  return false;
}

static double read_coordinate(const frix_sim *sim, const fx_reading *r) {
  frix_body_state s;
  if (frix_sim_body(sim, r->body, &s) != FRIX_OK) return NAN;
  const double all[9] = {s.pose.p.x,   s.pose.p.y, s.pose.p.z, s.velocity.x, s.velocity.y,
                         s.velocity.z, s.spin.x,   s.spin.y,   s.spin.z};
  return all[r->coordinate];
}

/* ---- runs ---- */

static bool set_masses(fx_vary *v, frix_sim *sim, const double *value) {
  for (int k = 0; k < v->count; k++) {
    frix_body_config body;
    if (v->varied[k].parameter != -1) continue;
    if (frix_model_body(v->subject.model, v->varied[k].body, &body) != FRIX_OK) return false;
    double grown = value[k] / body.mass;
    frix_sym3 *j = &body.inertia;
    body.mass = value[k];
    j->xx *= grown, j->yy *= grown, j->zz *= grown, j->xy *= grown, j->xz *= grown, j->yz *= grown;
    if (frix_sim_set_body(sim, v->varied[k].body, &body) != FRIX_OK) return false;
  }
  return true;
}

static bool make_world(fx_vary *v, const double *value, frix_sim **sim) {
  bool rebuild = false;
  for (int k = 0; k < v->count; k++) {
    if (v->varied[k].parameter >= 0) v->subject.value[v->varied[k].parameter] = value[k], rebuild = true;
    if (v->varied[k].parameter == -2) v->subject.friction = value[k], rebuild = true;
  }
  if (rebuild && !fx_subject_build(&v->subject, v->context)) return false;
  if (frix_sim_create(v->context, v->subject.model, &v->config, sim) == FRIX_OK && set_masses(v, *sim, value))
    return true;
  fx_error("%s: %s", v->subject.word, frix_error_text(v->context));
  return false;
}

bool fx_vary_run(fx_vary *v, const double *value, const fx_reading *reading, int count, double *out) {
  frix_sim *sim = NULL;
  double *before = fx_grow(NULL, (size_t)count + 1, sizeof *before);
  bool good = make_world(v, value, &sim);
  for (int k = 0; good && k < count; k++) before[k] = out[k] = read_coordinate(sim, &reading[k]);
  for (int at = 0; good && at < count;) {
    frix_step_report report;
    double then = frix_sim_time(sim);
    if (reading[at].time <= then + 1e-9 * v->h) {
      at++;
      continue;
    }
    for (int k = at; k < count && reading[k].time <= then + 1.001 * v->h; k++)
      before[k] = read_coordinate(sim, &reading[k]);
    good = fx_subject_drive(&v->subject, v->context, sim, v->h);
    if (good && frix_sim_step(sim, v->h, &report) != FRIX_OK) {
      fx_error("%s: %s", v->subject.word, frix_error_text(v->context));
      good = false;
    }
    if (!good || fx_interrupted(NULL)) {
      good = false;
      break;
    }
    v->steps++;
    v->certified &= report.certified;
    double part, now = frix_sim_time(sim);
    for (int k = at; k < count && reading[k].time <= now + 1e-9 * v->h; k++) {
      part = (reading[k].time - then) / (now - then);
      out[k] = before[k] + part * (read_coordinate(sim, &reading[k]) - before[k]);
    }
  }
  v->runs++;
  free(before);
  frix_sim_destroy(sim);
  return good;
}

bool fx_vary_jacobian(fx_vary *v, const double *value, const fx_reading *reading, int count, double *out) {
  double *side[2], at[FX_MOST_VARIED];
  bool good = true;
  for (int s = 0; s < 2; s++) side[s] = fx_grow(NULL, (size_t)count + 1, sizeof **side);
  for (int k = 0; good && k < v->count; k++) {
    const fx_varied *one = &v->varied[k];
    double width = 1e-4 * fmax(fabs(value[k]), 1e-3 * (one->most - one->least)), from[2];
    width = fmin(width, 0.25 * (one->most - one->least));
    for (int s = 0; good && s < 2; s++) {
      memcpy(at, value, (size_t)v->count * sizeof *at);
      at[k] += s ? width : -width;
      fx_vary_clamp(v, at);
      from[s] = at[k];
      good = fx_vary_run(v, at, reading, count, side[s]);
    }
    for (int n = 0; good && n < count; n++) out[n * v->count + k] = (side[1][n] - side[0][n]) / (from[1] - from[0]);
  }
  for (int s = 0; s < 2; s++) free(side[s]);
  return good;
}

/* ---- least squares ---- */

typedef double square[FX_MOST_VARIED][FX_MOST_VARIED];

/* In columns of unit length: A x = b by Cholesky; false where A is not positive to 1e-12. */
static bool solve(int n, const square A, const double *b, double *x) {
  square L;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = A[i][j];
      for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
      if (i == j && !(sum > 1e-12)) return false;
      L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
    }
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
    x[i] /= L[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) x[i] -= L[k][i] * x[k];
    x[i] /= L[i][i];
  }
  return true;
}

typedef struct normal {
  double scale[FX_MOST_VARIED]; /* lengths of the columns; 0: nothing depends on it */
  square A;
  double b[FX_MOST_VARIED];
} normal;

static normal normal_of(const fx_vary *v, const double *J, const double *r, int count) {
  normal s;
  memset(&s, 0, sizeof s);
  double longest = 0;
  for (int k = 0; k < v->count; k++) {
    for (int n = 0; n < count; n++) s.scale[k] += J[n * v->count + k] * J[n * v->count + k];
    s.scale[k] = sqrt(s.scale[k]) * fmax(fabs(v->varied[k].start), 1e-3 * (v->varied[k].most - v->varied[k].least));
    longest = fmax(longest, s.scale[k]);
  }
  for (int k = 0; k < v->count; k++) {
    double unit = fmax(fabs(v->varied[k].start), 1e-3 * (v->varied[k].most - v->varied[k].least));
    s.scale[k] = s.scale[k] > 1e-7 * longest ? s.scale[k] / unit : 0;
  }
  for (int i = 0; i < v->count; i++) {
    s.A[i][i] = 1;
    if (s.scale[i] == 0) continue;
    for (int n = 0; n < count; n++) s.b[i] -= J[n * v->count + i] * r[n] / s.scale[i];
    for (int j = 0; j < i; j++) {
      for (int n = 0; n < count && s.scale[j] > 0; n++)
        s.A[i][j] += J[n * v->count + i] * J[n * v->count + j] / (s.scale[i] * s.scale[j]);
      s.A[j][i] = s.A[i][j];
    }
  }
  return s;
}

static void find_covariance(const fx_vary *v, const normal *s, fx_least_squares *f) {
  f->correlation = 0;
  f->singular = false;
  for (int k = 0; k < v->count; k++) {
    double e[FX_MOST_VARIED] = {0}, x[FX_MOST_VARIED] = {0};
    e[k] = 1;
    f->known[k] = s->scale[k] > 0;
    if (!solve(v->count, s->A, e, x)) f->singular = true;
    for (int n = 0; n < v->count; n++)
      f->covariance[k][n] = s->scale[k] > 0 && s->scale[n] > 0 ? x[n] / (s->scale[k] * s->scale[n]) : 0;
  }
  for (int i = 0; i < v->count; i++)
    for (int j = 0; j < i; j++) {
      double c = f->singular ? fabs(s->A[i][j])
                             : fabs(f->covariance[i][j]) / sqrt(f->covariance[i][i] * f->covariance[j][j] + 1e-300);
      if (c > f->correlation) f->correlation = c, f->pair[0] = j, f->pair[1] = i;
    }
}

static bool evaluate(fx_vary *v, const double *value, const fx_reading *reading, const double *wanted, int count,
                     double *residual, double *sum) {
  if (!fx_vary_run(v, value, reading, count, residual)) return false;
  *sum = 0;
  for (int k = 0; k < count; k++) residual[k] -= wanted[k], *sum += residual[k] * residual[k];
  return true;
}

bool fx_least_squares_find(fx_vary *v, const fx_reading *reading, const double *wanted, int count,
                           fx_least_squares *f) {
  enum { MOST = 60 };
  memset(f, 0, sizeof *f);
  f->residual = fx_grow(NULL, (size_t)count + 1, sizeof *f->residual);
  f->jacobian = fx_grow(NULL, (size_t)count * (size_t)v->count + 1, sizeof *f->jacobian);
  double *tried = fx_grow(NULL, (size_t)count + 1, sizeof *tried), damping = 1e-3;
  for (int k = 0; k < v->count; k++) f->value[k] = v->varied[k].start;
  bool good = evaluate(v, f->value, reading, wanted, count, f->residual, &f->sum);
  normal s;
  memset(&s, 0, sizeof s);
  while (good && !f->converged && f->iterations++ < MOST) {
    good = fx_vary_jacobian(v, f->value, reading, count, f->jacobian);
    s = normal_of(v, f->jacobian, f->residual, count);
    bool better = false;
    while (good && !better && damping < 1e8) {
      square A;
      double x[FX_MOST_VARIED], value[FX_MOST_VARIED], sum, moved = 0;
      memcpy(A, s.A, sizeof A);
      for (int k = 0; k < v->count; k++) A[k][k] += damping;
      good = solve(v->count, A, s.b, x);
      for (int k = 0; k < v->count; k++) value[k] = f->value[k] + (s.scale[k] > 0 ? x[k] / s.scale[k] : 0);
      fx_vary_clamp(v, value);
      for (int k = 0; k < v->count; k++)
        moved = fmax(moved, fabs(value[k] - f->value[k]) /
                                fmax(fabs(value[k]), 1e-3 * (v->varied[k].most - v->varied[k].least)));
      fx_progress("fit: sum of squares %.6g, change %.1e", f->sum, moved);
      if (moved < 1e-10) {
        f->converged = true;
        break;
      }
      if (!good || !evaluate(v, value, reading, wanted, count, tried, &sum)) {
        good = false;
        break;
      }
      better = sum < f->sum;
      if (better) {
        memcpy(f->value, value, sizeof value);
        memcpy(f->residual, tried, (size_t)count * sizeof *tried);
        f->converged = f->sum - sum <= 1e-14 * f->sum && moved < 1e-8;
        f->sum = sum;
      }
      damping = better ? damping * 0.1 : damping * 10;
    }
    if (!better) f->converged |= good;
    damping = fmin(damping, 1e3);
  }
  fx_progress_clear();
  if (good) find_covariance(v, &s, f);
  free(tried);
  return good;
}

void fx_least_squares_free(fx_least_squares *f) {
  free(f->residual);
  free(f->jacobian);
}
