/* frix fit: parameters of a scene from measured motion, with confidence intervals (docs/explain.md). */
#include "vary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 64 };

typedef struct data {
  fx_reading *reading;
  double *wanted;
  int count;
} data;

/* ---- the table: time, body, and coordinates by their names, as frix run --csv writes them ---- */

static int split(char *line, char **word) {
  int count = 0;
  line[strcspn(line, "\r\n")] = 0;
  for (char *p = line; p && count < MOST_COLUMNS;) {
    char *end = strchr(p, ',');
    if (end) *end = 0;
    size_t n = strlen(p);
    if (n > 1 && p[0] == '"' && p[n - 1] == '"') p[n - 1] = 0, p++;
    word[count++] = p;
    p = end ? end + 1 : NULL;
  }
  return count;
}

typedef struct head {
  int time, body, coordinate[MOST_COLUMNS], count;
} head;

static bool read_head(const char *path, char *line, bool velocities, head *h) {
  char *word[MOST_COLUMNS];
  int readings = 0;
  h->count = split(line, word), h->time = h->body = -1;
  for (int k = 0; k < h->count; k++) {
    int c = fx_vary_coordinate(word[k]);
    h->coordinate[k] = c >= 3 && !velocities ? -1 : c;
    readings += h->coordinate[k] >= 0;
    if (!strcmp(word[k], "time")) h->time = k;
    if (!strcmp(word[k], "body")) h->body = k;
  }
  if (h->time >= 0 && h->body >= 0 && readings) return true;
  fx_error("%s: its first line should name the columns time, body, and some of x, y, z", path);
  return false;
}

static bool read_number(const char *text, double *out) {
  char *end;
  *out = strtod(text, &end);
  return end != text && !*end && isfinite(*out);
}

static bool read_row(const fx_vary *v, const head *h, char **word, int count, data *d) {
  double time, value;
  frix_body_id body = frix_model_find_body(v->subject.model, word[h->body]);
  if (count != h->count || !body.index || !read_number(word[h->time], &time) || time < 0) return false;
  for (int k = 0; k < count; k++) {
    if (h->coordinate[k] < 0 || !*word[k]) continue;
    if (!read_number(word[k], &value)) return false;
    d->reading = fx_grow(d->reading, (size_t)d->count + 1, sizeof *d->reading);
    d->wanted = fx_grow(d->wanted, (size_t)d->count + 1, sizeof *d->wanted);
    d->reading[d->count] = (fx_reading){body, h->coordinate[k], time};
    d->wanted[d->count++] = value;
  }
  return true;
}

static bool read_data(const fx_vary *v, const char *path, bool velocities, data *d) {
  char line[8192], *word[MOST_COLUMNS];
  head h;
  FILE *file = fopen(path, "r");
  if (!file) {
    fx_error("%s: %s", path, strerror(errno));
    return false;
  }
  bool good = fgets(line, sizeof line, file) != NULL;
  if (!good) fx_error("%s: empty", path);
  good = good && read_head(path, line, velocities, &h);
  for (int number = 2; good && fgets(line, sizeof line, file); number++) {
    if (line[0] == '\n' || line[0] == '#') continue;
    int count = split(line, word);
    good = read_row(v, &h, word, count, d);
    if (!good) fx_error("%s, line %d: not a row of its columns, or no body of %s", path, number, v->subject.word);
    for (int k = d->count - 1; good && k > 0 && d->reading[k].time < d->reading[k - 1].time; k--) {
      fx_reading r = d->reading[k];
      double w = d->wanted[k];
      d->reading[k] = d->reading[k - 1], d->reading[k - 1] = r;
      d->wanted[k] = d->wanted[k - 1], d->wanted[k - 1] = w;
    }
  }
  fclose(file);
  if (good && d->count <= v->count) {
    fx_error("%s: %d numbers for %d parameters", path, d->count, v->count);
    good = false;
  }
  return good;
}

/* ---- telling ---- */

static double spread(const data *d, const fx_vary *v, const fx_least_squares *f) {
  return sqrt(f->sum / (d->count - v->count));
}

/* Half the width of the 95 % interval. */
static double half_width(const data *d, const fx_vary *v, const fx_least_squares *f, int k) {
  if (!f->known[k] || f->singular) return INFINITY;
  return 1.959963984540054 * spread(d, v, f) * sqrt(f->covariance[k][k]);
}

