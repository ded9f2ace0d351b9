/* frix render: pictures and films of a run, without a browser. */
#include "missing.h"
#include "stage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct job {
  frix_context *context;
  frix_trajectory *trajectory;
  fx_look look;
  int32_t frame;
  double fps, speed;
  const char *out, *video;
  int32_t damaged, last_damaged; /* frames that could not be read and were passed over: how many, and the last */
} job;

/* ---- arguments */

static bool parse_size(const char *text, fx_look *look) {
  int used = 0;
  if (!text) return true;
  if (sscanf(text, "%dx%d%n", &look->width, &look->height, &used) == 2 && !text[used] && look->width >= 16 &&
      look->height >= 16 && look->width <= 8192 && look->height <= 8192)
    return true;
  fx_error("--size '%s' should read WIDTHxHEIGHT, 16 to 8192 pixels each", text);
  return false;
}

static bool parse_view(const char *text, fx_look *look) {
  double azimuth = 0.0, elevation = 0.0;
  int used = 0;
  if (!text) return true;
  if (sscanf(text, "%lf,%lf%n", &azimuth, &elevation, &used) == 2 && !text[used] && fabs(azimuth) <= 360.0 &&
      fabs(elevation) <= 90.0) {
    look->azimuth = azimuth * 3.14159265358979323846 / 180.0;
    look->elevation = elevation * 3.14159265358979323846 / 180.0;
    return true;
  }
  fx_error("--view '%s' should read AZIMUTH,ELEVATION in degrees", text);
  return false;
}

/* The frame asked for: by number (from the end where negative), or by time. */
static bool choose_frame(const fx_args *args, job *j) {
  int64_t count = frix_trajectory_frame_count(j->trajectory), frame = -1;
  double wanted = -1.0, time = 0.0;
  if (count == 0) {
    fx_error("%s: holds no frame", args->word[0]);
    return false;
  }
  if (!fx_arg_integer(args, "--frame", -count, count - 1, &frame)) return false;
  if (!fx_arg_real(args, "--time", 0.0, HUGE_VAL, &wanted)) return false;
  j->frame = (int32_t)(frame < 0 ? frame + count : frame);
  if (!fx_arg(args, "--time")) return true;
  int32_t best = 0;
  double nearest = HUGE_VAL;
  for (int32_t k = 0; k < count; k++) {
    if (frix_trajectory_frame_time(j->trajectory, k, NULL, &time) || fabs(time - wanted) >= nearest) continue;
    nearest = fabs(time - wanted);
    best = k;
  }
  if (wanted > time + 0.01 * fabs(time)) { /* that of the last frame */
    fx_error("--time %g: the run ends at %g s", wanted, time);
    return false;
  }
  j->frame = best;
  return true;
}

static bool ends_in(const char *path, const char *ending) {
  size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && !strcmp(path + length - tail, ending);
}

/* Small pictures show their edges: nine samples to a pixel; larger ones have four. */
static const int64_t most_fine_pixels = 500000;

static bool parse(const fx_args *args, job *j) {
  j->look = (fx_look){.theme = fx_arg_choice(args, "--theme", 0) ? &fx_theme_dark : &fx_theme_light,
                      .azimuth = -0.95,
                      .elevation = 0.32,
                      .forces = fx_arg(args, "--forces") != NULL,
                      .tone = (fx_tone_mode)fx_arg_choice(args, "--colour", FX_TONE_BODY),
                      .width = 1280,
                      .height = 720,
                      .fineness = 3};
  j->fps = 30.0, j->speed = 1.0;
  j->out = fx_arg(args, "--out");
  j->video = fx_arg(args, "--video");
  if (!j->out && !j->video) {
    fx_error("nothing to write: give --out PICTURE.png or --video FILM.mp4");
    return false;
  }
  if (j->out && !ends_in(j->out, ".png")) {
    fx_error("%s: pictures are PNG: give a name that ends in .png", j->out);
    return false;
  }
  if (!parse_size(fx_arg(args, "--size"), &j->look) || !parse_view(fx_arg(args, "--view"), &j->look) ||
      !fx_arg_real(args, "--fps", 1.0, 240.0, &j->fps) || !fx_arg_real(args, "--speed", 1e-4, 1e4, &j->speed))
    return false;
  if ((int64_t)j->look.width * j->look.height > most_fine_pixels) j->look.fineness = 2;
  if (j->video && (j->look.width % 2 || j->look.height % 2)) {
    fx_error("--video needs an even width and height");
    return false;
  }
  return true;
}

/* ---- drawing */

static bool read_frame(const job *j, int32_t k, frix_frame *frame) {
  if (frix_trajectory_frame(j->trajectory, k, frame) == FRIX_OK) return true;
  fx_error("%s", frix_error_text(j->context));
  return false;
}

