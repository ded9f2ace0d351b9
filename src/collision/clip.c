/* Sutherland-Hodgman clipping of one face against the prism of another, with feature ids for every corner.
 *
 * Every corner of the overlap is a vertex of a over b's face, a vertex of b over a's face, or a crossing of two edges;
 * its feature id says which, independently of the reference face. So ids persist through sliding, rotation and a change
 * of the reference face. */
#include "collision/clip.h"

#include "collision/rim.h"

void fx_segment_face(frix_vec3 p, frix_vec3 q, int32_t first, int32_t second, int32_t edge, fx_face *out) {
  out->count = 2;
  out->round = false;
  out->point[0] = p, out->point[1] = q;
  out->vertex[0] = first, out->vertex[1] = second;
  out->edge[0] = out->edge[1] = out->face = edge;
}

enum { ROOM = 2 * FX_FACE_MOST + 4 };

/* A corner of the shrinking polygon. `side` is the side that leaves it: an edge of the incident face (>= 0) or the
 * reference side ~side that cut it. */
typedef struct corner {
  frix_vec3 p;
  int32_t side;
  int kind_reference, kind_incident; /* FX_FEATURE_ of the two faces */
  int32_t reference, incident;       /* and their numbers */
} corner;

typedef struct polygon {
  int32_t count;
  corner c[ROOM];
} polygon;

/* The corner where side ~from of the reference meets its side `by`: a vertex of the reference face. */
static int32_t shared_vertex(const fx_face *reference, int32_t from, int32_t by) {
  return reference->vertex[(by + 1) % reference->count == from ? from : by];
}

/* Where the side that leaves `from` crosses reference side `by`. */
static corner crossing(const fx_face *reference, const fx_face *incident, const corner *from, const corner *to,
                       double from_out, double to_out, int32_t by) {
  corner c = {0};
  double t = from_out / (from_out - to_out);
  c.p = fx_mad(from->p, t, fx_sub(to->p, from->p));
  if (from->side >= 0) {
    c.kind_reference = FX_FEATURE_EDGE, c.reference = reference->edge[by];
    c.kind_incident = FX_FEATURE_EDGE, c.incident = from->side;
  } else {
    c.kind_reference = FX_FEATURE_VERTEX, c.reference = shared_vertex(reference, ~from->side, by);
    c.kind_incident = FX_FEATURE_FACE, c.incident = incident->face;
  }
  return c;
}

/* Keeps what lies inside side `by` of the reference prism; false where that is everything, and nothing is written. */
static bool cut(const fx_face *reference, const fx_face *incident, frix_vec3 up, int32_t by, double slop,
                const polygon *in, polygon *out) {
  frix_vec3 v = reference->point[by];
  frix_vec3 edge = fx_sub(reference->point[by + 1 < reference->count ? by + 1 : 0], v);
  frix_vec3 outward = fx_unit(fx_cross(edge, up));
  double outside[ROOM]; /* how far each corner is */
  bool whole = true;
  for (int32_t k = 0; k < in->count; k++) {
    outside[k] = fx_dot(outward, fx_sub(in->c[k].p, v));
    whole &= outside[k] <= slop;
  }
  if (whole) return false;
  out->count = 0;
  for (int32_t k = 0; k < in->count; k++) {
    int32_t next = k + 1 < in->count ? k + 1 : 0;
    const corner *from = &in->c[k], *to = &in->c[next];
    double from_out = outside[k], to_out = outside[next];
    bool from_in = from_out <= slop, to_in = to_out <= slop;
    if (from_in && out->count < ROOM) out->c[out->count++] = *from;
    if (from_in == to_in || out->count >= ROOM) continue;
    if (in->count == 2 && k == 1) continue; /* a segment is walked once */
    corner c = crossing(reference, incident, from, to, from_out, to_out, by);
    if (from_in && from_out > -slop) { /* the crossing is the corner itself: the side that follows is the cut */
      out->c[out->count - 1].side = ~by;
      continue;
    }
    if (to_in && to_out > -slop) continue; /* likewise, the corner comes next */
    c.side = from_in ? ~by : from->side;
    out->c[out->count++] = c;
  }
  return true;
}

static bool same_place(frix_vec3 a, frix_vec3 b, double distance) {
  return fx_norm2(fx_sub(a, b)) <= distance * distance;
}

/* Corners that fell together count once; vertices are the better name. */
static void drop_doubles(polygon *p, double distance) {
  int32_t kept = 0;
  for (int32_t k = 0; k < p->count; k++) {
    int32_t other = 0;
    while (other < kept && !same_place(p->c[other].p, p->c[k].p, distance)) other++;
    if (other == kept) {
      p->c[kept++] = p->c[k];
    } else if (p->c[other].kind_incident == FX_FEATURE_EDGE && p->c[k].kind_incident != FX_FEATURE_EDGE) {
      p->c[other] = p->c[k];
    }
  }
  p->count = kept;
}

/* One contact; the normal is that of the axis, in the world. */
static void add_contact(frix_vec3 point_a, frix_vec3 point_b, frix_vec3 axis, frix_vec3 normal, uint64_t feature,
                        frix_pose frame, fx_manifold *out) {
  fx_touch *t = fx_manifold_add(out);
  if (!t) return;
  t->feature = feature;
  t->point_a = fx_pose_point(frame, point_a);
  t->point_b = fx_pose_point(frame, point_b);
  t->normal = normal;
  t->gap = fx_dot(axis, fx_sub(point_b, point_a));
}

