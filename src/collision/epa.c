/* Expanding polytope (van den Bergen 2001), written for signed distances.
 *
 * A polytope inside a - b grows from a tetrahedron. Its face whose plane has the least signed distance to the origin is
 * pushed out to the support plane until it is a support plane itself. The origin may be inside (overlap), on the
 * surface or a little outside: the least signed distance then is the separation with its sign changed, and the normals,
 * which come from large triangles, stay accurate where GJK's direction is not. */
#include "collision/gjk.h"

enum { MOST_VERTICES = 256, MOST_FACETS = 2 * MOST_VERTICES, MOST_RIM = 128 };

/* Corners counter-clockwise seen from outside; side e leads from corner e to the next. */
typedef struct facet {
  int v[3];
  int beyond[3]; /* facet across side e */
  int side[3];   /* and which of its sides that is */
  frix_vec3 normal;
  double offset; /* infinite for slivers, which are never chosen */
  bool live;
} facet;

typedef struct polytope {
  int vertex_count, facet_count, free_count;
  frix_vec3 w[MOST_VERTICES], a[MOST_VERTICES], b[MOST_VERTICES];
  facet f[MOST_FACETS];
  int free[MOST_FACETS];
} polytope;

/* A side of the hole that a new vertex makes: the facet that stays, and its side. */
typedef struct rim {
  int facet, side;
} rim;

static int add_vertex(polytope *p, const fx_convex *a, const fx_convex *b, frix_vec3 d) {
  int k = p->vertex_count++;
  p->a[k] = fx_convex_support(a, d);
  p->b[k] = fx_convex_support(b, fx_neg(d));
  p->w[k] = fx_sub(p->a[k], p->b[k]);
  return k;
}

/* -1 when there is no room. */
static int add_facet(polytope *p, int i, int j, int k) {
  if (!p->free_count && p->facet_count == MOST_FACETS) return -1;
  int at = p->free_count ? p->free[--p->free_count] : p->facet_count++;
  facet *f = &p->f[at];
  frix_vec3 e = fx_sub(p->w[j], p->w[i]), g = fx_sub(p->w[k], p->w[i]), n = fx_cross(e, g);
  double length = fx_norm(n);
  *f = (facet){.v = {i, j, k}, .normal = n, .offset = INFINITY, .live = true};
  if (!(length > 1e-14 * (fx_norm2(e) + fx_norm2(g)))) return at;
  f->normal = fx_scale(1.0 / length, n);
  f->offset = fx_dot(f->normal, p->w[i]);
  return at;
}

static void join(polytope *p, int f, int e, int g, int h) {
  p->f[f].beyond[e] = g, p->f[f].side[e] = h;
  p->f[g].beyond[h] = f, p->f[g].side[h] = e;
}

/* A tetrahedron with volume, from support points in changing directions; false where a - b is flat. */
static bool start(polytope *p, const fx_convex *a, const fx_convex *b, frix_vec3 guess, double size) {
  frix_vec3 d = fx_unit(guess);
  p->vertex_count = p->facet_count = p->free_count = 0;
  add_vertex(p, a, b, d);
  add_vertex(p, a, b, fx_neg(d));
  frix_vec3 line = fx_sub(p->w[1], p->w[0]);
  if (fx_norm(line) < 1e-12 * size) {
    p->vertex_count = 1;
    add_vertex(p, a, b, fx_across(d));
    line = fx_sub(p->w[1], p->w[0]);
    if (fx_norm(line) < 1e-12 * size) return false;
  }
  /* farthest from the line, in four directions across it */
  frix_vec3 u = fx_across(fx_unit(line)), best_d = u, v = fx_cross(fx_unit(line), u);
  frix_vec3 trial[4] = {u, v, fx_neg(u), fx_neg(v)};
  double most = -1.0;
  for (int k = 0; k < 4; k++) {
    int at = add_vertex(p, a, b, trial[k]);
    double area = fx_norm(fx_cross(line, fx_sub(p->w[at], p->w[0])));
    if (area > most) most = area, best_d = trial[k];
    p->vertex_count--;
  }
  add_vertex(p, a, b, best_d);
  frix_vec3 n = fx_unit(fx_cross(line, fx_sub(p->w[2], p->w[0])));
  if (!(most > 1e-12 * size * size)) return false;
  /* farthest from the plane, on either side */
  int up = add_vertex(p, a, b, n);
  double height = fabs(fx_dot(n, fx_sub(p->w[up], p->w[0])));
  int down = add_vertex(p, a, b, fx_neg(n));
  if (fabs(fx_dot(n, fx_sub(p->w[down], p->w[0]))) > height) {
    height = fabs(fx_dot(n, fx_sub(p->w[down], p->w[0])));
    p->w[up] = p->w[down], p->a[up] = p->a[down], p->b[up] = p->b[down];
  }
  p->vertex_count--;
  if (!(height > 1e-12 * size)) return false;
  /* outward facets */
  bool left = fx_dot(n, fx_sub(p->w[3], p->w[0])) > 0.0;
  int i = left ? 1 : 0, j = left ? 0 : 1;
  int f0 = add_facet(p, i, j, 2), f1 = add_facet(p, j, i, 3), f2 = add_facet(p, i, 2, 3), f3 = add_facet(p, 2, j, 3);
  join(p, f0, 0, f1, 0), join(p, f0, 1, f3, 0), join(p, f0, 2, f2, 0);
  join(p, f1, 1, f2, 2), join(p, f1, 2, f3, 1), join(p, f2, 1, f3, 2);
  return true;
}

