/* Replay pages: the template of the build (web/), with a run in it.
 *
 * The file is read twice. First all of it, for the verdict (certified steps, worst residual), and to choose the frames
 * that are shown: half of them evenly over time, half where things move, sum of |v| h weighted by mass (the root of the
 * kinetic energy). Then those frames, each with the worst residual and penetration since the one before. */
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef FRIX_HAVE_REPLAY
extern const char fx_replay_page[];
#elif defined(__EMSCRIPTEN__)
extern const char *fx_replay_page; /* what the page that carries this module brings along (web/core) */
#else
static const char fx_replay_page[] = "";
#endif

#ifdef FRIX_HAVE_PROVE
extern const char fx_replay_core[]; /* script elements with the WebAssembly core */
#else
static const char fx_replay_core[] = "";
#endif

#define PLACE "@PAYLOAD@"

fx_page_config fx_page_default(void) { return (fx_page_config){.frames = 2000, .megabytes = 64}; }

bool fx_page_available(void) {
  if (strstr(fx_replay_page, PLACE)) return true;
  fx_error("this build has no replay pages: run './dev setup --web', then './dev build'");
  return false;
}

bool fx_page_can_prove(void) {
  if (fx_replay_core[0]) return true;
  fx_error(
      "this build has no WebAssembly core for pages: './dev setup --all', './dev wasm' and './dev build' give it one");
  return false;
}

/* ---- the whole run */

typedef struct moment {
  int32_t frame; /* in the file */
  double time, residual, penetration, motion;
  int32_t body_count, contact_count;
} moment;

typedef struct survey {
  moment *moment; /* frames that can be read */
  int32_t count, damaged;
  int64_t worst_step;
  double worst, worst_time, h;
  frix_tally tally;
} survey;

static void note(survey *s, const frix_frame *frame, int32_t k) {
  double residual = frame->report.certificate.residual;
  s->moment[s->count++] = (moment){.frame = k,
                                   .time = frame->time,
                                   .residual = residual,
                                   .penetration = frame->report.penetration,
                                   .motion = sqrt(fmax(0, frame->energy.kinetic)),
                                   .body_count = frame->body_count,
                                   .contact_count = frame->contact_count};
  if (!(frame->h > 0)) return; /* the start: no step led here */
  bool first = !(s->h > 0);
  s->h = frame->h;
  if (first || !(residual <= s->worst)) {
    s->worst = residual;
    s->worst_step = frame->step;
    s->worst_time = frame->time;
  }
}

static frix_status look_over(frix_context *context, frix_trajectory *trajectory, survey *s) {
  int32_t count = frix_trajectory_frame_count(trajectory);
  s->moment = fx_grow(NULL, (size_t)count + 1, sizeof *s->moment);
  for (int32_t k = 0; k < count; k++) {
    frix_frame frame = {.size = sizeof frame};
    frix_status status = frix_trajectory_frame(trajectory, k, &frame);
    if (status == FRIX_OK) note(s, &frame, k);
    if (status != FRIX_OK && (status != FRIX_ERROR_FORMAT || s->damaged + 1 == count)) return status;
    if (status != FRIX_OK && s->damaged++ == 0) fx_warning("%s; left out", frix_error_text(context));
    if (k % 1000 == 999) fx_progress("replay page: frame %d of %d", (int)k + 1, (int)count);
  }
  if (s->damaged) fx_warning("%d of %d frames cannot be read and are not shown", (int)s->damaged, (int)count);
  return frix_trajectory_tally(trajectory, -1, &s->tally);
}

/* ---- which frames are shown */