static frix_vec3 normal_of(frix_vec3 axis, frix_pose frame) { return fx_neg(fx_rotate(frame.q, axis)); }

void fx_clip_single(frix_vec3 point_a, frix_vec3 point_b, frix_vec3 axis, uint64_t feature, frix_pose frame,
                    fx_manifold *out) {
  add_contact(point_a, point_b, axis, normal_of(axis, frame), feature, frame, out);
}

/* Two segments: contacts where they run beside each other, found by clipping b's between the ends of a's. */
static void clip_segments(const fx_face *a, const fx_face *b, frix_vec3 axis, double margin, double slop,
                          frix_pose frame, fx_manifold *out, double *least) {
  frix_vec3 along = fx_sub(a->point[1], a->point[0]), other = fx_sub(b->point[1], b->point[0]);
  frix_vec3 flat = fx_mad(along, -fx_dot(along, axis), axis);
  double length2 = fx_norm2(flat);
  if (!(length2 > 0.0)) return;
  /* more than a fifth of a degree apart they cross in one point, which the witness gives */
  frix_vec3 other_flat = fx_mad(other, -fx_dot(other, axis), axis);
  frix_vec3 across = fx_cross(flat, other_flat);
  if (fx_norm2(across) > 1e-5 * length2 * fx_norm2(other_flat)) return;
  double t0 = fx_dot(flat, fx_sub(b->point[0], a->point[0])) / length2;
  double t1 = fx_dot(flat, fx_sub(b->point[1], a->point[0])) / length2;
  bool turned = t1 < t0;
  double low = turned ? t1 : t0, high = turned ? t0 : t1, tolerance = slop / sqrt(length2);
  if (high < -tolerance || low > 1.0 + tolerance || !(high > low)) return;
  double end[2] = {low > 0.0 ? low : 0.0, high < 1.0 ? high : 1.0};
  int32_t side_a[2] = {low > tolerance ? -1 : a->vertex[0], high < 1.0 - tolerance ? -1 : a->vertex[1]};
  for (int k = 0; k < 2; k++) {
    frix_vec3 pa = fx_mad(a->point[0], end[k], along);
    double s = (end[k] - t0) / (t1 - t0);
    frix_vec3 pb = fx_mad(b->point[0], s, other);
    double gap = fx_dot(axis, fx_sub(pb, pa));
    if (gap < *least) *least = gap;
    if (gap > margin || (k == 1 && end[1] - end[0] <= tolerance)) continue;
    int32_t corner_b = b->vertex[(k == 1) != turned];
    uint64_t feature = side_a[k] >= 0 ? FX_FEATURE(FX_FEATURE_VERTEX, side_a[k], FX_FEATURE_EDGE, b->edge[0])
                                      : FX_FEATURE(FX_FEATURE_EDGE, a->edge[0], FX_FEATURE_VERTEX, corner_b);
    /* the gap is measured along the axis; sideways the points differ by less than the segments' distance */
    frix_vec3 middle = fx_scale(0.5, fx_add(pa, pb));
    double half = 0.5 * gap;
    fx_clip_single(fx_mad(middle, -half, axis), fx_mad(middle, half, axis), axis, feature, frame, out);
  }
}

void fx_clip_faces(const fx_face *a, const fx_face *b, frix_vec3 axis, double margin, double slop, frix_pose frame,
                   fx_manifold *out, double *least) {
  *least = INFINITY;
  if (a->count < 2 || b->count < 2) return;
  if (a->round || b->round) {
    fx_clip_round(a, b, axis, margin, slop, frame, out, least);
    return;
  }
  if (a->count == 2 && b->count == 2) {
    clip_segments(a, b, axis, margin, slop, frame, out, least);
    return;
  }
  /* the face nearer to perpendicular is the reference */
  bool a_leads = b->count == 2 || (a->count > 2 && fx_dot(a->normal, axis) >= -fx_dot(b->normal, axis) - 1e-9);
  const fx_face *reference = a_leads ? a : b, *incident = a_leads ? b : a;
  frix_vec3 up = a_leads ? axis : fx_neg(axis);
  double tilt = fx_dot(reference->normal, up);
  if (!(tilt > 0.1)) return;

  polygon work[2];
  int now = 0;
  work[0].count = incident->count;
  for (int32_t k = 0; k < incident->count; k++)
    work[0].c[k] = (corner){incident->point[k], incident->edge[k], FX_FEATURE_FACE,
                            FX_FEATURE_VERTEX,  reference->face,   incident->vertex[k]};
  for (int32_t k = 0; k < reference->count && work[now].count > 0; k++)
    if (cut(reference, incident, up, k, slop, &work[now], &work[1 - now])) now = 1 - now;
  drop_doubles(&work[now], 2.0 * slop);

  frix_vec3 normal = normal_of(axis, frame);
  for (int32_t k = 0; k < work[now].count; k++) {
    const corner *c = &work[now].c[k];
    double gap = fx_dot(reference->normal, fx_sub(c->p, reference->point[0])) / tilt;
    if (gap < *least) *least = gap;
    if (gap > margin) continue;
    frix_vec3 below = fx_mad(c->p, -gap, up);
    uint64_t feature = a_leads ? FX_FEATURE(c->kind_reference, c->reference, c->kind_incident, c->incident)
                               : FX_FEATURE(c->kind_incident, c->incident, c->kind_reference, c->reference);
    add_contact(a_leads ? below : c->p, a_leads ? c->p : below, axis, normal, feature, frame, out);
  }
}
