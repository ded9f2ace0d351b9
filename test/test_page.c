/* Replay pages as frix view writes them: the bytes in the page are the run's, pages appear whole or not at all. How
 * they look and work in a browser: tools/check_web. */
#include <frix/trajectory.h>
#include <math.h>

#include "shell.h"
#include "sim_world.h"

enum { STEPS = 60 };
static const char hostile[] = "{\"scene\": \"</script><script>alert(1)</script>\"}";

/* ---- a run with spheres that come and a block that goes */

typedef struct tale {
  frix_vec3 last[4]; /* positions at the end, in the order of the frame */
  frix_quat turn[4];
  double force; /* sum over the contacts of the last frame, upwards */
  int32_t body_count, contact_count;
} tale;

static void keep(world *w, tale *out) {
  out->body_count = 0;
  for (int32_t k = 0; k < frix_sim_body_count(w->sim); k++) {
    frix_body_config config;
    frix_body_id id = frix_sim_body_at(w->sim, k), pattern;
    MUST(w, frix_sim_pattern(w->sim, id, &pattern));
    MUST(w, frix_model_body(w->model, pattern, &config));
    if (config.kind == FRIX_BODY_STATIC) continue;
    frix_body_state s = state_of(w, id);
    out->last[out->body_count] = s.pose.p;
    out->turn[out->body_count++] = s.pose.q;
  }
  for (int32_t k = 0; k < frix_sim_contact_count(w->sim); k++) {
    frix_contact_report c;
    MUST(w, frix_sim_contact(w->sim, k, &c));
    if (c.phase == FRIX_CONTACT_END) continue;
    out->contact_count++;
    out->force += c.force.z;
  }
}

static void record(fx_test *t, const char *path, tale *out) {
  world w = world_new(t, 0.5, 0);
  world_plane(&w, turned(0, 0, 0, 1));
  frix_body_config box = body_at((frix_pose){{0, 0, 0.3}, turned(0.4, 0.6, 0.8, 0)}), block = body_at(at(3, 0, 1));
  box.name = "box\nwith a break";
  block.kind = FRIX_BODY_STATIC;
  world_body(&w, box, box_shape(0.1, 0.2, 0.1));
  frix_body_id ball = world_body(&w, body_at(at(1, 0, 0.1)), sphere_shape(0.1)), extra;
  frix_body_id still = world_body(&w, block, box_shape(0.1, 0.1, 0.1));
  frix_recorder *recorder = NULL;
  if (world_start(&w)) MUST(&w, frix_recorder_create(w.context, path, w.model, hostile, &recorder));
  if (recorder) {
    MUST(&w, frix_recorder_add(recorder, w.sim, NULL));
    for (int k = 0; k < STEPS; k++) {
      if (k == 20) MUST(&w, frix_sim_spawn(w.sim, ball, at(2, 0, 0.3), vec(0, 0, 0), vec(0, 1, 0), &extra));
      if (k == 30) MUST(&w, frix_sim_remove(w.sim, still));
      frix_step_report report = world_step(&w, 0.01);
      MUST(&w, frix_recorder_add(recorder, w.sim, &report));
    }
    MUST(&w, frix_recorder_close(recorder));
    keep(&w, out);
  }
  world_end(&w);
}

/* ---- a page, taken apart */

typedef struct page {
  char *text;
  const char *index;
  unsigned char *bytes;
  size_t count;
} page;

static int digit(char c) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *found = c ? strchr(digits, c) : NULL;
  return found ? (int)(found - digits) : -1;
}

static page read_page(fx_test *t, const char *name) {
  page p = {.text = shell_read(fx_test_scratch(t, name))};
  p.bytes = calloc(strlen(p.text) + 1, 1);
  p.index = strstr(p.text, "id=\"frix-index\">");
  for (const char *piece = p.text; (piece = strstr(piece, "class=\"frix-bytes\">"));) {
    piece += strlen("class=\"frix-bytes\">");
    for (; digit(piece[0]) >= 0; piece += 4) {
      unsigned v = (unsigned)digit(piece[0]) << 18 | (unsigned)digit(piece[1]) << 12;
      if (piece[2] != '=') v |= (unsigned)digit(piece[2]) << 6;
      if (piece[3] != '=') v |= (unsigned)digit(piece[3]);
      p.bytes[p.count++] = (unsigned char)(v >> 16);
      if (piece[2] != '=') p.bytes[p.count++] = (unsigned char)(v >> 8);
      if (piece[3] != '=') p.bytes[p.count++] = (unsigned char)v;
    }
  }
  return p;
}

static void page_free(page *p) {
  free(p->text);
  free(p->bytes);
}