/* Frame k, or where it is damaged the next one before or after it that is not, and which it was. */
static bool read_near(job *j, int32_t *k, frix_frame *frame) {
  int32_t count = frix_trajectory_frame_count(j->trajectory), wanted = *k;
  for (int32_t away = 0; away < count; away++)
    for (int side = 0; side < (away ? 2 : 1); side++) {
      *k = side ? wanted + away : wanted - away;
      if (*k < 0 || *k >= count) continue;
      frix_status status = frix_trajectory_frame(j->trajectory, *k, frame);
      if (status == FRIX_OK) return true;
      if (status == FRIX_ERROR_FORMAT && away + 1 < count) continue;
      fx_error("%s", frix_error_text(j->context));
      return false;
    }
  return false;
}

/* Scales of speed and force hold for the whole run, so that pictures of it can be compared. */
static bool scale_tones(job *j, fx_tones *tones) {
  frix_frame frame;
  int32_t count = frix_trajectory_frame_count(j->trajectory);
  if (tones->mode != FX_TONE_SPEED && tones->mode != FX_TONE_FORCE) return true;
  for (int32_t k = 0; k < FX_TONE_LOOKS; k++) {
    int32_t at = (int32_t)((int64_t)(count - 1) * k / (FX_TONE_LOOKS - 1));
    if (!read_near(j, &at, &frame)) return false;
    fx_tones_see(tones, &frame);
  }
  return true;
}

/* One camera for the whole film: a few frames tell where things happen. */
static bool prepare(job *j, fx_stage *stage, bool film) {
  frix_frame frame;
  int32_t count = frix_trajectory_frame_count(j->trajectory), looks = film && count > 1 ? 9 : 1;
  fx_look look = j->look;
  if (film) look.fineness = 2; /* moving pictures hide more than still ones */
  fx_stage_create(stage, frix_trajectory_model(j->trajectory), &look);
  for (int32_t k = 0; k < looks; k++) {
    int32_t at = film && count > 1 ? (int32_t)((int64_t)(count - 1) * k / (looks - 1)) : j->frame;
    if (!(film ? read_near(j, &at, &frame) : read_frame(j, at, &frame))) return false;
    fx_stage_see(stage, &frame);
  }
  fx_stage_aim(stage);
  return scale_tones(j, &stage->tones);
}

static bool picture(job *j) {
  fx_stage stage;
  frix_frame frame;
  bool good = prepare(j, &stage, false) && read_frame(j, j->frame, &frame);
  if (good) {
    fx_picture p = fx_stage_picture(&stage, &frame);
    good = fx_png_write(j->context, j->out, &p);
    free(p.rgb);
  }
  fx_stage_free(&stage);
  return good;
}

/* ---- films */

/* ffmpeg, reading raw pictures from the descriptor that is returned and writing to the file `name`; -1: could not be
 * started. */
static int start_ffmpeg(const job *j, const char *name, pid_t *child) {
  int ends[2];
  char size[32], rate[32];
  snprintf(size, sizeof size, "%dx%d", j->look.width, j->look.height);
  snprintf(rate, sizeof rate, "%g", j->fps);
  const char *argv[] = {"ffmpeg",   "-y",      "-loglevel", "error", "-f",        "rawvideo",   "-pix_fmt", "rgb24",
                        "-s",       size,      "-r",        rate,    "-i",        "-",          "-c:v",     "libx264",
                        "-pix_fmt", "yuv420p", "-crf",      "18",    "-movflags", "+faststart", name,       NULL};
  if (pipe(ends) != 0) return -1;
  *child = fork();
  if (*child == 0) {
    dup2(ends[0], 0);
    close(ends[0]);
    close(ends[1]);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
  }
  close(ends[0]);
  if (*child > 0) return ends[1];
  close(ends[1]);
  return -1;
}

static bool write_fully(int file, const uint8_t *bytes, size_t count) {
  while (count) {
    ssize_t put = write(file, bytes, count);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes += put;
    count -= (size_t)put;
  }
  return true;
}

/* The frame nearest before a time; frames are in the order of time. */
static int32_t frame_at(const job *j, double wanted, int32_t from) {
  int32_t count = frix_trajectory_frame_count(j->trajectory);
  double time = 0.0;
  while (from + 1 < count && frix_trajectory_frame_time(j->trajectory, from + 1, NULL, &time) == FRIX_OK &&
         time <= wanted + 1e-9)
    from++;
  return from;
}

/* The picture of frame `at`; a damaged one is told and its neighbour shown. */
static bool send_picture(job *j, fx_stage *stage, int32_t at, int pipe_end, bool *sent) {
  frix_frame frame;
  int32_t shown = at;
  if (!read_near(j, &shown, &frame)) return false;
  if (shown != at && at != j->last_damaged) {
    fx_progress_clear();
    fx_warning("frame %d is damaged: frame %d is shown instead", (int)at, (int)shown);
    j->last_damaged = at;
    j->damaged++;
  }
  fx_picture p = fx_stage_picture(stage, &frame);
  *sent = write_fully(pipe_end, p.rgb, 3 * (size_t)p.width * (size_t)p.height);
  free(p.rgb);
  return true;
}

