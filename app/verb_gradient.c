/* frix gradient: how a certified step depends on friction, forces and masses, with a verdict (docs/explain.md). */
#include "gradient_run.h"
#include "moment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 64 };

/* One quantity that is varied or asked for: "mu", "mu:cup", "force:cup.x", "mass:cup"; "cup.x", "cup.vx". */
typedef struct part {
  char text[128];
  double value[MOST_PARTS]; /* of what is asked for, by what is varied; one-sided: as this grows */
  double below[MOST_PARTS]; /* one-sided: from below */
} part;

typedef struct study {
  const fx_moment *m;
  frix_gradient *gradient;
  frix_gradient_result view;
  part wrt[MOST_PARTS], of[MOST_PARTS];
  int wrt_count, of_count;
  double kappa;   /* 0: exact */
  bool one_sided; /* at kinks too */
} study;

/* ---- words ---- */

static int split_list(const char *text, part *out) {
  int count = 0;
  for (const char *p = text; p && *p && count < MOST_PARTS;) {
    size_t n = strcspn(p, ",");
    snprintf(out[count++].text, sizeof out->text, "%.*s", (int)n, p);
    p += n + (p[n] == ',');
  }
  return count;
}

/* First degree of freedom of a body and their number; false after a message. */
static bool find_body(const study *s, const char *name, int32_t *first, int32_t *count) {
  for (frix_body_id id = frix_sim_body_next(s->m->sim, (frix_body_id){0, 0}); id.index;
       id = frix_sim_body_next(s->m->sim, id)) {
    char own[64];
    fx_body_name(s->m->sim, s->m->subject.model, id, own, sizeof own);
    if (strcmp(own, name)) continue;
    if (frix_gradient_body(s->gradient, id, first, count) == FRIX_OK && *count) return true;
    fx_error("%s: nothing touches it in this step, or it is part of a tree", name);
    return false;
  }
  fx_no_body(&s->m->subject, name);
  return false;
}

/* "cup.x" into a degree of freedom; *pose: a place, not a velocity. */
static bool find_coordinate(const study *s, const char *text, bool velocities, int32_t *dof, bool *pose) {
  static const char *const name[2][6] = {{"x", "y", "z", "wx", "wy", "wz"}, {"vx", "vy", "vz", "wx", "wy", "wz"}};
  static const int flat[6] = {0, 1, -1, -1, -1, 2};
  char body[128];
  const char *dot = strrchr(text, '.');
  int32_t first, count;
  if (!dot || dot == text) {
    fx_error("'%s' should read BODY.x", text);
    return false;
  }
  snprintf(body, sizeof body, "%.*s", (int)(dot - text), text);
  if (!find_body(s, body, &first, &count)) return false;
  for (int table = 0; table < 1 + velocities; table++)
    for (int k = 0; k < 6; k++) {
      int at = count == 3 ? flat[k] : k;
      if (strcmp(dot + 1, name[table][k]) || at < 0) continue;
      *dof = first + at;
      *pose = table == 0 && k < 3;
      return true;
    }
  fx_error("'%s': coordinates are x, y, z%s, wx, wy, wz", text, velocities ? ", vx, vy, vz" : "");
  return false;
}

/* ---- derivatives ---- */

static double entry(const frix_matrix *m, int32_t row, int32_t column) {
  for (int32_t k = m->p[column]; k < m->p[column + 1]; k++)
    if (m->i[k] == row) return m->x[k];
  return 0;
}

/* Mass and inertia of a body grow together by 1 kg: f - M v grows with them, gravity and momentum being all there is
 * of f. */
static bool by_mass(const study *s, const char *name, double *f) {
  const frix_problem_data *d = &s->m->data;
  int32_t first, count;
  if (d->R) {
    fx_error("mass: springs of stiff contacts depend on masses; use --wrt %s.mass", name);
    return false;
  }
  if (!find_body(s, name, &first, &count)) return false;
  double mass = entry(&d->M, first, first);
  for (int32_t r = first; r < first + count; r++) {
    double change = d->f[r];
    for (int32_t c = first; c < first + count; c++) change -= entry(&d->M, r, c) * s->view.v[c];
    f[r] = change / mass;
  }
  return true;
}