/* A column of the index, NULL where there is none or it leaves the bytes. */
static const void *column(const page *p, const char *name, const char *type, size_t width, long *count) {
  char key[80], kind[8];
  long at = -1;
  snprintf(key, sizeof key, "\"%s\": [", name);
  const char *row = strstr(p->index, key);
  if (!row || sscanf(row + strlen(key), "\"%7[a-z0-9]\", %ld, %ld", kind, &at, count) != 3 || strcmp(kind, type))
    return NULL;
  return at >= 0 && at % 8 == 0 && (size_t)at + (size_t)*count * width <= p->count ? p->bytes + at : NULL;
}

static bool available(fx_test *t) {
  shell_result r = shell(t, "$frix view nothing.frx --no-open");
  bool off = strstr(r.err, "no replay pages") != NULL;
  CHECK(t, r.code == 2 && shell_lines(r.err) == 1);
  if (off) fx_test_skip(t, "this build has no replay pages");
  shell_free(&r);
  return !off;
}

static void check_frames(fx_test *t, const page *p, const tale *run) {
  long frames = 0, n = 0;
  const double *time = column(p, "frame.time", "f64", 8, &frames), *poses = column(p, "frame.poses", "f64", 8, &n);
  const double *contacts = column(p, "frame.contacts", "f64", 8, &n);
  const uint32_t *list = column(p, "frame.list", "u32", 4, &n), *start = column(p, "list.start", "u32", 4, &n);
  REQUIRE(t, time && poses && contacts && list && start && frames == STEPS + 1);
  CHECK_NEAR(t, time[STEPS], 0.01 * STEPS, 1e-12);
  long bodies = (long)(start[list[STEPS] + 1] - start[list[STEPS]]);
  CHECK(t, list[0] == 0 && list[STEPS] == 1 && bodies == run->body_count && bodies == 3);
  REQUIRE(t, (size_t)poses[STEPS] + 24 * (size_t)bodies <= p->count);
  const float *place = (const float *)(p->bytes + (size_t)poses[STEPS]);
  const int16_t *turn = (const int16_t *)(place + 4 * bodies);
  for (long i = 0; i < bodies; i++) {
    CHECK_NEAR(t, place[3 * i], run->last[i].x, 1e-6);
    CHECK_NEAR(t, place[3 * i + 2], run->last[i].z, 1e-6);
    CHECK_NEAR(t, turn[4 * i + 3] / 32767.0, run->turn[i].w, 1e-4);
    CHECK_NEAR(t, turn[4 * i] / 32767.0, run->turn[i].x, 1e-4);
  }
  const uint32_t *kept = column(p, "frame.contacts_kept", "u32", 4, &n);
  REQUIRE(t, kept && (int32_t)kept[STEPS] == run->contact_count && run->contact_count > 0);
  const float *force = (const float *)(p->bytes + (size_t)contacts[STEPS]) + 3 * kept[STEPS];
  double sum = 0;
  for (uint32_t i = 0; i < kept[STEPS]; i++) sum += force[3 * i + 2];
  CHECK_NEAR(t, sum, run->force, 1e-4 * fabs(run->force));
}

static void bytes(fx_test *t) {
  if (!available(t)) return;
  tale run = {0};
  record(t, fx_test_scratch(t, "run.frx"), &run);
  shell_result r = shell(t, "$frix view run.frx --no-open --plain");
  CHECK(t, r.code == 0 && strstr(r.out, "run.html, "));
  shell_free(&r);
  page p = read_page(t, "run.html");
  if (!p.index) fx_test_fail(t, __FILE__, __LINE__, "no index in the page");
  if (p.index) {
    char count[48];
    snprintf(count, sizeof count, "\"bytes\": %zu,", p.count);
    CHECK(t, strstr(p.index, count) != NULL);
    CHECK(t, strstr(p.index, "\"steps\": 60,") && strstr(p.index, "\"coarse\": false"));
    check_frames(t, &p, &run);
    long n = 0;
    const uint32_t *gone = column(&p, "gone.body", "u32", 4, &n);
    CHECK(t, gone && n == 1 && gone[0] == 2);
    const char *names = column(&p, "body.names", "u8", 1, &n);
    CHECK(t, names && !strncmp(names, "box with a break\n", 17));
  }
  /* what a user wrote is nowhere in the HTML, nothing is asked from elsewhere */
  CHECK(t, !strstr(p.text, "alert(1)"));
  CHECK(t, !strstr(p.text, " src=") && !strstr(p.text, "@import"));
  page_free(&p);
}