/* Marks at most `wanted` frames, the first and the last among them. */
static int32_t choose(const survey *s, int64_t wanted, bool *shown) {
  memset(shown, 0, (size_t)s->count * sizeof *shown);
  double span = s->count > 1 ? s->moment[s->count - 1].time - s->moment[0].time : 0, motion = 0;
  for (int32_t k = 1; k < s->count; k++) motion += s->moment[k].motion * (s->moment[k].time - s->moment[k - 1].time);
  int32_t chosen = 0;
  double sum = 0, next = 0;
  for (int32_t k = 0; k < s->count; k++) {
    if (k > 0) {
      double h = s->moment[k].time - s->moment[k - 1].time;
      double even = span > 0 ? h / span : 1.0 / s->count, moved = motion > 0 ? s->moment[k].motion * h / motion : even;
      sum += 0.5 * (even + moved);
    }
    bool last = k == s->count - 1;
    if (!last && wanted < s->count && sum < next) continue;
    shown[k] = true;
    chosen++;
    /* one place is kept for the last frame */
    while (wanted > 2 && next <= sum) next += 1.0 / (double)(wanted - 1);
    if (wanted <= 2) next = 2;
  }
  return chosen;
}

static int64_t size_of(const survey *s, const bool *shown, bool coarse) {
  int64_t total = 0;
  for (int32_t k = 0; k < s->count; k++)
    if (shown[k]) total += fx_page_frame_size(s->moment[k].body_count, s->moment[k].contact_count, coarse);
  return total;
}

/* Frames and precision that fit the size; true: coarse positions. */
static bool fit(const survey *s, const fx_page_config *config, bool *shown) {
  double room = 0.75 * (config->megabytes * 1e6 - (double)strlen(fx_replay_page)); /* base64 takes 4 bytes for 3 */
  int64_t wanted = config->frames;
  choose(s, wanted, shown);
  if ((double)size_of(s, shown, false) <= room) return false;
  for (int attempt = 0; attempt < 20; attempt++) {
    double size = (double)size_of(s, shown, true);
    if (size <= room || wanted <= 2) break;
    if (wanted > s->count) wanted = s->count;
    int64_t fewer = (int64_t)(0.98 * (double)wanted * room / size);
    wanted = fewer < 2 ? 2 : fewer < wanted ? fewer : wanted - 1;
    choose(s, wanted, shown);
  }
  return true;
}

/* ---- writing */

static void put_index(FILE *file, const fx_page_bytes *bytes, frix_trajectory *trajectory, const survey *s,
                      fx_page_layout layout) {
  fx_json json = {.file = file};
  frix_sim_config config = frix_sim_default();
  if (frix_trajectory_config(trajectory, &config) != FRIX_OK) config = frix_sim_default();
  frix_vec3 gravity = frix_model_gravity(frix_trajectory_model(trajectory));
  fputs("<script type=\"application/json\" id=\"frix-index\">", file);
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "format", "frix-replay");
  fx_put_integer(&json, "version", 1);
  fx_put_text(&json, "made_by", "frix " FRIX_VERSION_TEXT);
  fx_put_integer(&json, "bytes", bytes->count);
  fx_put_boolean(&json, "coarse", layout.coarse);
  fx_put_boolean(&json, "rounded", layout.rounded);
  fx_put_boolean(&json, "truncated", frix_trajectory_truncated(trajectory));
  fx_put_real(&json, "h", s->h);
  fx_put_real(&json, "tolerance", config.tolerance);
  fx_put_text(&json, "solver", config.solver);
  fx_put_text(&json, "contact", frix_contact_kind_table((int32_t)config.contact)->name);
  fx_put_text(&json, "integrator", config.integrator);
  fx_put_integer(&json, "frames_in_file", s->count);
  fx_put_integer(&json, "steps", s->tally.steps - s->tally.unknown);
  fx_put_integer(&json, "certified", s->tally.certified);
  fx_put_integer(&json, "approximate", s->tally.approximate);
  fx_put_real(&json, "penetration", s->tally.penetration_max);
  fx_put_open(&json, "worst", '{');
  fx_put_real(&json, "residual", s->worst);
  fx_put_integer(&json, "step", s->worst_step);
  fx_put_real(&json, "time", s->worst_time);
  fx_put_close(&json, '}');
  fx_put_open(&json, "gravity", '[');
  fx_put_real(&json, NULL, gravity.x);
  fx_put_real(&json, NULL, gravity.y);
  fx_put_real(&json, NULL, gravity.z);
  fx_put_close(&json, ']');
  fx_page_put_rows(bytes, &json);
  fx_put_close(&json, '}');
  fputs("</script>\n", file);
}

