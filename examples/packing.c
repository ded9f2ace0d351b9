/* Drop and roll: see packing.h. */
#include "packing.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 24, DESCENTS = 600 };

/* In radii: overlaps that are left, the first step down, the one that ends the search. A sphere that lies nearly on top
 * of another gets lower by a small part of a step only, but leaves its place by a quarter more with every step. */
static const double overlap = 1e-4, first_step = 0.5, last_step = 0.01, least_part = 1e-4;

struct ex_packing {
  double radius, half, bottom;
  void (*keep)(const void *vessel, double radius, frix_vec3 *center);
  const void *vessel;
  frix_vec3 *center;
  int32_t *next; /* of the same cell, -1: the last */
  int32_t count, room;
  int32_t across, layers, *first; /* cells of one diameter */
  double *top;                    /* by column of cells: the highest centre */
};

ex_packing *ex_packing_new(int64_t count, double radius, double half, double bottom, double height,
                           void (*keep)(const void *vessel, double radius, frix_vec3 *center), const void *vessel) {
  ex_packing *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  *p = (ex_packing){.radius = radius, .half = half, .bottom = bottom, .keep = keep, .vessel = vessel};
  p->room = (int32_t)count;
  p->across = (int32_t)(half / radius) + 1;
  p->layers = (int32_t)(height / (2 * radius)) + 1;
  size_t columns = (size_t)p->across * (size_t)p->across, cells = columns * (size_t)p->layers;
  p->center = malloc((size_t)count * sizeof *p->center + 1);
  p->next = malloc((size_t)count * sizeof *p->next + 1);
  p->first = malloc(cells * sizeof *p->first);
  p->top = malloc(columns * sizeof *p->top);
  if (!p->center || !p->next || !p->first || !p->top) {
    ex_packing_free(p);
    return NULL;
  }
  for (size_t k = 0; k < cells; k++) p->first[k] = -1;
  for (size_t k = 0; k < columns; k++) p->top[k] = bottom;
  return p;
}

void ex_packing_free(ex_packing *p) {
  if (!p) return;
  free(p->center);
  free(p->next);
  free(p->first);
  free(p->top);
  free(p);
}

static int32_t clamp(double k, int32_t count) { return k < 0 ? 0 : k >= count ? count - 1 : (int32_t)k; }

typedef struct place {
  int32_t x, y, z;
} place;

static place place_of(const ex_packing *p, frix_vec3 c) {
  double width = 2 * p->radius;
  return (place){clamp((c.x + p->half) / width, p->across), clamp((c.y + p->half) / width, p->across),
                 clamp((c.z - p->bottom) / width, p->layers)};
}

static double surface(const ex_packing *p, double x, double y) {
  place at = place_of(p, (frix_vec3){x, y, p->bottom});
  double top = p->bottom;
  for (int32_t j = at.y - 1; j <= at.y + 1; j++)
    for (int32_t i = at.x - 1; i <= at.x + 1; i++)
      if (i >= 0 && j >= 0 && i < p->across && j < p->across) top = fmax(top, p->top[j * p->across + i]);
  return top;
}

/* Pushes c out of the spheres of one cell; the deepest overlap there. */
static double push_cell(const ex_packing *p, int32_t cell, frix_vec3 *c) {
  double reach = 2 * p->radius, deepest = 0;
  for (int32_t k = p->first[cell]; k >= 0; k = p->next[k]) {
    frix_vec3 d = {c->x - p->center[k].x, c->y - p->center[k].y, c->z - p->center[k].z};
    double square = d.x * d.x + d.y * d.y + d.z * d.z;
    if (square >= reach * reach || square == 0) continue;
    double length = sqrt(square), more = (reach - length) / length;
    deepest = fmax(deepest, reach - length);
    c->x += more * d.x, c->y += more * d.y, c->z += more * d.z;
  }
  return deepest;
}

/* Whether pushing out of all that is overlapped comes to an end. */
static bool push_out(const ex_packing *p, frix_vec3 *c) {
  for (int round = 0; round < ROUNDS; round++) {
    place at = place_of(p, *c);
    double deepest = 0;
    for (int32_t z = at.z - 1; z <= at.z + 1; z++)
      for (int32_t y = at.y - 1; y <= at.y + 1; y++)
        for (int32_t x = at.x - 1; x <= at.x + 1; x++)
          if (x >= 0 && y >= 0 && z >= 0 && x < p->across && y < p->across && z < p->layers)
            deepest = fmax(deepest, push_cell(p, (z * p->across + y) * p->across + x, c));
    frix_vec3 before = *c;
    p->keep(p->vessel, p->radius, c);
    deepest = fmax(deepest, fmax(fabs(c->x - before.x), fmax(fabs(c->y - before.y), fabs(c->z - before.z))));
    if (deepest <= overlap * p->radius) return true;
  }
  return false;
}

frix_vec3 ex_packing_drop(ex_packing *p, double x, double y) {
  frix_vec3 c = {x, y, surface(p, x, y) + 2 * p->radius};
  /* the vessel may have moved it among others: up, until it has a free place */
  for (frix_vec3 start = c; p->count && !push_out(p, &start); start = c) c.z += p->radius;
  push_out(p, &c);
  double step = first_step * p->radius;
  for (int k = 0; k < DESCENTS && step > last_step * p->radius; k++) {
    frix_vec3 lower = {c.x, c.y, c.z - step};
    if (push_out(p, &lower) && lower.z < c.z - least_part * step)
      c = lower;
    else
      step *= 0.5;
  }
  if (p->count == p->room) return c;
  place at = place_of(p, c);
  int32_t cell = (at.z * p->across + at.y) * p->across + at.x, column = at.y * p->across + at.x;
  p->center[p->count] = c;
  p->next[p->count] = p->first[cell];
  p->first[cell] = p->count++;
  p->top[column] = fmax(p->top[column], c.z);
  return c;
}
