/* Islands: connected sets of contacts, by union-find with the smallest contact as the root, and their extraction. */
#include "problem/mass.h"

#include <string.h>

/* ---- finding ---- */

static int32_t root_of(int32_t *parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void join(int32_t *parent, int32_t a, int32_t b) {
  a = root_of(parent, a);
  b = root_of(parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

static bool is_among(const uint8_t *among, int32_t i) { return !among || among[i]; }

/* label[i] of each contact, numbered by first contact; mover_label too where there are movers (-1: untouched). Contacts
 * that are not among those wanted have label -1; among NULL: all are. */
static frix_status find_labels(fx_arena *arena, const fx_system *s, const uint8_t *among, int32_t *label,
                               int32_t *mover_label, int32_t *count) {
  int32_t n = s->contact_count;
  int32_t *parent = FX_TAKE_RAW(arena, int32_t, n);
  if (!parent) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < n; i++) parent[i] = i;
  if (mover_label) {
    /* Contacts on the same mover: tie each to the first one seen there. */
    for (int32_t m = 0; m < s->mover_count; m++) mover_label[m] = -1;
    for (int32_t i = 0; i < n; i++)
      for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1] && is_among(among, i); k++) {
        int32_t *first = &mover_label[s->Ht.index[k]];
        if (*first < 0)
          *first = i;
        else
          join(parent, i, *first);
      }
  } else {
    for (int32_t i = 0; i < n; i++)
      for (int32_t k = s->W.start[i]; k < s->W.start[i + 1]; k++)
        if (is_among(among, i) && is_among(among, s->W.index[k])) join(parent, i, s->W.index[k]);
  }
  *count = 0;
  for (int32_t i = 0; i < n; i++) {
    int32_t root = root_of(parent, i);
    label[i] = !is_among(among, i) ? -1 : root == i ? (*count)++ : label[root];
  }
  for (int32_t m = 0; mover_label && m < s->mover_count; m++)
    if (mover_label[m] >= 0) mover_label[m] = label[mover_label[m]];
  return FRIX_OK;
}

/* Members of each group in ascending order, and the place of each within its group; label -1 is in no group. */
static frix_status group(fx_arena *arena, int32_t n, const int32_t *label, int32_t count, int32_t **start,
                         int32_t **member, int32_t **place) {
  *start = FX_TAKE(arena, int32_t, (size_t)count + 2);
  *member = FX_TAKE_RAW(arena, int32_t, n);
  *place = FX_TAKE_RAW(arena, int32_t, n);
  if (!*start || !*member || !*place) return FRIX_ERROR_MEMORY;
  int32_t *next = *start + 1;
  for (int32_t i = 0; i < n; i++)
    if (label[i] >= 0) next[label[i] + 1]++;
  for (int32_t k = 0; k < count; k++) next[k + 1] += next[k];
  /* next[k] runs from the start of group k to its end, which is the start of group k + 1: start shifts into place. */
  for (int32_t i = 0; i < n; i++)
    if (label[i] >= 0) (*member)[next[label[i]]++] = i;
  for (int32_t k = 0; k < count; k++)
    for (int32_t at = (*start)[k]; at < (*start)[k + 1]; at++) (*place)[(*member)[at]] = at - (*start)[k];
  return FRIX_OK;
}

frix_status fx_islands_find(fx_arena *arena, const fx_system *s, const uint8_t *among, fx_islands *out) {
  *out = (fx_islands){0};
  int32_t *label = FX_TAKE_RAW(arena, int32_t, s->contact_count);
  int32_t *mover_label = s->has_velocity ? FX_TAKE_RAW(arena, int32_t, s->mover_count) : NULL;
  if (!label || (s->has_velocity && !mover_label)) return FRIX_ERROR_MEMORY;
  frix_status status = find_labels(arena, s, among, label, mover_label, &out->count);
  if (status == FRIX_OK)
    status = group(arena, s->contact_count, label, out->count, &out->start, &out->contact, &out->place);
  if (status == FRIX_OK && mover_label)
    status = group(arena, s->mover_count, mover_label, out->count, &out->mover_start, &out->mover, &out->mover_place);
  return status;
}