static bool by_friction(const study *s, const char *name, double *mu) {
  bool any = false;
  for (int32_t i = 0; i < s->view.contact_count; i++) {
    frix_row_report report;
    char a[64], b[64];
    if (frix_sim_row(s->m->sim, i, &report) != FRIX_OK || report.kind != FRIX_ROW_CONTACT) continue;
    fx_body_name(s->m->sim, s->m->subject.model, report.a, a, sizeof a);
    fx_body_name(s->m->sim, s->m->subject.model, report.b, b, sizeof b);
    if (name && strcmp(a, name) && strcmp(b, name)) continue;
    any = true;
    mu[i] = 1;
  }
  if (!any) fx_error("mu%s%s: no contacts", name ? ":" : "", name ? name : "");
  return any;
}

/* The change of f and mu, which are zero, where the quantity grows by 1. */
static bool find_change(const study *s, const char *text, double *f, double *mu) {
  bool pose;
  int32_t dof;
  if (!strcmp(text, "mu")) return by_friction(s, NULL, mu);
  if (!strncmp(text, "mu:", 3)) return by_friction(s, text + 3, mu);
  if (!strncmp(text, "mass:", 5)) return by_mass(s, text + 5, f);
  if (!strncmp(text, "force:", 6)) {
    if (!find_coordinate(s, text + 6, false, &dof, &pose)) return false;
    f[dof] = s->m->step;
    return true;
  }
  fx_error("--wrt '%s' should read mu, mu:BODY, force:BODY.x or mass:BODY", text);
  return false;
}

typedef struct room {
  double *all, *f, *mu, *c, *by_f, *by_mu;
  size_t size;
} room;

static room take_room(const study *s) {
  size_t n = (size_t)s->view.dof_count, contacts = (size_t)s->view.contact_count;
  room r = {.size = 3 * n + 2 * contacts + 1};
  r.all = fx_grow(NULL, r.size, sizeof *r.all);
  r.f = r.all, r.c = r.f + n, r.by_f = r.c + n, r.mu = r.by_f + n, r.by_mu = r.mu + contacts;
  return r;
}

/* Weight of v for what is asked for: q1 = q0 + h v1. */
static bool find_weight(const study *s, const char *text, int32_t *dof, double *weight) {
  bool pose = false;
  if (!find_coordinate(s, text, true, dof, &pose)) return false;
  *weight = pose ? s->m->step : 1;
  return true;
}

/* One adjoint for each quantity that is asked for. */
static bool differentiate(frix_context *context, study *s) {
  room r = take_room(s);
  bool good = true;
  for (int k = 0; good && k < s->of_count; k++) {
    int32_t dof = 0;
    double weight = 0;
    frix_gradient_parts parts = {.size = sizeof parts, .f = r.by_f, .mu = r.by_mu};
    memset(r.all, 0, r.size * sizeof *r.all);
    good = find_weight(s, s->of[k].text, &dof, &weight);
    r.c[dof] = weight;
    if (good && frix_gradient_adjoint(s->gradient, r.c, NULL, &parts) != FRIX_OK) {
      fx_error("%s: %s", s->of[k].text, frix_error_text(context));
      good = false;
    }
    for (int e = 0; good && e < s->wrt_count; e++) {
      double *sum = &s->of[k].value[e];
      memset(r.f, 0, (size_t)s->view.dof_count * sizeof *r.f);
      memset(r.mu, 0, (size_t)s->view.contact_count * sizeof *r.mu);
      good = find_change(s, s->wrt[e].text, r.f, r.mu);
      *sum = 0;
      for (int32_t n = 0; n < s->view.dof_count; n++) *sum += r.by_f[n] * r.f[n];
      for (int32_t n = 0; n < s->view.contact_count; n++) *sum += r.by_mu[n] * r.mu[n];
    }
  }
  free(r.all);
  return good;
}

/* Two solutions for each quantity that is varied: as it grows, and as it shrinks. */
static bool differentiate_sides(frix_context *context, study *s) {
  room r = take_room(s);
  bool good = true;
  for (int e = 0; good && e < s->wrt_count; e++)
    for (int side = 0; good && side < 2; side++) {
      frix_gradient_data data = {.size = sizeof data, .f = r.f, .mu = r.mu};
      memset(r.all, 0, r.size * sizeof *r.all);
      good = find_change(s, s->wrt[e].text, r.f, r.mu);
      for (size_t n = 0; side && n < r.size; n++) r.all[n] = -r.all[n];
      if (good && frix_gradient_one_sided(s->gradient, &data, r.by_f, NULL, NULL) != FRIX_OK) {
        fx_error("%s: %s", s->wrt[e].text, frix_error_text(context));
        good = false;
      }
      for (int k = 0; good && k < s->of_count; k++) {
        int32_t dof = 0;
        double weight = 0;
        good = find_weight(s, s->of[k].text, &dof, &weight);
        *(side ? &s->of[k].below[e] : &s->of[k].value[e]) = (side ? -weight : weight) * r.by_f[dof];
      }
    }
  free(r.all);
  return good;
}

