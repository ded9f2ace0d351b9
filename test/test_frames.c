/* Frames as bytes: what comes back, and numbers that make no sense. */
#include "io/trajectory_internal.h"
#include "sim_world.h"

/* Puts a number in the place of another wherever its bytes stand; how often. */
static int replace(unsigned char *bytes, size_t size, double from, double to) {
  int count = 0;
  for (size_t k = 0; k + sizeof from <= size; k++)
    if (!memcmp(bytes + k, &from, sizeof from)) memcpy(bytes + k, &to, sizeof to), count++;
  return count;
}

static void senseless_numbers(fx_test *t) {
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  double h = 0.01234567;
  world w = world_new(t, 0.5, 0);
  world_body(&w, body_at(at(0, 0, 1)), sphere_shape(0.1));
  REQUIRE(t, world_start(&w));
  for (int k = 0; k < 3; k++) world_step(&w, h);
  double time = frix_sim_time(w.sim);
  for (int k = -1; k < 6; k++) { /* the time, then h */
    fx_buffer buffer;
    fx_frame_store store = {0};
    fx_buffer_init(&buffer, w.context);
    fx_frame_write(&buffer, w.sim, NULL);
    if (k >= 0) CHECK(t, replace((unsigned char *)buffer.bytes, buffer.count, k < 3 ? time : h, bad[k % 3]) == 1);
    frix_status status = fx_frame_read(w.context, w.model, (const unsigned char *)buffer.bytes, buffer.count, &store);
    CHECK(t, status == (k < 0 ? FRIX_OK : FRIX_ERROR_FORMAT));
    if (k < 0) CHECK(t, store.frame.time == time && store.frame.h == h && store.frame.body_count == 1);
    fx_frame_free(w.context, &store);
    fx_buffer_free(&buffer);
  }
  world_end(&w);
}

const fx_test_row test_frames[] = {{"frames/senseless_numbers", senseless_numbers}, {0}};