frix_status fx_islands_as_one(fx_arena *arena, const fx_system *s, const uint8_t *among, fx_islands *out) {
  *out = (fx_islands){.count = 1};
  int32_t *label = FX_TAKE_RAW(arena, int32_t, s->contact_count), *met = FX_TAKE_RAW(arena, int32_t, s->mover_count);
  if (!label || !met) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < s->mover_count; m++) met[m] = -1;
  for (int32_t i = 0; i < s->contact_count; i++) {
    label[i] = among[i] ? 0 : -1;
    for (int32_t k = s->Ht.start[i]; among[i] && k < s->Ht.start[i + 1]; k++) met[s->Ht.index[k]] = 0;
  }
  frix_status status = group(arena, s->contact_count, label, 1, &out->start, &out->contact, &out->place);
  if (status != FRIX_OK) return status;
  return group(arena, s->mover_count, met, 1, &out->mover_start, &out->mover, &out->mover_place);
}

/* ---- extraction ---- */

static frix_status extract_velocity(fx_arena *arena, const fx_system *s, const fx_islands *islands, int32_t k,
                                    const int32_t *contacts, fx_system *out) {
  const int32_t *movers = islands->mover + islands->mover_start[k];
  out->mover_count = islands->mover_start[k + 1] - islands->mover_start[k];
  int32_t *dof = FX_TAKE(arena, int32_t, (size_t)out->mover_count + 1);
  if (!dof) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < out->mover_count; m++) dof[m + 1] = dof[m] + s->dof[movers[m] + 1] - s->dof[movers[m]];
  out->dof = dof;
  out->dof_count = dof[out->mover_count];
  double *v_free = FX_TAKE(arena, double, out->dof_count);
  size_t *M_offset = FX_TAKE(arena, size_t, (size_t)out->mover_count + 1);
  if (!v_free || !M_offset) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < out->mover_count; m++) {
    memcpy(v_free + dof[m], s->v_free + s->dof[movers[m]], (size_t)(dof[m + 1] - dof[m]) * sizeof *v_free);
    M_offset[m + 1] = M_offset[m] + s->M_offset[movers[m] + 1] - s->M_offset[movers[m]];
  }
  double *mass = FX_TAKE_RAW(arena, double, out->dof_count), *inverse = FX_TAKE_RAW(arena, double, out->dof_count);
  if (!mass || !inverse) return FRIX_ERROR_MEMORY;
  out->diagonal_mass = true;
  for (int32_t m = 0; m < out->mover_count; m++) {
    memcpy(mass + dof[m], s->mass + s->dof[movers[m]], (size_t)(dof[m + 1] - dof[m]) * sizeof *mass);
    memcpy(inverse + dof[m], s->inverse_mass + s->dof[movers[m]], (size_t)(dof[m + 1] - dof[m]) * sizeof *inverse);
    out->diagonal_mass &= inverse[dof[m]] != 0;
  }
  double *M = out->diagonal_mass ? NULL : FX_TAKE_RAW(arena, double, M_offset[out->mover_count]);
  if (!M && !out->diagonal_mass) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; M && m < out->mover_count; m++)
    memcpy(M + M_offset[m], s->M + s->M_offset[movers[m]], (M_offset[m + 1] - M_offset[m]) * sizeof *M);
  int32_t *motion = s->motion ? FX_TAKE_RAW(arena, int32_t, out->dof_count) : NULL;
  if (s->motion && !motion) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; motion && m < out->mover_count; m++)
    memcpy(motion + dof[m], s->motion + s->dof[movers[m]], (size_t)(dof[m + 1] - dof[m]) * sizeof *motion);
  out->motion = motion;
  out->v_free = v_free;
  out->M = M;
  out->mass = mass;
  out->inverse_mass = inverse;
  out->M_offset = M_offset;
  out->has_velocity = true;
  frix_status status = fx_block_extract(arena, &s->Ht, out->contact_count, contacts, out->row, out->mover_count,
                                        islands->mover_place, dof, &out->Ht);
  if (status != FRIX_OK) return status;
  if ((status = fx_response_build(arena, NULL, out)) != FRIX_OK || out->diagonal_mass) return status;
  const fx_block_matrix *from = &s->response->Yt, *to = &out->response->Yt;
  for (int32_t i = 0; i < out->contact_count; i++) {
    int32_t first = from->start[contacts[i]], end = from->start[contacts[i] + 1];
    memcpy(fx_block(to, to->start[i]), fx_block(from, first),
           (from->offset[end] - from->offset[first]) * sizeof(double));
  }
  return FRIX_OK;
}

void fx_islands_gather(const fx_system *whole, const fx_islands *islands, int32_t k, const double *from, double *own) {
  for (int32_t c = islands->start[k]; c < islands->start[k + 1]; c++) {
    int32_t i = islands->contact[c], d = whole->contact[i].dim;
    memcpy(own, from + whole->row[i], (size_t)d * sizeof *own);
    own += d;
  }
}