/* ---- output ---- */

static void print_text(const study *s, bool derived) {
  char name[160];
  fx_moment_contact(s->m, s->view.contact, name, sizeof name);
  printf("%s%s%s at %g s: %s", fx_colour_on(FX_BOLD), s->m->word, fx_colour_off(), frix_sim_time(s->m->sim),
         frix_gradient_verdict_name(s->view.verdict));
  if (s->kappa > 0) printf(", kappa %g: approximate, of the central path", s->kappa);
  if (s->view.contact >= 0) printf("; nearest change of mode %.3g, contact %s", s->view.distance, name);
  printf("\n");
  for (int k = 0; derived && k < s->of_count; k++)
    for (int e = 0; e < s->wrt_count; e++) {
      printf("d %s / d %s = %.12g", s->of[k].text, s->wrt[e].text, s->of[k].value[e]);
      if (s->one_sided) printf(" from above, %.12g from below", s->of[k].below[e]);
      printf("\n");
    }
}

static void print_json(const study *s, bool derived) {
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "subject", s->m->word);
  fx_put_real(&json, "time", frix_sim_time(s->m->sim));
  fx_put_text(&json, "verdict", frix_gradient_verdict_name(s->view.verdict));
  if (s->kappa > 0)
    fx_put_real(&json, "kappa", s->kappa);
  else
    fx_put_real(&json, "distance", s->view.distance);
  fx_put_boolean(&json, "approximate", s->kappa > 0);
  fx_put_integer(&json, "contact", s->view.contact);
  fx_put_boolean(&json, "forces_unique", s->view.forces_unique);
  fx_put_real(&json, "residual", s->view.certificate.residual);
  fx_put_open(&json, "gradient", '[');
  for (int k = 0; derived && k < s->of_count; k++)
    for (int e = 0; e < s->wrt_count; e++) {
      fx_put_open(&json, NULL, '{');
      fx_put_text(&json, "of", s->of[k].text);
      fx_put_text(&json, "wrt", s->wrt[e].text);
      fx_put_real(&json, s->one_sided ? "above" : "value", s->of[k].value[e]);
      if (s->one_sided) fx_put_real(&json, "below", s->of[k].below[e]);
      fx_put_close(&json, '}');
    }
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

static int study_step(frix_context *context, study *s, bool json) {
  if (!s->m->sim) {
    fx_error("%s: gradient needs a scene, not a problem file", s->m->word);
    return FX_EXIT_USAGE;
  }
  frix_status status = FRIX_OK;
  if (s->m->certified && s->kappa > 0)
    status = frix_gradient_of_step_smoothed(s->m->sim, NULL, s->kappa, &s->gradient);
  else if (s->m->certified)
    status = frix_gradient_of_step(s->m->sim, NULL, &s->gradient);
  if (!s->m->certified || status != FRIX_OK) {
    fx_error("%s: %s", s->m->word, s->m->certified ? frix_error_text(context) : "the step is not certified");
    return FX_EXIT_UNSOLVED;
  }
  s->view.size = sizeof s->view;
  frix_gradient_view(s->gradient, &s->view);
  bool kink = s->one_sided && s->view.verdict == FRIX_GRADIENT_KINK;
  bool smooth = s->view.verdict == FRIX_GRADIENT_SMOOTH || s->view.verdict == FRIX_GRADIENT_SMOOTHED || kink;
  if (smooth && !(s->one_sided ? differentiate_sides : differentiate)(context, s)) return FX_EXIT_USAGE;
  (json ? print_json : print_text)(s, smooth);
  return smooth ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
}

