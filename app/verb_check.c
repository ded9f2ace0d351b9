/* frix check: the verdict on a structure at rest, and how far it is from falling. The verdict is two: an equilibrium
 * exists (exists.h), and a simulation from rest stays (stand.h).
 *
 * An interface is a pair of bodies that touch. With the forces r_i at its points, N = sum r_N, T = |sum r_T|:
 *   slip    T / (mu N): 1 slides
 *   topple  distance of the centre of pressure from the edge of the points, over half their extent, the least over all
 *           directions: 1 in the middle, 0 at the edge, where it turns over
 *   lift    N over the weight of the lighter body: 0 opens
 * Forces of a statically indeterminate structure are one possible set of many; what is said of the whole (least mu,
 * tilt) does not depend on them. */
#include "exists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct interface {
  frix_body_id a, b;
  int32_t first, count; /* among the contacts */
  double normal, tangent, mu;
  double slip, topple, lift; /* topple: NaN where the points have no extent */
} interface;

typedef struct margins {
  frix_contact_report *contact;
  int32_t contact_count;
  interface *row;
  int32_t count, worst; /* worst: of slip */
} margins;

/* ---- margins from the forces of the last step */

static double dot(frix_vec3 a, frix_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static double weight_of(const fx_stand_case *c, frix_body_id id) {
  frix_body_config body;
  frix_vec3 g = frix_model_gravity(c->subject->model);
  if (!id.index || frix_model_body(c->subject->model, id, &body) != FRIX_OK) return HUGE_VAL;
  return body.kind == FRIX_BODY_DYNAMIC ? body.mass * sqrt(dot(g, g)) : HUGE_VAL;
}

/* The least, over directions in the plane of the contact, of the distance to the edge over half the extent. */
static double topple_margin(const frix_contact_report *contact, const interface *row) {
  enum { DIRECTIONS = 72 };
  frix_vec3 t[2] = {contact[row->first].tangent[0], contact[row->first].tangent[1]};
  double least = NAN, widest = 0;
  for (int pass = 0; pass < 2; pass++) /* first how wide it is, so that directions without extent can be left out */
    for (int d = 0; d < DIRECTIONS; d++) {
      double s, c, low = HUGE_VAL, high = -HUGE_VAL, pressure = 0;
      frix_sincos(2 * pi * d / DIRECTIONS, &s, &c);
      for (int32_t k = row->first; k < row->first + row->count; k++) {
        double at = c * dot(contact[k].point, t[0]) + s * dot(contact[k].point, t[1]);
        low = fmin(low, at), high = fmax(high, at);
        pressure += at * dot(contact[k].force, contact[k].normal) / row->normal;
      }
      double half = 0.5 * (high - low);
      if (pass == 0) widest = fmax(widest, half);
      if (pass == 1 && half > 1e-3 * widest && half > 0) least = fmin(least, (high - pressure) / half);
    }
  return least;
}

static void measure(const fx_stand_case *c, const margins *m, interface *row) {
  frix_vec3 tangent = {0, 0, 0};
  row->normal = 0, row->mu = HUGE_VAL;
  for (int32_t k = row->first; k < row->first + row->count; k++) {
    const frix_contact_report *r = &m->contact[k];
    double n = dot(r->force, r->normal);
    row->normal += n;
    row->mu = fmin(row->mu, r->mu);
    tangent.x += r->force.x - n * r->normal.x, tangent.y += r->force.y - n * r->normal.y;
    tangent.z += r->force.z - n * r->normal.z;
  }
  row->tangent = sqrt(dot(tangent, tangent));
  row->slip = row->normal > 0 && row->mu > 0 ? row->tangent / (row->mu * row->normal) : 0;
  row->lift = row->normal / fmin(weight_of(c, row->a), weight_of(c, row->b));
  row->topple = row->normal > 0 ? topple_margin(m->contact, row) : NAN;
}

static bool same(frix_body_id a, frix_body_id b) { return a.index == b.index && a.generation == b.generation; }

/* Contacts come sorted by bodies, so the points of an interface stand together. */
static margins find_margins(const fx_stand_case *c, const frix_sim *sim) {
  margins m = {0};
  int32_t count = frix_sim_contact_count(sim);
  m.contact = fx_grow(NULL, (size_t)count, sizeof *m.contact);
  m.row = fx_grow(NULL, (size_t)count, sizeof *m.row);
  for (int32_t k = 0; k < count; k++) {
    frix_contact_report *r = &m.contact[m.contact_count];
    if (frix_sim_contact(sim, k, r) == FRIX_OK && r->phase != FRIX_CONTACT_END) m.contact_count++;
  }
  for (int32_t k = 0; k < m.contact_count; k++) {
    interface *last = m.count ? &m.row[m.count - 1] : NULL;
    if (last && same(last->a, m.contact[k].a) && same(last->b, m.contact[k].b))
      last->count++;
    else
      m.row[m.count++] = (interface){.a = m.contact[k].a, .b = m.contact[k].b, .first = k, .count = 1};
  }
  for (int32_t k = 0; k < m.count; k++) {
    measure(c, &m, &m.row[k]);
    if (m.row[k].slip > m.row[m.worst].slip) m.worst = k;
  }
  return m;
}

/* ---- margins of the whole */

typedef struct whole {
  bool slips;           /* friction can be varied */
  int32_t mu;           /* the scene's parameter, -1: all frictions of a file by one factor */
  double present, unit; /* what is varied now, 1 for a file; friction for 1, NaN: not one number */
  bool free;            /* stands without friction */
  fx_bracket least, least_stays;
  fx_bracket tilt[4], tilt_stays[4]; /* degrees, by direction; not found: at any angle */
  bool undecided[4];
  int directions;
  fx_trials trials;
} whole;

static bool set_mu(fx_stand_case *c, double value, void *user) {
  const whole *w = user;
  *(w->mu < 0 ? &c->subject->friction : &c->subject->value[w->mu]) = value;
  return fx_subject_build(c->subject, c->context);
}

static bool set_tilt(fx_stand_case *c, double value, void *user) {
  (void)user;
  c->tilt = value * pi / 180;
  return true;
}

/* More friction never takes an equilibrium away. */
static bool least_friction(fx_stand_case *c, whole *w) {
  frix_standing is;
  double least = w->mu < 0 ? 0 : c->subject->scene->parameter[w->mu].minimum;
  if (!set_mu(c, least, w) || !fx_judge_exists(c, &w->trials, &is)) return false;
  w->free = is == FRIX_STANDING_STANDS;
  w->least = (fx_bracket){!w->free, w->free ? least : w->present, least};
  if (w->free) return set_mu(c, w->present, w);
  return fx_bisect(c, set_mu, w, fx_judge_exists, 1e-7, &w->trials, &w->least) &&
         fx_find_stays(c, set_mu, w, &w->least, w->present, least, &w->trials, &w->least_stays) &&
         set_mu(c, w->present, w);
}

static bool largest_tilt(fx_stand_case *c, whole *w) {
  enum { SCAN = 16 };
  const double most = 89;
  for (int k = 0; k < w->directions; k++) {
    fx_exists e;
    bool holds;
    c->direction = k;
    if (!fx_exists_tilt(c, true, most, &w->trials, &w->tilt[k], &e, &holds)) return false;
    w->undecided[k] = e.standing == FRIX_STANDING_UNDECIDED;
    if (!holds) {
      w->tilt[k].found = false;
      if (!fx_first_change(c, set_tilt, w, fx_judge_exists, 0, FRIX_STANDING_STANDS, most, SCAN, 1e-7, &w->trials,
                           &w->tilt[k], NULL))
        return false;
    }
    if (w->tilt[k].found && !fx_find_stays(c, set_tilt, w, &w->tilt[k], 0, most, &w->trials, &w->tilt_stays[k]))
      return false;
    c->tilt = 0;
  }
  return true;
}

/* The friction of all contacts, NaN where they differ or are none. */
static double common_friction(const margins *m) {
  double mu = m->count ? m->row[0].mu : NAN;
  for (int32_t k = 0; k < m->contact_count; k++)
    if (m->contact[k].mu != mu) return NAN;
  return mu;
}

static bool find_whole(fx_stand_case *c, const margins *m, whole *w) {
  const frix_scene *scene = c->subject->scene;
  frix_vec3 g = frix_model_gravity(c->subject->model);
  frix_body_config body;
  bool planar =
      frix_model_body(c->subject->model, frix_model_body_at(c->subject->model, 0), &body) == FRIX_OK && body.planar;
  *w = (whole){.mu = scene ? frix_scene_parameter_index(scene, "mu") : -1, .trials = {.certified = true}};
  w->slips = !scene || w->mu >= 0;
  w->present = scene && w->mu >= 0 ? c->subject->value[w->mu] : 1;
  w->unit = scene ? 1 : common_friction(m);
  w->directions = dot(g, g) == 0 ? 0 : planar ? 2 : 4;
  return (!w->slips || least_friction(c, w)) && largest_tilt(c, w);
}

/* ---- text */

static const char *const direction_name[4] = {"x", "-x", "y", "-y"};

static int by_slip(const void *a, const void *b) {
  const interface *p = a, *q = b;
  return p->slip < q->slip ? 1 : p->slip > q->slip ? -1 : p->first < q->first ? -1 : p->first > q->first;
}

static void print_interfaces(const fx_stand_case *c, const frix_sim *sim, margins *m, int32_t shown) {
  fx_column column[] = {{"bodies", 28, true}, {"points", 6, false}, {"N", 10, false},
                        {"slip", 8, false},   {"topple", 8, false}, {"lift", 8, false}};
  char a[128], b[128];
  qsort(m->row, (size_t)m->count, sizeof *m->row, by_slip);
  m->worst = 0;
  if (shown > m->count) shown = m->count;
  if (!m->count) return;
  printf(
      "\nnearest to slipping, %d of %d interfaces, under the smallest forces that balance\n"
      "(slip: 1 slides; topple: 0 turns over; lift: 0 opens)\n",
      (int)shown, (int)m->count);
  fx_table_header(column, 6);
  for (int32_t k = 0; k < shown; k++) {
    const interface *row = &m->row[k];
    fx_cell cell[6];
    fx_body_name(sim, c->subject->model, row->a, a, sizeof a);
    fx_body_name(sim, c->subject->model, row->b, b, sizeof b);
    fx_cell_set(&cell[0], FX_PLAIN, "%s on %s", a, b);
    fx_cell_set(&cell[1], FX_PLAIN, "%d", (int)row->count);
    fx_cell_set(&cell[2], FX_PLAIN, "%.4g", row->normal);
    fx_cell_set(&cell[3], row->slip > 0.999 ? FX_RED : row->slip > 0.8 ? FX_YELLOW : FX_PLAIN, "%.4f", row->slip);
    if (isnan(row->topple))
      fx_cell_set(&cell[4], FX_PLAIN, "-");
    else
      fx_cell_set(&cell[4], row->topple < 0.05 ? FX_YELLOW : FX_PLAIN, "%.4f", row->topple);
    fx_cell_set(&cell[5], FX_PLAIN, "%.4g", row->lift);
    fx_table_row(column, cell, 6);
  }
}

static bool stands(const fx_exists *e, const fx_verdict *v) { return e->standing == FRIX_STANDING_STANDS && v->stays; }

static void print_verdict(const fx_stand_case *c, const frix_sim *sim, const fx_exists *e, const fx_verdict *v) {
  char name[128];
  fx_body_name(sim, c->subject->model, v->body, name, sizeof name);
  printf("%s%s%s %s%s%s: %s, and the simulation from rest %s\n", fx_colour_on(FX_BOLD), c->subject->word,
         fx_colour_off(), fx_colour_on(stands(e, v) ? FX_GREEN : FX_RED), stands(e, v) ? "stands" : "does not stand",
         fx_colour_off(), fx_exists_text(e->standing), v->stays ? "stays" : "moves");
  if (e->standing == FRIX_STANDING_FALLS) {
    printf("  equilibrium   a mechanism of power %.3g W", e->power);
    if (e->force_limit > 0)
      printf(", of which contacts with normal forces up to %.3g N take %.2g W", e->force_limit, e->resistance);
    printf("\n");
    fx_print_mechanism(e, "               ");
  } else {
    printf("  equilibrium   forces balance to %.1e of the load of each body\n", e->imbalance);
  }
  printf("  simulation    after %g s the farthest body%s%s%s is %.1e m from its place, the fastest at %.1e m/s\n",
         v->time, v->drift > 0 ? ", " : "", v->drift > 0 ? name : "", v->drift > 0 ? "," : "", v->drift, v->speed);
  printf("                %s, worst residual %.1e\n",
         v->certified ? "every step certified" : "not every step certified", v->residual);
}

/* Frictions that are not one number are told as shares of what the file says. */
static double friction_unit(const whole *w) { return isnan(w->unit) ? 1 : w->unit; }

/* The simulation's bracket beside that of the equilibria. */
static void print_stays(const fx_bracket *b, double unit) {
  if (b->found)
    printf("; simulated: stays at %.6g, moves at %.6g\n", unit * b->stands, unit * b->falls);
  else if (isnan(b->stands))
    printf("; simulated: moves wherever it was tried\n");
  else
    printf("; simulated: stays wherever it was tried\n");
}

static void print_whole(const whole *w) {
  double unit = friction_unit(w);
  const char *what = isnan(w->unit) ? "friction x" : "mu";
  if (w->slips && !w->free) {
    printf("  slip     stands at %s %.8g, falls at %.8g", what, unit * w->least.stands, unit * w->least.falls);
    print_stays(&w->least_stays, unit);
    printf("           friction %.4g has a reserve of %.3g\n", unit * w->present, w->present / w->least.stands);
  } else if (w->slips) {
    printf("  slip     stands at %s %.5g: needs no friction\n", what, unit * w->least.stands);
  }
  for (int k = 0; k < w->directions; k++) {
    if (w->undecided[k]) printf("  tilt %-2s  undecided\n", direction_name[k]);
    if (!w->undecided[k] && !w->tilt[k].found) printf("  tilt %-2s  stands at any angle\n", direction_name[k]);
    if (!w->tilt[k].found) continue;
    printf("  tilt %-2s  stands at %.8g degrees, falls at %.8g", direction_name[k], w->tilt[k].stands,
           w->tilt[k].falls);
    print_stays(&w->tilt_stays[k], 1);
  }
}

/* ---- JSON */

static void put_margins(fx_json *json, const fx_stand_case *c, const frix_sim *sim, const margins *m) {
  char name[128];
  fx_put_open(json, "interfaces", '[');
  for (int32_t k = 0; k < m->count; k++) {
    const interface *row = &m->row[k];
    fx_put_open(json, NULL, '{');
    fx_body_name(sim, c->subject->model, row->a, name, sizeof name);
    fx_put_text(json, "a", name);
    fx_body_name(sim, c->subject->model, row->b, name, sizeof name);
    fx_put_text(json, "b", name);
    fx_put_real(json, "normal", row->normal);
    fx_put_real(json, "tangent", row->tangent);
    fx_put_real(json, "slip", row->slip);
    fx_put_real(json, "topple", row->topple);
    fx_put_real(json, "lift", row->lift);
    fx_put_open(json, "contacts", '[');
    for (int32_t n = row->first; n < row->first + row->count; n++) {
      const frix_contact_report *r = &m->contact[n];
      double normal = dot(r->force, r->normal);
      fx_put_open(json, NULL, '{');
      fx_put_open(json, "point", '[');
      fx_put_real(json, NULL, r->point.x), fx_put_real(json, NULL, r->point.y), fx_put_real(json, NULL, r->point.z);
      fx_put_close(json, ']');
      fx_put_real(json, "mu", r->mu);
      fx_put_real(json, "normal", normal);
      fx_put_real(json, "slip", r->margin);
      fx_put_real(json, "lift", row->normal > 0 ? normal * row->count / row->normal : 0);
      fx_put_close(json, '}');
    }
    fx_put_close(json, ']');
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
  if (m->count) {
    fx_put_open(json, "worst", '{');
    fx_body_name(sim, c->subject->model, m->row[m->worst].a, name, sizeof name);
    fx_put_text(json, "a", name);
    fx_body_name(sim, c->subject->model, m->row[m->worst].b, name, sizeof name);
    fx_put_text(json, "b", name);
    fx_put_real(json, "slip", m->row[m->worst].slip);
    fx_put_close(json, '}');
  }
}

static void put_bracket(fx_json *json, const char *key, const fx_bracket *e, const fx_bracket *m, double unit) {
  fx_put_open(json, key, '{');
  fx_put_real(json, "stands", unit * e->stands);
  fx_put_real(json, "falls", e->found ? unit * e->falls : NAN);
  fx_put_real(json, "stays", m->found ? unit * m->stands : NAN);
  fx_put_real(json, "moves", m->found ? unit * m->falls : NAN);
}

static void put_whole(fx_json *json, const whole *w) {
  if (w->slips) {
    put_bracket(json, isnan(w->unit) ? "least_friction" : "least_mu", &w->least, &w->least_stays, friction_unit(w));
    fx_put_real(json, "reserve", w->least.found ? w->present / w->least.stands : NAN);
    fx_put_close(json, '}');
  }
  fx_put_open(json, "tilt", '{');
  for (int k = 0; k < w->directions; k++) {
    put_bracket(json, direction_name[k], &w->tilt[k], &w->tilt_stays[k], 1);
    fx_put_close(json, '}');
  }
  fx_put_close(json, '}');
}

static void print_json(const fx_stand_case *c, const frix_sim *sim, const fx_exists *e, const fx_verdict *v,
                       const margins *m, const whole *w) {
  fx_json json = {stdout, false};
  char name[128];
  fx_body_name(sim, c->subject->model, v->body, name, sizeof name);
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "scene", c->subject->word);
  fx_put_boolean(&json, "stands", stands(e, v));
  fx_put_boolean(&json, "certified", v->certified);
  fx_put_exists(&json, "equilibrium", e);
  fx_put_open(&json, "simulation", '{');
  fx_put_boolean(&json, "stays", v->stays);
  fx_put_real(&json, "drift", v->drift);
  fx_put_real(&json, "speed", v->speed);
  fx_put_text(&json, "farthest", v->drift > 0 ? name : NULL);
  fx_put_real(&json, "residual", v->residual);
  fx_put_real(&json, "time", v->time);
  fx_put_close(&json, '}');
  fx_missing_put(&json, &c->subject->missing);
  if (w) put_whole(&json, w);
  put_margins(&json, c, sim, m);
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

/* ---- the verb */

static bool check(const fx_args *args, fx_stand_case *c, fx_exists *e, fx_verdict *v, frix_sim **sim) {
  int64_t shown = 10;
  whole w = {0};
  if (!fx_arg_integer(args, "--show", 0, INT32_MAX, &shown)) return false;
  if (!fx_exists_now(c, e) || !fx_stand(c, v, sim)) return false;
  margins m = find_margins(c, *sim);
  bool json = fx_arg(args, "--json"), good = true, deeper = stands(e, v) && !fx_arg(args, "--quick");
  if (!json) print_verdict(c, *sim, e, v), fx_missing_print(&c->subject->missing, 8);
  fx_output_alive(NULL);
  /* the sim lives on the model, which the search for the least friction replaces: it comes last, on a copy */
  if (deeper) {
    fx_subject copy = *c->subject;
    fx_stand_case other = *c;
    other.subject = &copy;
    copy.own = NULL, copy.missing = (fx_missing){0};
    good = fx_subject_build(&copy, c->context) && find_whole(&other, &m, &w);
    fx_subject_free(&copy);
    v->certified = v->certified && w.trials.certified;
  }
  if (good && json) print_json(c, *sim, e, v, &m, deeper ? &w : NULL);
  if (good && !json && deeper) print_whole(&w);
  if (good && !json) print_interfaces(c, *sim, &m, (int32_t)shown);
  free(m.contact);
  free(m.row);
  return good;
}

static int run_check(const fx_args *args) {
  fx_subject subject = {0};
  frix_sim_config config;
  frix_options *options = NULL;
  frix_sim *sim = NULL;
  fx_stand_case c = {.context = fx_context(false), .subject = &subject};
  fx_exists exists = {0};
  fx_verdict verdict = {0};
  fx_catch_interrupt();
  bool good = fx_subject_read(args, args->word[0], &subject) && fx_stand_settings(args, &c, &config, &options) &&
              check(args, &c, &exists, &verdict, &sim);
  bool certain = stands(&exists, &verdict) && verdict.certified;
  int code = fx_missing_code(&subject.missing, certain ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED);
  frix_sim_destroy(sim);
  frix_options_destroy(options);
  fx_subject_free(&subject);
  frix_context_destroy(c.context);
  return good ? code : FX_EXIT_USAGE;
}

static const fx_flag flags[] = {
    FX_STAND_FLAGS,
    {"--show", "N", NULL, "number of interfaces in the table, default 10"},
    {"--quick", NULL, NULL, "skip the search for least friction and largest tilt"},
    {"--json", NULL, NULL, "print one JSON object with every contact"},
    {0},
};

const fx_verb fx_verb_check = {
    .name = "check",
    .arguments = "SCENE|FILE",
    .summary = "decide whether a structure stands, and how far it is from falling",
    .detail =
        "A structure stands if (1) an equilibrium exists, that is, forces within the friction cones balance all loads, "
        "and\n"
        "(2) a simulation from rest stays in place for --time seconds (tolerance 1e-10). Impacts defined by the scene "
        "are\n"
        "left out. If no equilibrium exists, a mechanism (a motion of the bodies) proves it. The least friction and "
        "the\n"
        "largest tilt are limits of the equilibria, together with the behaviour of the simulation next to them. The "
        "table\n"
        "lists slip, topple and lift of every pair of touching bodies. Exit code 0: it stands and every step is "
        "certified;\n"
        "1: not; 2: bad usage or input; 3: it stands, but the file uses unsupported features.",
    .example =
        "  frix check cardhouse --set levels=2\n"
        "  frix check arch --set mu=0.35 --json",
    .flag = flags,
    .words = "@scenes",
    .min_words = 1,
    .max_words = 1,
    .run = run_check,
};