static void sizes(fx_test *t) {
  if (!available(t)) return;
  tale run = {0};
  record(t, fx_test_scratch(t, "run.frx"), &run);
  for (int wanted = 1; wanted <= 40; wanted += 13) {
    shell_result r = shell(t, "$frix view run.frx --no-open --plain --out few.html --frames %d", wanted);
    CHECK(t, r.code == 0);
    shell_free(&r);
    page p = read_page(t, "few.html");
    long frames = 0;
    const double *time = p.index ? column(&p, "frame.time", "f64", 8, &frames) : NULL;
    CHECK(t, time && frames >= 2 && frames <= (wanted < 2 ? 2 : wanted) && frames >= wanted / 2);
    if (time) CHECK(t, time[0] == 0 && fabs(time[frames - 1] - 0.01 * STEPS) < 1e-12);
    /* the worst residual of what is left out is still there */
    long n = 0;
    const float *residual = p.index ? column(&p, "series.residual", "f32", 4, &n) : NULL;
    double worst = 0, told = -1;
    for (long k = 0; residual && k < n; k++) worst = fmax(worst, residual[k]);
    const char *text = p.index ? strstr(p.index, "\"worst\": {\"residual\": ") : NULL;
    if (text) sscanf(text, "\"worst\": {\"residual\": %lf", &told);
    CHECK_NEAR(t, worst, told, 1e-6 * told);
    page_free(&p);
  }
}

/* Where the size does not do: 16 bits of the frame's box, ten bits of a turn. */
static void coarse(fx_test *t) {
  if (!available(t)) return;
  tale run = {0};
  record(t, fx_test_scratch(t, "run.frx"), &run);
  shell_result r = shell(t, "$frix view run.frx --no-open --plain --max-size 0.1");
  CHECK(t, r.code == 0);
  shell_free(&r);
  page p = read_page(t, "run.html");
  long frames = 0;
  const double *poses = p.index ? column(&p, "frame.poses", "f64", 8, &frames) : NULL;
  CHECK(t, poses && frames == 2 && strstr(p.index, "\"coarse\": true"));
  if (poses && frames == 2 && (size_t)poses[1] + 24 + 30 <= p.count) {
    const float *box = (const float *)(p.bytes + (size_t)poses[1]);
    const uint32_t *turn = (const uint32_t *)(box + 6);
    const uint16_t *place = (const uint16_t *)(turn + 3);
    for (int i = 0; i < 3; i++) {
      CHECK_NEAR(t, box[0] + place[3 * i] * (double)box[3] / 65535, run.last[i].x, 2e-5);
      CHECK_NEAR(t, box[2] + place[3 * i + 2] * (double)box[5] / 65535, run.last[i].z, 2e-5);
      double q[4] = {0}, whole[4] = {run.turn[i].x, run.turn[i].y, run.turn[i].z, run.turn[i].w}, dot = 0, rest = 1;
      for (int c = 0, shift = 2; c < 4; c++) {
        if (c == (int)(turn[i] & 3)) continue;
        q[c] = ((int)(turn[i] >> shift & 1023) - 511) / 511.0 * sqrt(0.5);
        rest -= q[c] * q[c];
        shift += 10;
      }
      q[turn[i] & 3] = sqrt(fmax(0, rest));
      for (int c = 0; c < 4; c++) dot += q[c] * whole[c];
      CHECK_NEAR(t, fabs(dot), 1, 1e-5);
    }
  }
  page_free(&p);
}

static void refused(fx_test *t) {
  if (!available(t)) return;
  shell_result r = shell(t, "echo no trajectory >bad.frx; $frix view bad.frx --no-open");
  CHECK(t, r.code == 2 && shell_lines(r.err) == 1 && strstr(r.err, "bad.frx"));
  shell_free(&r);
  r = shell(t, "ls bad.html* 2>/dev/null; mkdir -p folder; $frix view bad.frx --no-open --out folder");
  CHECK(t, r.code == 2 && !r.out[0] && strstr(r.err, "directory"));
  shell_free(&r);
  r = shell(t, "$frix view bad.frx --frames 0");
  CHECK(t, r.code == 2 && strstr(r.err, "--frames"));
  shell_free(&r);
}

/* A scene is run and shown; packed pages are smaller; a page that proves itself has what it needs for it, or says what
 * this build lacks. What browsers make of them: tools/check_web. */
