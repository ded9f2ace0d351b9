/* Edge-aware line search.
 *
 *   plane   alpha = a_N / (a_N - b_N)           cone   mu^2 t_N^2 = |t_T|^2, t = a + alpha (b - a), t_N <= 0
 *
 * l is smooth between neighbouring crossings, and quadratic where nothing slips, so the cubic through four points of a
 * piece finds its minimum or nearly so. A crossing that beats all other points becomes the next x, on that edge. Where
 * crossings are many only some are looked at first, then those beside the best. */
#include "solver/implicit_search.h"

#include <math.h>
#include <string.h>

enum { KNOTS = 24 };

frix_status fx_implicit_search_take(fx_arena *arena, const fx_implicit *m, fx_implicit_search *s) {
  *s = (fx_implicit_search){.best = FX_TAKE(arena, double, m->row_count),
                            .best_edge = FX_TAKE(arena, unsigned, m->contact_count),
                            .crossing = FX_TAKE(arena, fx_crossing, (size_t)m->contact_count * FX_IMPLICIT_CROSSINGS),
                            .point = FX_TAKE(arena, double, m->row_count),
                            .res = FX_TAKE(arena, double, m->row_count)};
  return s->best && s->best_edge && s->crossing && s->point && s->res ? FRIX_OK : FRIX_ERROR_MEMORY;
}

void fx_implicit_keep_edges(const fx_implicit *m, const unsigned *active, double *x) {
  for (int32_t i = 0; i < m->contact_count; i++)
    for (unsigned edge = FX_EDGE_PLANE; active[i] && edge <= FX_EDGE_CONE(FX_IMPLICIT_DISCS - 1); edge <<= 1)
      if (active[i] & edge) fx_implicit_snap(&m->contact[i], edge, x + m->row[i]);
}

void fx_implicit_search_begin(fx_implicit_search *s, double value, const unsigned *active) {
  s->found = false;
  s->value = value;
  s->active = active;
}

/* By place, then by contact: the same order on every machine. */
static bool before(const fx_crossing *a, const fx_crossing *b) {
  if (a->at != b->at) return a->at < b->at;
  return a->contact != b->contact ? a->contact < b->contact : a->edge < b->edge;
}

static void sift(fx_crossing *heap, int32_t at, int32_t count) {
  fx_crossing moving = heap[at];
  for (int32_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && before(&heap[child], &heap[child + 1])) child++;
    if (!before(&moving, &heap[child])) break;
    heap[at] = heap[child];
  }
  heap[at] = moving;
}

static void sort(fx_crossing *list, int32_t count) {
  for (int32_t k = count / 2 - 1; k >= 0; k--) sift(list, k, count);
  for (int32_t k = count - 1; k > 0; k--) {
    fx_crossing last = list[k];
    list[k] = list[0];
    list[0] = last;
    sift(list, 0, k);
  }
}

/* Sorted crossings of the segment a to b with edges that are not active (NULL: none is). */
static int32_t find_crossings(const fx_implicit_search *s, const fx_implicit *m, const unsigned *active,
                              const double *a, const double *b) {
  int32_t count = 0;
  for (int32_t i = 0; i < m->contact_count; i++) {
    double at[FX_IMPLICIT_CROSSINGS];
    unsigned edge[FX_IMPLICIT_CROSSINGS];
    int32_t found =
        fx_implicit_crossings(&m->contact[i], active ? active[i] : 0, a + m->row[i], b + m->row[i], at, edge);
    for (int32_t k = 0; k < found; k++) s->crossing[count++] = (fx_crossing){at[k], i, edge[k]};
  }
  sort(s->crossing, count);
  return count;
}

/* l at a + alpha (b - a), put back on the active edges; crossings first .. last - 1 are put on theirs. Keeps the best.
 */
static double look(fx_implicit_search *s, fx_implicit *m, const double *a, const double *b, double alpha, int32_t first,
                   int32_t last) {
  for (int32_t k = 0; k < m->row_count; k++) s->point[k] = a[k] + alpha * (b[k] - a[k]);
  fx_implicit_keep_edges(m, s->active, s->point);
  for (int32_t c = first; c < last; c++) {
    int32_t i = s->crossing[c].contact;
    fx_implicit_snap(&m->contact[i], s->crossing[c].edge, s->point + m->row[i]);
  }
  double value = fx_implicit_residual(m, s->point, s->res);
  if (!(value < s->value)) return value;
  s->found = true;
  s->value = value;
  memcpy(s->best, s->point, (size_t)m->row_count * sizeof *s->best);
  memcpy(s->best_edge, s->active, (size_t)m->contact_count * sizeof *s->best_edge);
  for (int32_t c = first; c < last; c++) s->best_edge[s->crossing[c].contact] |= s->crossing[c].edge;
  return value;
}