/* NULL: all parameters are told apart. */
static const char *trouble(const fx_vary *v, const fx_least_squares *f, char *out, size_t size) {
  for (int k = 0; k < v->count; k++)
    if (!f->known[k]) {
      snprintf(out, size, "the data do not depend on %s", v->varied[k].name);
      return out;
    }
  if (!f->singular && f->correlation < 0.999) return NULL;
  snprintf(out, size, "%s and %s cannot be told apart (correlation %.6f)", v->varied[f->pair[0]].name,
           v->varied[f->pair[1]].name, f->correlation);
  return out;
}

static void print_text(const data *d, const fx_vary *v, const fx_least_squares *f) {
  char text[256];
  printf("%s%s%s: %d numbers, standard deviation %.3g, %s after %d iterations, %lld runs\n", fx_colour_on(FX_BOLD),
         v->subject.word, fx_colour_off(), d->count, spread(d, v, f), f->converged ? "converged" : "not converged",
         f->iterations, (long long)v->runs);
  for (int k = 0; k < v->count; k++)
    printf("  %-12s %.10g +- %.2g (95 %%)\n", v->varied[k].name, f->value[k], half_width(d, v, f, k));
  if (trouble(v, f, text, sizeof text)) printf("  not identifiable: %s\n", text);
  printf("  %s\n", v->certified ? "every step certified" : "not every step certified");
}

static void print_json(const data *d, const fx_vary *v, const fx_least_squares *f) {
  char text[256];
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "subject", v->subject.word);
  fx_put_integer(&json, "numbers", d->count);
  fx_put_real(&json, "deviation", spread(d, v, f));
  fx_put_boolean(&json, "converged", f->converged);
  fx_put_integer(&json, "iterations", f->iterations);
  fx_put_integer(&json, "runs", v->runs);
  fx_put_boolean(&json, "certified", v->certified);
  fx_put_text(&json, "trouble", trouble(v, f, text, sizeof text));
  fx_put_real(&json, "correlation", f->correlation);
  fx_put_open(&json, "parameters", '{');
  for (int k = 0; k < v->count; k++) {
    double half = half_width(d, v, f, k);
    fx_put_open(&json, v->varied[k].name, '{');
    fx_put_real(&json, "value", f->value[k]);
    fx_put_real(&json, "lower", f->value[k] - half);
    fx_put_real(&json, "upper", f->value[k] + half);
    fx_put_close(&json, '}');
  }
  fx_put_close(&json, '}');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

static int run_fit(const fx_args *args) {
  fx_vary v;
  data d = {0};
  fx_least_squares f = {0};
  char text[256];
  fx_catch_interrupt();
  int code = FX_EXIT_USAGE;
  if (fx_vary_open(&v, args, args->word[1]) && read_data(&v, args->word[0], fx_arg(args, "--velocities"), &d) &&
      fx_least_squares_find(&v, d.reading, d.wanted, d.count, &f)) {
    (fx_arg(args, "--json") ? print_json : print_text)(&d, &v, &f);
    code = f.converged && v.certified && !trouble(&v, &f, text, sizeof text) ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
  }
  fx_least_squares_free(&f);
  free(d.reading);
  free(d.wanted);
  fx_vary_close(&v);
  return code;
}

static const fx_flag flags[] = {
    {"--velocities", NULL, NULL, "also fit the columns vx, vy, vz, wx, wy, wz, unscaled"},
    FX_VARY_FLAGS,
    {0},
};

const fx_verb fx_verb_fit = {
    .name = "fit",
    .arguments = "DATA.csv SCENE --vary LIST",
    .summary = "estimate friction, mass and other parameters from measured motion",
    .detail =
        "DATA.csv has one line per time and body with the columns time, body and any of x, y, z, as 'frix run --csv' "
        "writes\n"
        "them; other columns are ignored. The fit is least squares by Gauss-Newton over certified runs solved to "
        "1e-12, with\n"
        "95 % intervals from the spread of the residuals. Exit code 1 if it does not converge, a step is not "
        "certified, or\n"
        "the data cannot distinguish the parameters.",
    .example =
        "  frix run incline --set angle=30 --set mu=0.3 --csv slide\n"
        "  frix fit slide_bodies.csv incline --set angle=30 --vary mu",
    .flag = flags,
    .min_words = 2,
    .max_words = 2,
    .run = run_fit,
};