/* All pictures, through ffmpeg into the file `name`. */
static bool encode(job *j, fx_stage *stage, const char *name) {
  pid_t child = -1;
  double start = 0.0, end = 0.0;
  int32_t count = frix_trajectory_frame_count(j->trajectory), at = 0;
  frix_trajectory_frame_time(j->trajectory, 0, NULL, &start);
  frix_trajectory_frame_time(j->trajectory, count - 1, NULL, &end);
  int pipe_end = start_ffmpeg(j, name, &child);
  int64_t pictures = 1 + (int64_t)((end - start) / j->speed * j->fps);
  bool good = true, sent = true;
  for (int64_t k = 0; pipe_end >= 0 && good && sent && k < pictures; k++) {
    fx_progress("render: picture %lld of %lld", (long long)k + 1, (long long)pictures);
    at = frame_at(j, start + (double)k * j->speed / j->fps, at);
    good = send_picture(j, stage, at, pipe_end, &sent);
  }
  fx_progress_clear();
  int code = -1;
  if (pipe_end >= 0) close(pipe_end);
  if (child > 0) waitpid(child, &code, 0);
  if (!good || (WIFEXITED(code) && WEXITSTATUS(code) == 0)) return good;
  bool missing = child > 0 && WIFEXITED(code) && WEXITSTATUS(code) == 127;
  fx_error(missing ? "%s: films need ffmpeg, which is not installed (package ffmpeg)" : "%s: ffmpeg failed", j->video);
  return false;
}

static bool film(job *j) {
  fx_stage stage;
  frix_output *output = NULL;
  bool good = prepare(j, &stage, true), opened = good && frix_output_open(j->context, j->video, &output) == FRIX_OK;
  const char *temporary = frix_output_temporary(output);
  if (good && !opened) fx_error("%s", frix_error_text(j->context));
  if (opened && !temporary) fx_error("%s: cannot write: films need a regular file", j->video);
  good = temporary != NULL;
  if (good) {
    char *name = fx_join("file:", temporary);
    good = encode(j, &stage, name);
    free(name);
  }
  if (frix_output_close(output, good) != FRIX_OK) {
    fx_error("%s", frix_error_text(j->context));
    good = false;
  }
  fx_stage_free(&stage);
  return good;
}

static int run_render(const fx_args *args) {
  job j = {.last_damaged = -1};
  if (!parse(args, &j)) return FX_EXIT_USAGE;
  j.context = fx_context(false);
  bool good = frix_trajectory_open(j.context, args->word[0], &j.trajectory) == FRIX_OK;
  if (!good) fx_error("%s", frix_error_text(j.context));
  if (good && frix_trajectory_trouble(j.trajectory))
    fx_warning("%s: %s", args->word[0], frix_trajectory_trouble(j.trajectory));
  good = good && choose_frame(args, &j) && fx_check_outputs(j.context, (const char *[]){j.out, j.video}, 2) &&
         (!j.out || picture(&j)) && (!j.video || film(&j));
  if (j.video) j.damaged += frix_trajectory_damage_count(j.trajectory);
  if (good) {
    fx_missing missing = fx_missing_read(frix_trajectory_meta(j.trajectory));
    fx_missing_print(&missing, 10);
    fx_missing_free(&missing);
  }
  frix_trajectory_close(j.trajectory);
  frix_context_destroy(j.context);
  return !good ? FX_EXIT_USAGE : j.damaged ? FX_EXIT_UNSOLVED : FX_EXIT_SOLVED;
}

static const fx_flag flags[] = {
    {"--frame", "K", NULL, "frame number from 0; negative numbers count from the end (default: the last)"},
    {"--time", "T", NULL, "frame nearest to this time in s"},
    {"--out", "FILE", NULL, "picture to write (.png)"},
    {"--video", "FILE", NULL, "video of the whole run to write (.mp4); needs ffmpeg"},
    {"--size", "WxH", NULL, "size in pixels (default 1280x720)"},
    {"--view", "AZ,EL", NULL, "camera azimuth and elevation in degrees (default -54,18)"},
    {"--forces", NULL, NULL, "draw contact forces as arrows: blue for sticking, orange for sliding"},
    {"--colour", "BY", FX_TONE_NAMES,
     "colour bodies by body (default), size, name, speed, force or state (stick or slip)"},
    {"--theme", "NAME", "light|dark", "colours of the picture (default light)"},
    {"--fps", "N", NULL, "frames per second of the video (default 30)"},
    {"--speed", "X", NULL, "simulated seconds per second of video (default 1)"},
    {0},
};

const fx_verb fx_verb_render = {
    .name = "render",
    .arguments = "RUN.frx",
    .summary = "draw pictures and videos of a run",
    .detail =
        "Draws a frame of a trajectory with frix's own rasteriser, without a browser or display. The camera fits the "
        "moving\n"
        "bodies; planar worlds are seen from the front. The same run gives the same bytes.",
    .example =
        "  frix render run.frx --out last.png                      # the last frame\n"
        "  frix render run.frx --frame 0 --forces --out first.png  # the first, with contact forces\n"
        "  frix render run.frx --colour speed --out fast.png       # dark blue rests, yellow is fastest\n"
        "  frix render run.frx --video run.mp4 --speed 0.25        # four times slower than life",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_render,
};