static int run_gradient(const fx_args *args) {
  static study s; /* large */
  fx_moment m;
  memset(&s, 0, sizeof s);
  s.m = &m;
  if (fx_arg(args, "--list")) return fx_gradient_list(args);
  s.wrt_count = split_list(fx_arg(args, "--wrt"), s.wrt);
  s.of_count = split_list(fx_arg(args, "--of"), s.of);
  if (!s.wrt_count || !s.of_count) {
    fx_error("gradient needs --wrt mu,force:BODY.x,mass:BODY and --of BODY.x,BODY.vx");
    return FX_EXIT_USAGE;
  }
  if (fx_arg(args, "--run")) return fx_gradient_of_run(args);
  const char *contact = fx_arg(args, "--contact");
  if (fx_gradient_by_name(fx_arg(args, "--wrt"), fx_arg(args, "--of"), contact && !strcmp(contact, "stiff")))
    return fx_gradient_of_named_step(args);
  if (!fx_arg_real(args, "--smoothed", 1e-12, 1, &s.kappa)) return FX_EXIT_USAGE;
  s.one_sided = fx_arg(args, "--one-sided") != NULL;
  if (s.one_sided && s.kappa > 0) {
    fx_error("--smoothed has no kinks: leave out --one-sided");
    return FX_EXIT_USAGE;
  }
  frix_context *context = fx_context(false);
  fx_catch_interrupt();
  int code =
      fx_moment_read(context, args, &m) ? study_step(context, &s, fx_arg(args, "--json") != NULL) : FX_EXIT_USAGE;
  frix_gradient_destroy(s.gradient);
  fx_moment_free(&m);
  frix_context_destroy(context);
  return code;
}

static const fx_flag flags[] = {
    {"--wrt", "LIST", NULL,
     "inputs, separated by commas: mu, mu:A, mu:A|B, force:A.x, h, ctrl:NAME, qpos:JOINT, qvel:JOINT; any of --list"},
    {"--list", NULL, NULL, "print the numbers that steps and runs can be differentiated by, and their values"},
    {"--of", "LIST", NULL,
     "outputs after the step, separated by commas: A.x, A.turn.x, A.vx, A.wx, qpos:JOINT, qvel:JOINT; A|B.n"},
    {"--run", NULL, NULL, "differentiate the whole run up to --at"},
    {"--backward", NULL, NULL, "with --run: one pass backward for each of --of, whatever the number of --wrt"},
    {"--one-sided", NULL, NULL, "of a step: derivatives from above and below, also at kinks"},
    {"--smoothed", "K", NULL,
     "of a step: approximate, on the central path at kappa K (for example 1e-3), without kinks"},
    {"--json", NULL, NULL, "print one JSON object"},
    FX_MOMENT_FLAGS,
    {0},
};

const fx_verb fx_verb_gradient = {
    .name = "gradient",
    .arguments = "SCENE --wrt LIST --of LIST",
    .summary = "derivatives of a certified step or run, with a verdict on smoothness",
    .detail =
        "Differentiates the step that ends at --at T (default: the first step) at its certified answer. Outputs are "
        "positions\n"
        "and velocities of bodies and joints after the step, and normal forces between bodies where forces are unique; "
        "inputs\n"
        "are friction (of all contacts, of a body, of two bodies), forces during the step, the state of bodies and "
        "joints,\n"
        "controls, the step h, and numbers of the world: BODY.mu, mass, inertia.x, restitution, stiffness, rolling, "
        "size.x,\n"
        "radius, length, gravity.z (see --list). Verdicts: smooth; kink (a contact is about to change between stick, "
        "slip and\n"
        "open); not unique (forces that the law leaves open change the motion). Numbers are printed only if smooth; "
        "else the\n"
        "exit code is 1. Contacts are rigid unless --contact says otherwise. --run differentiates the whole run from "
        "its\n"
        "start, by real parameters of the scene too, but not by controls and coordinates of robots. --one-sided "
        "prints both\n"
        "derivatives at a kink; --smoothed those of a nearby answer without kinks, and says so.",
    .example =
        "  frix gradient painleve --set mu=0.3 --at 0.02 --wrt mu,force:rod.x --of rod.x,rod.vx\n"
        "  frix gradient puck --run --wrt mu,speed --of puck.x --at 0.3\n"
        "  frix gradient puck --run --wrt world.mu,puck.mass,puck.velocity.x,h --of puck.x --at 0.3 --backward",
    .flag = flags,
    .words = "@scenes",
    .min_words = 1,
    .max_words = 1,
    .run = run_gradient,
};