static frix_status put_frames(fx_page_bytes *bytes, frix_trajectory *trajectory, const survey *s, const bool *shown,
                              fx_page_layout layout) {
  fx_page_frames *frames = fx_page_frames_create(bytes, frix_trajectory_model(trajectory), layout);
  frix_status status = FRIX_OK;
  double residual = 0, penetration = 0;
  for (int32_t k = 0; k < s->count && status == FRIX_OK; k++) {
    if (!(s->moment[k].residual <= residual)) residual = s->moment[k].residual;
    penetration = fmax(penetration, s->moment[k].penetration);
    if (!shown[k]) continue;
    frix_frame frame = {.size = sizeof frame};
    status = frix_trajectory_frame(trajectory, s->moment[k].frame, &frame);
    if (status != FRIX_OK) break;
    frame.report.certificate.residual = residual;
    frame.report.penetration = penetration;
    fx_page_frames_add(frames, &frame);
    residual = penetration = 0;
  }
  if (status == FRIX_OK) fx_page_frames_end(frames);
  fx_page_frames_free(frames);
  return status;
}

static frix_status put_page(frix_context *context, FILE *file, frix_trajectory *trajectory, const char *name,
                            const fx_page_config *config, int32_t *damaged) {
  survey s = {0};
  fx_page_bytes bytes = {0};
  bool *shown = NULL;
  frix_status status = look_over(context, trajectory, &s);
  *damaged = s.damaged + frix_trajectory_damage_count(trajectory);
  if (status != FRIX_OK) goto cleanup;
  shown = fx_grow(NULL, (size_t)s.count + 1, sizeof *shown);
  bool coarse = fit(&s, config, shown);

  const char *place = strstr(fx_replay_page, PLACE), *meta = frix_trajectory_meta(trajectory);
  fwrite(fx_replay_page, 1, (size_t)(place - fx_replay_page), file);
  fx_page_layout layout = {coarse, !config->plain && !coarse};
  fx_page_begin(&bytes, layout.rounded ? NULL : file);
  /* what a user wrote goes in as bytes: no text of theirs is ever read as HTML */
  fx_page_column(&bytes, "run.meta", FX_U8, meta, meta ? (int64_t)strlen(meta) : 0);
  fx_page_column(&bytes, "run.file", FX_U8, name, (int64_t)strlen(name));
  fx_page_put_model(&bytes, frix_trajectory_model(trajectory));
  status = put_frames(&bytes, trajectory, &s, shown, layout);
  if (status == FRIX_OK && config->prove) status = fx_page_put_proof(&bytes, context, trajectory, s.h);
  if (status != FRIX_OK) goto cleanup;
  if (layout.rounded)
    fx_page_pack(&bytes, file);
  else
    fx_page_end(&bytes);
  put_index(file, &bytes, trajectory, &s, layout);
  if (config->prove) fputs(fx_replay_core, file);
  fputs(place + strlen(PLACE), file);

cleanup:
  fx_page_free(&bytes);
  free(s.moment);
  free(shown);
  return status;
}

bool fx_page_write(frix_context *context, const char *trajectory, const char *html, const fx_page_config *config,
                   int32_t *damaged) {
  frix_trajectory *run = NULL;
  fx_output *output = NULL;
  bool good = fx_page_available() && (!config->prove || fx_page_can_prove()) && fx_check_output(context, html);
  *damaged = 0;
  if (!good) return false;
  if (frix_trajectory_open(context, trajectory, &run) != FRIX_OK) {
    fx_error("%s", frix_error_text(context));
    return false;
  }
  if (frix_trajectory_trouble(run)) fx_warning("%s: %s", trajectory, frix_trajectory_trouble(run));
  good = frix_trajectory_frame_count(run) > 0;
  if (!good) fx_error("%s: holds no frame, so there is nothing to show", trajectory);
  if (good) output = fx_output_open(context, html);
  if (output) {
    good = put_page(context, output->file, run, fx_base_name(trajectory), config, damaged) == FRIX_OK;
    fx_progress_clear();
    if (!good) fx_error("%s", frix_error_text(context));
    good = fx_output_close(output, good) && good;
  }
  frix_trajectory_close(run);
  return good && output;
}
