/* The device without a device: a hand that presses down by DEPTH once a second and moves in a circle of RADIUS. */
#include <math.h>
#include <stdlib.h>

#include "device.h"

typedef struct press {
  fx_hand start;
  double depth, radius;
} press;

static void *press_open(const char *argument, const fx_hand *start) {
  press *p = fx_grow(NULL, 1, sizeof *p);
  *p = (press){*start, 0.02, 0.02};
  char rest;
  int given = argument ? sscanf(argument, "%lf,%lf%c", &p->depth, &p->radius, &rest) : 2;
  if (given == 2 && p->depth >= 0 && p->radius >= 0 && isfinite(p->depth + p->radius)) return p;
  fx_error("device press: '%s' is not DEPTH,RADIUS in metres", argument);
  free(p);
  return NULL;
}

static void press_read(void *device, double time, fx_hand *out) {
  const press *p = device;
  const double turn = 6.283185307179586;
  double s, c, a, b;
  frix_sincos(turn * time, &s, &c);       /* presses once a second */
  frix_sincos(0.5 * turn * time, &a, &b); /* goes round in two */
  *out = p->start;
  out->pose.p.x += p->radius * a;
  out->pose.p.y += p->radius * (1 - b);
  out->pose.p.z -= 0.5 * p->depth * (1 - c);
  out->velocity = (frix_vec3){0.5 * turn * p->radius * b, 0.5 * turn * p->radius * a, -0.5 * turn * p->depth * s};
  out->spin = (frix_vec3){0, 0, 0};
}

const fx_device fx_device_press = {
    .name = "press",
    .summary = "DEPTH,RADIUS in m: presses once a second and moves in a circle (0.02,0.02)",
    .open = press_open,
    .read = press_read,
    .close = free,
};
