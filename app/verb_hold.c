/* frix hold: inverse statics. The forces and torques that hold a scene as it is with the least effort, friction and
 * joints helping (docs/explain.md). */
#include "stand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

typedef struct holding {
  fx_stand_case c;
  frix_sim *sim;
  char name[MOST][96];
  frix_actuator actuator[MOST];
  double value[MOST];
  int count;
  frix_equilibrium *equilibrium;
  frix_equilibrium_result result;
} holding;

/* ---- words ---- */

static bool find_body(const holding *h, const char *text, size_t length, frix_body_id *out) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)length, text);
  *out = (frix_body_id){0, 0};
  if (!strcmp(name, "world")) return true;
  for (frix_body_id id = frix_sim_body_next(h->sim, (frix_body_id){0, 0}); id.index;
       id = frix_sim_body_next(h->sim, id)) {
    char own[64];
    fx_body_name(h->sim, h->c.subject->model, id, own, sizeof own);
    if (!strcmp(own, name)) *out = id;
  }
  if (!out->index) fx_error("%s has no body '%s'", h->c.subject->word, name);
  return out->index != 0;
}

/* "cup.x", "upper|lower.rz=20". */
static bool read_actuator(holding *h, const char *text, size_t length) {
  static const char *const axis[6] = {"x", "y", "z", "rx", "ry", "rz"};
  if (h->count >= MOST || length >= sizeof h->name[0]) {
    fx_error("--by: at most %d actuators, each of at most %d characters", (int)MOST, (int)sizeof h->name[0] - 1);
    return false;
  }
  frix_actuator *a = &h->actuator[h->count];
  char *word = h->name[h->count], *end;
  snprintf(word, sizeof h->name[0], "%.*s", (int)length, text);
  *a = (frix_actuator){.limit = 1};
  char *limit = strchr(word, '=');
  if (limit) a->limit = strtod(limit + 1, &end), *limit = 0;
  char *dot = strrchr(word, '.'), *bar = strchr(word, '|');
  int direction = -1;
  for (int k = 0; dot && k < 6; k++)
    if (!strcmp(dot + 1, axis[k])) direction = k;
  if (direction < 0 || (limit && (*end || !(a->limit > 0) || !isfinite(a->limit)))) {
    fx_error("--by '%.*s' should read BODY.x, BODY|OTHER.rz or BODY.x=LIMIT (x, y, z, rx, ry, rz; LIMIT above 0)",
             (int)length, text);
    return false;
  }
  double unit[6] = {0};
  unit[direction] = 1;
  a->force = (frix_vec3){unit[0], unit[1], unit[2]}, a->torque = (frix_vec3){unit[3], unit[4], unit[5]};
  if (!find_body(h, word, (size_t)((bar ? bar : dot) - word), &a->body)) return false;
  if (bar && !find_body(h, bar + 1, (size_t)(dot - bar - 1), &a->on)) return false;
  h->count++;
  return true;
}

static bool read_list(holding *h, const char *text) {
  for (const char *p = text; p && *p;) {
    size_t n = strcspn(p, ",");
    if (!read_actuator(h, p, n)) return false;
    p += n + (p[n] == ',');
  }
  if (!h->count) fx_error("what may push? --by BODY.x,BODY.rz");
  return h->count > 0;
}

/* ---- output ---- */

static const char *unit_of(const frix_actuator *a) {
  return a->torque.x != 0 || a->torque.y != 0 || a->torque.z != 0 ? "N m" : "N";
}

static void print_text(const holding *h) {
  const frix_equilibrium_result *r = &h->result;
  printf("%s%s%s: ", fx_colour_on(FX_BOLD), h->c.subject->word, fx_colour_off());
  if (r->standing != FRIX_STANDING_STANDS) {
    printf("%s\n", r->standing == FRIX_STANDING_FALLS ? "no effort holds it: a mechanism is left"
                                                      : "undecided, neither forces nor a mechanism found");
    return;
  }
  printf("held with effort %.9g (no less than %.9g), imbalance %.1e\n", r->effort, r->effort_bound, r->imbalance);
  for (int k = 0; k < h->count; k++) printf("  %-24s %14.9g %s\n", h->name[k], h->value[k], unit_of(&h->actuator[k]));
}

