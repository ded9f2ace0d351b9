/* frix gradient: derivatives of one step by whatever has a name: state, controls, forces, the world, the step
 * (<frix/sensitivity.h>). */
#include "gradient_run.h"
#include "moment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, WORD = 128 };

typedef struct study {
  char text[2][MOST][WORD]; /* by, of */
  const char *name[2][MOST];
  int count[2];
  double kappa;
  bool one_sided;
  double value[MOST * MOST], below[MOST * MOST];
  frix_gradient_result result;
} study;

/* Words between commas; "mu:A,B" is "mu:A|B". */
static bool split(study *s, int list, const char *text) {
  for (const char *p = text; p && *p;) {
    size_t n = strcspn(p, ",");
    int k = s->count[list];
    bool pair = k > 0 && !strncmp(s->text[list][k - 1], "mu:", 3) && !strchr(s->text[list][k - 1], '|');
    bool bare = !memchr(p, '.', n) && !memchr(p, ':', n) && !(n == 1 && *p == 'h') && !(n == 2 && !memcmp(p, "mu", 2));
    if (list == 0 && pair && bare) {
      char *last = s->text[list][k - 1];
      size_t m = strlen(last);
      snprintf(last + m, WORD - m, "|%.*s", (int)n, p);
    } else {
      if (k == MOST || n >= WORD) {
        fx_error("at most %d names of up to %d letters", (int)MOST, WORD - 1);
        return false;
      }
      snprintf(s->text[list][k], WORD, "%.*s", (int)n, p);
      s->name[list][k] = s->text[list][k];
      s->count[list]++;
    }
    p += n + (p[n] == ',');
  }
  return true;
}

static bool is_known(const study *s) {
  frix_gradient_verdict v = s->result.verdict;
  return v == FRIX_GRADIENT_SMOOTH || v == FRIX_GRADIENT_SMOOTHED || !isnan(s->value[0]);
}

static void print_text(const study *s, const fx_moment *m) {
  printf("%s%s%s at %g s: %s", fx_colour_on(FX_BOLD), m->word, fx_colour_off(), frix_sim_time(m->sim) + m->step,
         frix_gradient_verdict_name(s->result.verdict));
  if (s->kappa > 0) printf(", kappa %g: approximate, of the central path", s->kappa);
  if (isfinite(s->result.distance)) printf("; nearest change of mode %.3g", s->result.distance);
  printf("\n");
  for (int k = 0; is_known(s) && k < s->count[1]; k++)
    for (int e = 0; e < s->count[0]; e++) {
      int at = k * s->count[0] + e;
      printf("d %s / d %s = %.12g", s->name[1][k], s->name[0][e], s->value[at]);
      if (s->one_sided) printf(" from above, %.12g from below", s->below[at]);
      printf("\n");
    }
}

static void print_json(const study *s, const fx_moment *m) {
  fx_json json = {stdout, false};
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "subject", m->word);
  fx_put_real(&json, "time", frix_sim_time(m->sim) + m->step);
  fx_put_text(&json, "verdict", frix_gradient_verdict_name(s->result.verdict));
  if (s->kappa > 0)
    fx_put_real(&json, "kappa", s->kappa);
  else
    fx_put_real(&json, "distance", s->result.distance);
  fx_put_boolean(&json, "approximate", s->kappa > 0);
  fx_put_integer(&json, "contact", s->result.contact);
  fx_put_boolean(&json, "forces_unique", s->result.forces_unique);
  fx_put_real(&json, "residual", s->result.certificate.residual);
  fx_put_open(&json, "gradient", '[');
  for (int k = 0; is_known(s) && k < s->count[1]; k++)
    for (int e = 0; e < s->count[0]; e++) {
      int at = k * s->count[0] + e;
      fx_put_open(&json, NULL, '{');
      fx_put_text(&json, "of", s->name[1][k]);
      fx_put_text(&json, "wrt", s->name[0][e]);
      fx_put_real(&json, s->one_sided ? "above" : "value", s->value[at]);
      if (s->one_sided) fx_put_real(&json, "below", s->below[at]);
      fx_put_close(&json, '}');
    }
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

static int differentiate(frix_context *context, study *s, const fx_moment *m, bool json) {
  frix_step_gradient_config config = frix_step_gradient_default();
  config.step = m->step, config.kappa = s->kappa, config.one_sided = s->one_sided;
  config.wrt_count = s->count[0], config.wrt = s->name[0];
  config.of_count = s->count[1], config.of = s->name[1];
  s->result.size = sizeof s->result;
  frix_status status = frix_sim_step_gradient(m->sim, &config, s->value, s->one_sided ? s->below : NULL, &s->result);
  if (status != FRIX_OK) {
    fx_error("%s: %s", m->word, frix_error_text(context));
    return status == FRIX_ERROR_INPUT ? FX_EXIT_USAGE : FX_EXIT_UNSOLVED;
  }
  (json ? print_json : print_text)(s, m);
  return is_known(s) ? FX_EXIT_SOLVED : FX_EXIT_UNSOLVED;
}

int fx_gradient_of_named_step(const fx_args *args) {
  study *s = fx_grow(NULL, 1, sizeof *s);
  memset(s, 0, sizeof *s);
  s->one_sided = fx_arg(args, "--one-sided") != NULL;
  bool good = fx_arg_real(args, "--smoothed", 1e-12, 1, &s->kappa) && split(s, 0, fx_arg(args, "--wrt")) &&
              split(s, 1, fx_arg(args, "--of"));
  if (good && s->one_sided && s->kappa > 0) {
    fx_error("--smoothed has no kinks: leave out --one-sided");
    good = false;
  }
  if (!good) {
    free(s);
    return FX_EXIT_USAGE;
  }
  frix_context *context = fx_context(false);
  fx_moment m;
  fx_catch_interrupt();
  int code = FX_EXIT_USAGE;
  if (fx_moment_before(context, args, &m)) code = differentiate(context, s, &m, fx_arg(args, "--json") != NULL);
  fx_moment_free(&m);
  frix_context_destroy(context);
  free(s);
  return code;
}

/* "force:A.x", "mass:A", "mu", "mu:A" of bodies outside of trees go by one adjoint for each output (verb_gradient.c);
 * but masses that springs depend on. */
bool fx_gradient_by_name(const char *wrt, const char *of, bool stiff) {
  if (stiff && strstr(wrt, "mass:")) return true;
  for (const char *p = wrt; p && *p;) {
    size_t n = strcspn(p, ",");
    bool own =
        (n == 2 && !memcmp(p, "mu", 2)) || !strncmp(p, "mu:", 3) || !strncmp(p, "force:", 6) || !strncmp(p, "mass:", 5);
    if (!own || memchr(p, '|', n)) return true;
    p += n + (p[n] == ',');
  }
  return of && (strstr(of, "qpos:") || strstr(of, "qvel:") || strstr(of, ".n") || strstr(of, ".turn.") ||
                strstr(of, ".velocity.") || strstr(of, ".spin."));
}