/* Removes facet f and, through its sides but `entry`, all that see the vertex; collects the rim in order. Walking over
 * neighbours keeps the hole in one piece whatever rounding says. */
static bool dig(polytope *p, int f, int entry, int vertex, rim *list, int *count) {
  p->f[f].live = false;
  for (int k = 1; k <= 3; k++) {
    int e = (entry + k) % 3, g = p->f[f].beyond[e], h = p->f[f].side[e];
    if (!p->f[g].live) continue;
    double above = fx_dot(p->f[g].normal, fx_sub(p->w[vertex], p->w[p->f[g].v[0]]));
    if (above > 0.0) {
      if (!dig(p, g, h, vertex, list, count)) return false;
    } else {
      if (*count == MOST_RIM) return false;
      list[(*count)++] = (rim){g, h};
    }
  }
  if (p->free_count < MOST_FACETS) p->free[p->free_count++] = f;
  return true;
}

/* Replaces the facets that see the vertex by a fan around it. False where the room or the numbers give out. */
static bool push_out(polytope *p, int start_facet, int vertex) {
  rim list[MOST_RIM];
  int count = 0, first = -1, last = -1;
  if (!dig(p, start_facet, 2, vertex, list, &count) || count < 3) return false;
  for (int k = 0; k < count; k++) {
    const facet *g = &p->f[list[k].facet];
    if (!g->live) return false;
    /* the new facet runs along the rim against the old one's direction */
    int tail = g->v[(list[k].side + 1) % 3], head = g->v[list[k].side];
    int f = add_facet(p, tail, head, vertex);
    if (f < 0) return false;
    join(p, f, 0, list[k].facet, list[k].side);
    if (last >= 0) {
      if (p->f[last].v[1] != tail) return false;
      join(p, last, 1, f, 2);
    } else {
      first = f;
    }
    last = f;
  }
  if (p->f[last].v[1] != p->f[first].v[0]) return false;
  join(p, last, 1, first, 2);
  return true;
}

static int nearest(const polytope *p) {
  int best = -1;
  for (int k = 0; k < p->facet_count; k++)
    if (p->f[k].live && p->f[k].offset < INFINITY && (best < 0 || p->f[k].offset < p->f[best].offset)) best = k;
  return best;
}

/* Weights of the point of a facet nearest to the origin's foot on its plane; returns how far off the foot it is. */
static double foot_weights(const polytope *p, const facet *f, double weight[3]) {
  frix_vec3 foot = fx_scale(f->offset, f->normal), a = p->w[f->v[0]];
  frix_vec3 ab = fx_sub(p->w[f->v[1]], a), ac = fx_sub(p->w[f->v[2]], a), d = fx_sub(foot, a);
  double bb = fx_dot(ab, ab), bc = fx_dot(ab, ac), cc = fx_dot(ac, ac), db = fx_dot(d, ab), dc = fx_dot(d, ac);
  double determinant = bb * cc - bc * bc;
  double v = determinant > 0.0 ? (cc * db - bc * dc) / determinant : 0.0;
  double w = determinant > 0.0 ? (bb * dc - bc * db) / determinant : 0.0;
  v = fx_clamp(v, 0.0, 1.0), w = fx_clamp(w, 0.0, 1.0 - v);
  weight[0] = 1.0 - v - w, weight[1] = v, weight[2] = w;
  return fx_norm(fx_sub(fx_mad(fx_scale(v, ab), w, ac), d));
}

/* The foot of the origin in the points of a. A flat part of a - b is several facets in one plane: the one that holds
 * the foot is wanted. */
static frix_vec3 witness(const polytope *p, const facet *best, double size) {
  double weight[3], trial[3], least = foot_weights(p, best, weight);
  const facet *f = best;
  for (int k = 0; k < p->facet_count && least > 0.0; k++) {
    const facet *g = &p->f[k];
    if (!g->live || !(fabs(g->offset - best->offset) <= 1e-10 * size) || fx_dot(g->normal, best->normal) < 1.0 - 1e-9)
      continue;
    double off = foot_weights(p, g, trial);
    if (!(off < least)) continue;
    least = off, f = g;
    for (int i = 0; i < 3; i++) weight[i] = trial[i];
  }
  return fx_mad(fx_mad(fx_scale(weight[0], p->a[f->v[0]]), weight[1], p->a[f->v[1]]), weight[2], p->a[f->v[2]]);
}

bool fx_epa(const fx_convex *a, const fx_convex *b, frix_vec3 guess, fx_closest *out) {
  polytope p;
  double size = fx_max(a->size, b->size);
  if (!start(&p, a, b, guess, size)) { /* flat: the planes across the guess are all there is */
    out->axis = fx_unit(guess);
    out->distance = fx_convex_separation(a, b, out->axis);
    out->point_a = fx_convex_support(a, out->axis);
    out->point_b = fx_mad(out->point_a, out->distance, out->axis);
    return true;
  }
  facet best = p.f[0];
  double reached = INFINITY;
  while (p.vertex_count < MOST_VERTICES) {
    int at = nearest(&p);
    if (at < 0) break;
    facet now = p.f[at];
    int w = add_vertex(&p, a, b, now.normal);
    double support = fx_dot(now.normal, p.w[w]);
    if (support < reached) reached = support, best = now; /* the best support plane so far, not the best facet */
    if (!(support - now.offset > 1e-13 * size) || !push_out(&p, at, w)) break;
  }
  out->axis = best.normal; /* a - b reaches this far along the normal: moving a back by it parts them */
  out->distance = -reached;
  out->point_a = witness(&p, &best, size);
  out->point_b = fx_mad(out->point_a, out->distance, out->axis);
  return true;
}