void fx_islands_scatter(const fx_system *whole, const fx_islands *islands, int32_t k, const double *own, double *to) {
  for (int32_t c = islands->start[k]; c < islands->start[k + 1]; c++) {
    int32_t i = islands->contact[c], d = whole->contact[i].dim;
    memcpy(to + whole->row[i], own, (size_t)d * sizeof *to);
    own += d;
  }
}

static double *extract_rows(fx_arena *arena, const fx_system *s, const fx_islands *islands, int32_t k, int32_t count,
                            const double *from) {
  double *to = FX_TAKE(arena, double, count);
  if (to) fx_islands_gather(s, islands, k, from, to);
  return to;
}

static frix_status extract_diagonal(fx_arena *arena, const fx_system *s, const fx_islands *islands, int32_t k,
                                    fx_system *out) {
  const int32_t *contacts = islands->contact + islands->start[k];
  size_t *offset = FX_TAKE(arena, size_t, (size_t)out->contact_count + 1);
  if (!offset) return FRIX_ERROR_MEMORY;
  for (int32_t c = 0; c < out->contact_count; c++)
    offset[c + 1] = offset[c] + (size_t)(out->contact[c].dim * out->contact[c].dim);
  double *D = FX_TAKE_RAW(arena, double, offset[out->contact_count]);
  out->W_diag = extract_rows(arena, s, islands, k, out->row_count, s->W_diag);
  if (!D || !out->W_diag) return FRIX_ERROR_MEMORY;
  for (int32_t c = 0; c < out->contact_count; c++)
    memcpy(D + offset[c], s->D + s->diagonal[contacts[c]], (offset[c + 1] - offset[c]) * sizeof *D);
  out->D = D;
  out->diagonal = offset;
  return FRIX_OK;
}

frix_status fx_system_extract(fx_arena *arena, const fx_system *s, const fx_islands *islands, int32_t k,
                              fx_system *out) {
  memset(out, 0, sizeof *out);
  const int32_t *contacts = islands->contact + islands->start[k];
  int32_t count = islands->start[k + 1] - islands->start[k];
  frix_contact *contact = FX_TAKE(arena, frix_contact, count);
  int32_t *row = FX_TAKE(arena, int32_t, (size_t)count + 1);
  if (!contact || !row) return FRIX_ERROR_MEMORY;
  out->threads = s->threads;
  out->joint_first = count;
  for (int32_t c = count - 1; c >= 0; c--)
    if (contacts[c] >= s->joint_first) out->joint_first = c;
  for (int32_t c = 0; c < count; c++) {
    contact[c] = s->contact[contacts[c]];
    row[c + 1] = row[c] + contact[c].dim;
  }
  out->contact = contact;
  out->row = row;
  out->contact_count = count;
  out->row_count = row[count];
  out->q = extract_rows(arena, s, islands, k, out->row_count, s->q);
  if (!out->q || (s->R && !(out->R = extract_rows(arena, s, islands, k, out->row_count, s->R))))
    return FRIX_ERROR_MEMORY;
  if (s->limit && !(out->limit = extract_rows(arena, s, islands, k, out->row_count, s->limit)))
    return FRIX_ERROR_MEMORY;
  out->has_bounds = s->has_bounds;
  frix_status status = FRIX_OK;
  if (s->has_W) {
    status = fx_block_extract(arena, &s->W, count, contacts, row, count, islands->place, row, &out->W);
    out->has_W = true;
  } else {
    if (!(out->w = extract_rows(arena, s, islands, k, out->row_count, s->w))) return FRIX_ERROR_MEMORY;
    status = extract_velocity(arena, s, islands, k, contacts, out);
  }
  if (status == FRIX_OK) status = extract_diagonal(arena, s, islands, k, out);
  out->rho = s->rho;
  out->carried = s->carried;
  out->rho_joint = s->rho_joint;
  return status;
}

frix_status frix_problem_island_count(const frix_problem *problem, int32_t *out) {
  if (!problem || !out) return FRIX_ERROR_INPUT;
  fx_arena arena;
  fx_arena_init(&arena, problem->context);
  fx_system system;
  fx_islands islands;
  frix_status status = fx_system_build(&arena, problem, problem->form, &system);
  if (status == FRIX_OK) status = fx_islands_find(&arena, &system, NULL, &islands);
  if (status == FRIX_OK) *out = islands.count;
  fx_arena_free(&arena);
  return status;
}