static void print_json(const holding *h) {
  const frix_equilibrium_result *r = &h->result;
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "subject", h->c.subject->word);
  fx_put_text(&json, "standing", frix_standing_name(r->standing));
  fx_put_real(&json, "effort", r->effort);
  fx_put_real(&json, "effort_bound", r->effort_bound);
  fx_put_real(&json, "imbalance", r->imbalance);
  fx_put_open(&json, "actuators", '[');
  for (int k = 0; k < h->count; k++) {
    fx_put_open(&json, NULL, '{');
    fx_put_text(&json, "name", h->name[k]);
    fx_put_real(&json, "limit", h->actuator[k].limit);
    fx_put_real(&json, "value", h->value[k]);
    fx_put_close(&json, '}');
  }
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

static int run_hold(const fx_args *args) {
  holding *h = fx_grow(NULL, 1, sizeof *h);
  fx_subject subject;
  frix_sim_config config;
  frix_options *options = NULL;
  memset(h, 0, sizeof *h);
  memset(&subject, 0, sizeof subject);
  h->c.context = fx_context(false), h->c.subject = &subject;
  bool good = fx_subject_read(args, args->word[0], &subject) && fx_stand_settings(args, &h->c, &config, &options);
  if (good && frix_sim_create(h->c.context, subject.model, &config, &h->sim) != FRIX_OK) {
    fx_error("%s: %s", subject.word, frix_error_text(h->c.context));
    good = false;
  }
  good = good && read_list(h, fx_arg(args, "--by"));
  if (good && frix_sim_hold(h->sim, h->c.h, h->actuator, h->count, h->value, &h->equilibrium) != FRIX_OK) {
    fx_error("%s: %s", subject.word, frix_error_text(h->c.context));
    good = false;
  }
  if (good) frix_equilibrium_view(h->equilibrium, &h->result);
  if (good) (fx_arg(args, "--json") ? print_json : print_text)(h);
  int code = !good ? FX_EXIT_USAGE : h->result.standing == FRIX_STANDING_STANDS ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
  frix_equilibrium_destroy(h->equilibrium);
  frix_sim_destroy(h->sim);
  frix_options_destroy(options);
  fx_subject_free(&subject);
  frix_context_destroy(h->c.context);
  free(h);
  return code;
}

static const fx_flag flags[] = {
    {"--by", "LIST", NULL, "what may push or turn: BODY.x (y, z, rx, ry, rz), A|B.rz between two, BODY.x=LIMIT"},
    FX_STAND_FLAGS,
    {"--json", NULL, NULL, "print one JSON object"},
    {0},
};

const fx_verb fx_verb_hold = {
    .name = "hold",
    .arguments = "SCENE|FILE --by LIST",
    .summary = "the forces that hold a pose with the least effort",
    .detail =
        "Inverse statics: of all forces and torques of the named actuators that hold the scene as it is, friction and\n"
        "joints helping as far as they can, those with the least effort. Effort is the largest share of its limit\n"
        "(default 1 N, 1 N m) that an actuator gives; it comes with a bound below which nothing holds, from the dual\n"
        "of the conic programme. Exit code 0: held; 1: no effort is enough, or undecided.",
    .example =
        "  frix hold incline --set angle=30 --set mu=0.3 --by block.x      # pushed along x\n"
        "  frix hold incline --set mu=0.3 --by block.x=10,block.z=50",
    .flag = flags,
    .words = "@scenes",
    .min_words = 1,
    .max_words = 1,
    .run = run_hold,
};