static void scenes(fx_test *t) {
  if (!available(t)) return;
  /* what is not the run is in both pages */
  shell_result sizes = shell(t,
                             "$frix run pile --set n=100 --time 0.5 --out pile.frx --quiet; for way in --plain ''; do "
                             "$frix view pile.frx --no-open $way --out pile.html >/dev/null; "
                             "$frix view pile.frx --frames 1 --no-open $way --out one.html >/dev/null; "
                             "echo $(($(wc -c <pile.html) - $(wc -c <one.html))); done; rm pile.frx");
  char *packed_size = sizes.out;
  long plain_bytes = strtol(sizes.out, &packed_size, 10), packed_bytes = strtol(packed_size, NULL, 10);
  CHECK(t, sizes.code == 0 && plain_bytes > 1000000 && packed_bytes > 0 && 5 * packed_bytes < plain_bytes);
  shell_free(&sizes);
  shell_result r = shell(
      t, "$frix view incline --time 0.2 --no-open && $frix view incline --time 0.2 --plain --no-open --out plain.html");
  CHECK(t, r.code == 0 && strstr(r.out, "incline.html"));
  shell_free(&r);
  char *packed = shell_read(fx_test_scratch(t, "incline.html")), *plain = shell_read(fx_test_scratch(t, "plain.html"));
  CHECK(t, packed && plain && strlen(packed) < strlen(plain) && strstr(packed, "class=\"frix-packed\"") &&
               !strstr(plain, "class=\"frix-packed\""));
  free(packed);
  free(plain);
  r = shell(t, "ls *.frx 2>/dev/null | wc -l");
  CHECK(t, r.code == 0 && atoi(r.out) == 0); /* the file in between is gone */
  shell_free(&r);
  r = shell(t, "$frix view incline --time 0.1 --no-open --prove --out prove.html");
  char *html = r.code == 0 ? shell_read(fx_test_scratch(t, "prove.html")) : NULL;
  if (r.code == 0)
    CHECK(t, html && strstr(html, "proof.model") && strstr(html, "id=\"frix-wasm\">./eH,"));
  else
    CHECK(t, r.code == 2 && strstr(r.err, "./dev wasm"));
  free(html);
  shell_free(&r);
  r = shell(t, "$frix view no_such_scene --no-open");
  CHECK(t, r.code == 2 && strstr(r.err, "no_such_scene"));
  shell_free(&r);
}

/* A binary file of glTF: its head, its length, a node for every body. tools/check_web reads one with three.js. */
static void gltf(fx_test *t) {
  shell_result r = shell(t,
                         "$frix run stack --set n=3 --time 0.1 --out stack.frx --quiet && $frix export stack.frx --out "
                         "stack.glb && wc -c <stack.glb");
  CHECK(t, r.code == 0);
  long size = atol(r.out);
  shell_free(&r);
  r = shell(t, "head -c 4 stack.glb; tail -c +21 stack.glb | tr -d '\\000' | head -c 20000");
  CHECK(t, r.code == 0 && !strncmp(r.out, "glTF", 4) && strstr(r.out, "\"version\": \"2.0\"") &&
               strstr(r.out, "\"animations\""));
  shell_free(&r);
  r = shell(t, "od -An -tu4 -j8 -N4 stack.glb");
  CHECK(t, r.code == 0 && atol(r.out) == size && size > 1000);
  shell_free(&r);
}

/* Modes of soft bodies once, amplitudes with every frame. */
static void soft(fx_test *t) {
  if (!available(t)) return;
  shell_result r = shell(t,
                         "$frix run soft-stack --set n=2 --time 0.1 --out soft.frx --quiet && "
                         "$frix view soft.frx --plain --no-open --out soft.html");
  CHECK(t, r.code == 0);
  shell_free(&r);
  page p = read_page(t, "soft.html");
  long bodies = 0, n = 0, points = 0, shapes = 0, frames = 0, amplitudes = 0;
  const int32_t *first = column(&p, "soft.first", "i32", 4, &bodies), *like = column(&p, "soft.like", "i32", 4, &n);
  const float *shape = column(&p, "soft.0.shape", "f32", 4, &shapes),
              *q = column(&p, "frame.amplitudes", "f32", 4, &amplitudes);
  CHECK(t, column(&p, "geometry.0.points", "f32", 4, &points) && column(&p, "frame.time", "f64", 8, &frames));
  CHECK(t, first && like && shape && q && bodies == 2 && first[0] == 0 && like[1] == 0);
  if (first && shape && q && bodies == 2) {
    CHECK(t, shapes == points * first[1] && amplitudes == 2 * first[1] * frames);
    double most = 0;
    for (long k = amplitudes - 2 * first[1]; k < amplitudes; k++) most = fmax(most, fabs((double)q[k]));
    CHECK(t, q[0] == 0 && most > 1e-5);
  }
  page_free(&p);
}

const fx_test_row test_page[] = {
    {"page/soft", soft},       {"page/bytes", bytes},   {"page/sizes", sizes}, {"page/coarse", coarse},
    {"page/refused", refused}, {"page/scenes", scenes}, {"page/gltf", gltf},   {0}};
