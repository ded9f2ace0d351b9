/* Expanding polytope (van den Bergen 2001), written for signed distances.
 *
 * A polytope inside a - b grows from a tetrahedron. Its face whose plane has the least signed distance to the origin is
 * pushed out to the support plane until it is a support plane itself. The origin may be inside (overlap), on the surface
 * or a little outside: the least signed distance then is the separation with its sign changed, and the normals, which
 * come from large triangles, keep their digits where GJK's direction has lost them. */
#include "collision/gjk.h"

enum { MOST_VERTICES = 192, MOST_FACES = 384, MOST_EDGES = 96 };

typedef struct facet {
  int v[3];
  frix_vec3 normal; /* outward */
  double offset;
  bool live;
} facet;

typedef struct polytope {
  int vertex_count, facet_count;
  frix_vec3 w[MOST_VERTICES], a[MOST_VERTICES], b[MOST_VERTICES];
  facet f[MOST_FACES];
  frix_vec3 middle; /* inside */
} polytope;

static int add_vertex(polytope *p, const fx_convex *a, const fx_convex *b, frix_vec3 d) {
  int k = p->vertex_count++;
  p->a[k] = fx_convex_support(a, d);
  p->b[k] = fx_convex_support(b, fx_neg(d));
  p->w[k] = fx_sub(p->a[k], p->b[k]);
  return k;
}

static bool add_facet(polytope *p, int i, int j, int k) {
  int at = 0;
  while (at < p->facet_count && p->f[at].live) at++;
  if (at == MOST_FACES) return false;
  if (at == p->facet_count) p->facet_count++;
  facet *f = &p->f[at];
  frix_vec3 n = fx_cross(fx_sub(p->w[j], p->w[i]), fx_sub(p->w[k], p->w[i]));
  double length = fx_norm(n);
  *f = (facet){{i, j, k}, n, INFINITY, true};
  if (!(length > 0.0)) return true; /* a sliver: it closes the surface but is never chosen */
  f->normal = fx_scale(1.0 / length, n);
  f->offset = fx_dot(f->normal, p->w[i]);
  return true;
}

/* A tetrahedron with volume, from support points in changing directions; false where a - b is flat. */
static bool start(polytope *p, const fx_convex *a, const fx_convex *b, frix_vec3 guess, double size) {
  frix_vec3 d = fx_unit(guess);
  p->vertex_count = p->facet_count = 0;
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
  add_facet(p, i, j, 2);
  add_facet(p, j, i, 3);
  add_facet(p, i, 2, 3);
  add_facet(p, 2, j, 3);
  return true;
}

/* Replaces all facets that see the vertex by a fan around it. False where the room or the numbers give out. */
static bool push_out(polytope *p, int vertex) {
  int edge[MOST_EDGES][2], edge_count = 0;
  for (int k = 0; k < p->facet_count; k++) {
    facet *f = &p->f[k];
    if (!f->live || (f->offset != INFINITY && !(fx_dot(f->normal, p->w[vertex]) > f->offset))) continue;
    if (f->offset == INFINITY && !(fx_dot(f->normal, fx_sub(p->w[vertex], p->w[f->v[0]])) > 0.0)) continue;
    f->live = false;
    for (int e = 0; e < 3; e++) {
      int tail = f->v[e], head = f->v[(e + 1) % 3], other = 0;
      while (other < edge_count && !(edge[other][0] == head && edge[other][1] == tail)) other++;
      if (other < edge_count) { /* inside the hole */
        edge_count--;
        edge[other][0] = edge[edge_count][0], edge[other][1] = edge[edge_count][1];
      } else if (edge_count == MOST_EDGES) {
        return false;
      } else {
        edge[edge_count][0] = tail, edge[edge_count][1] = head, edge_count++;
      }
    }
  }
  if (edge_count < 3) return false;
  for (int e = 0; e < edge_count; e++)
    if (!add_facet(p, edge[e][0], edge[e][1], vertex)) return false;
  return true;
}

static int nearest(const polytope *p) {
  int best = -1;
  for (int k = 0; k < p->facet_count; k++)
    if (p->f[k].live && p->f[k].offset < INFINITY && (best < 0 || p->f[k].offset < p->f[best].offset)) best = k;
  return best;
}

/* The foot of the origin on a facet, in the points of a and b. */
static void witness(const polytope *p, const facet *f, fx_closest *out) {
  frix_vec3 foot = fx_scale(f->offset, f->normal), a = p->w[f->v[0]];
  frix_vec3 ab = fx_sub(p->w[f->v[1]], a), ac = fx_sub(p->w[f->v[2]], a), d = fx_sub(foot, a);
  double bb = fx_dot(ab, ab), bc = fx_dot(ab, ac), cc = fx_dot(ac, ac), db = fx_dot(d, ab), dc = fx_dot(d, ac);
  double determinant = bb * cc - bc * bc;
  double v = determinant > 0.0 ? (cc * db - bc * dc) / determinant : 0.0;
  double w = determinant > 0.0 ? (bb * dc - bc * db) / determinant : 0.0;
  v = fx_clamp(v, 0.0, 1.0), w = fx_clamp(w, 0.0, 1.0 - v);
  double u = 1.0 - v - w;
  out->distance = -f->offset;
  out->axis = f->normal; /* a - b reaches offset along the normal: moving a back by it along the normal parts them */
  out->point_a = fx_mad(fx_mad(fx_scale(u, p->a[f->v[0]]), v, p->a[f->v[1]]), w, p->a[f->v[2]]);
  out->point_b = fx_mad(out->point_a, out->distance, out->axis);
}

bool fx_epa(const fx_convex *a, const fx_convex *b, frix_vec3 guess, fx_closest *out) {
  polytope p;
  double size = fmax(a->size, b->size);
  if (!start(&p, a, b, guess, size)) { /* flat: the planes across the guess are all there is */
    out->axis = fx_unit(guess);
    out->distance = fx_convex_separation(a, b, out->axis);
    out->point_a = fx_convex_support(a, out->axis);
    out->point_b = fx_mad(out->point_a, out->distance, out->axis);
    return true;
  }
  facet best = p.f[nearest(&p) < 0 ? 0 : nearest(&p)];
  while (p.vertex_count < MOST_VERTICES) {
    int at = nearest(&p);
    if (at < 0) break;
    best = p.f[at];
    int w = add_vertex(&p, a, b, best.normal);
    double gain = fx_dot(best.normal, p.w[w]) - best.offset;
    if (!(gain > 1e-13 * size) || !push_out(&p, w)) break;
  }
  witness(&p, &best, out);
  return true;
}