/* Minimum in (0, 1) of the cubic through (0, y0), (1/3, y1), (2/3, y2), (1, y3); 0 where it has none inside. */
static double cubic_minimum(double y0, double y1, double y2, double y3) {
  double c1 = -5.5 * y0 + 9 * y1 - 4.5 * y2 + y3, c2 = 9 * y0 - 22.5 * y1 + 18 * y2 - 4.5 * y3;
  double c3 = 4.5 * (y3 - y0) + 13.5 * (y1 - y2);
  /* c1 + 2 c2 t + 3 c3 t^2 = 0 with c2 + 3 c3 t > 0: t = c1 / -(c2 + sqrt(c2^2 - 3 c1 c3)) */
  double square = c2 * c2 - 3 * c1 * c3;
  if (!(square >= 0)) return 0;
  double low = c2 + sqrt(square);
  double t = low != 0 ? -c1 / low : 0;
  return t > 0 && t < 1 ? t : 0;
}

static void look_between(fx_implicit_search *s, fx_implicit *m, const double *a, const double *b, double from,
                         double to, double y0, double y3) {
  double width = to - from;
  if (!(width > 1e-12)) return;
  double y1 = look(s, m, a, b, from + width / 3, 0, 0), y2 = look(s, m, a, b, from + 2 * width / 3, 0, 0);
  double t = cubic_minimum(y0, y1, y2, y3);
  if (t > 0) look(s, m, a, b, from + t * width, 0, 0);
}

void fx_implicit_search_segment(fx_implicit_search *s, fx_implicit *m, const double *a, const double *b) {
  int32_t count = find_crossings(s, m, s->active, a, b), knots = 0;
  double at[KNOTS + 2], level[KNOTS + 2];
  at[0] = 0;
  level[knots++] = look(s, m, a, b, 0, 0, 0);

  /* Crossings closer than rounding are one. A few spread over the list when there are many. */
  int32_t stride = count / KNOTS + 1, next = 0;
  for (int32_t first = 0, last; first < count; first = last) {
    for (last = first + 1; last < count && s->crossing[last].at - s->crossing[first].at <= 1e-12;) last++;
    if (first < next) continue;
    next = first + stride;
    at[knots] = s->crossing[first].at;
    level[knots] = look(s, m, a, b, at[knots], first, last);
    knots++;
  }
  at[knots] = 1;
  level[knots++] = look(s, m, a, b, 1, 0, 0);

  /* Every piece when there are few, else those beside the best knot. */
  int32_t best = 0;
  for (int32_t k = 1; k < knots; k++)
    if (level[k] < level[best]) best = k;
  for (int32_t k = 0; k + 1 < knots; k++)
    if (knots <= 8 || k == best || k + 1 == best) look_between(s, m, a, b, at[k], at[k + 1], level[k], level[k + 1]);
}

int32_t fx_implicit_search_ray(fx_implicit_search *s, const fx_implicit *m, int32_t wanted, const double *direction,
                               double *x) {
  double size = 0, length = 0;
  for (int32_t k = 0; k < m->row_count; k++) {
    size += x[k] * x[k];
    length += direction[k] * direction[k];
  }
  if (!(length > 0)) return 0;
  double far = 1e3 * sqrt(size / length) + 1;
  for (int32_t k = 0; k < m->row_count; k++) s->point[k] = x[k] + far * direction[k];
  int32_t count = find_crossings(s, m, NULL, x, s->point);
  if (count < wanted) wanted = count;
  if (wanted == 0) return 0;
  double at = s->crossing[wanted - 1].at, next = wanted < count ? s->crossing[wanted].at : 2 * at;
  double middle = at + 0.5 * ((next < 2 * at ? next : 2 * at) - at);
  for (int32_t k = 0; k < m->row_count; k++) x[k] += middle * far * direction[k];
  return wanted;
}
