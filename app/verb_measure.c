/* frix measure: a run as a granular researcher looks at it. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>

static const char *const formats[] = {"csv", "npz", "vtk", "svg"};
enum { FORMATS = sizeof formats / sizeof formats[0] };

typedef struct job {
  const fx_args *args;
  frix_context *context;
  frix_trajectory *trajectory;
  frix_export_config frames;
  int64_t rattlers;
  double reach; /* of correlations, diameters; 0: as the region allows */
  int32_t damaged;
  fx_grains *grains;
  fx_measured out;
} job;

static const char *prefix_of(const job *j, int k) {
  static const char *const flag[] = {"--csv", "--npz", "--vtk", "--svg"};
  return fx_arg(j->args, flag[k]);
}

/* Frame k, false where it is damaged (counted) or cannot be read (*good false). */
static bool read_frame(job *j, int32_t k, frix_frame *frame, bool *good) {
  frix_status status = frix_trajectory_frame(j->trajectory, k, frame);
  if (status == FRIX_OK) return true;
  if (status == FRIX_ERROR_FORMAT) {
    fx_warning("%s; passed over", frix_error_text(j->context));
    j->damaged++;
  } else {
    fx_error("%s", frix_error_text(j->context));
    *good = false;
  }
  return false;
}

static int32_t last_frame(const job *j) {
  int32_t count = frix_trajectory_frame_count(j->trajectory);
  return j->frames.last < 0 || j->frames.last >= count ? count - 1 : j->frames.last;
}

static bool set_region(job *j) {
  const char *box = fx_arg(j->args, "--box"), *cylinder = fx_arg(j->args, "--cylinder");
  fx_measured *m = &j->out;
  fx_region *region = &m->grid.region;
  m->grid.dim = m->dim = j->grains->dim;
  if (box && cylinder) {
    fx_error("either --box or --cylinder");
    return false;
  }
  bool good = cylinder ? fx_region_cylinder(region, cylinder, j->grains) : fx_region_box(region, box, j->grains);
  if (!good || !fx_grid_parse(&m->grid, fx_arg(j->args, "--grid"))) return false;
  m->whole = m->grid;
  m->diameter = 2 * j->grains->mean;
  for (int a = 0; a < 3; a++) m->whole.cells[a] = 1;
  double room = region->round ? region->high[0] : 0.5 * (region->high[0] - region->low[0]);
  for (int a = 1; a < m->dim; a++)
    if (!(region->round && a == 1)) room = fmin(room, 0.5 * (region->high[a] - region->low[a]));
  fx_pairs_new(&m->pairs, j->reach > 0 ? j->reach * m->diameter : fmin(5 * m->diameter, 0.5 * room));
  return true;
}

/* The last readable frame tells the region, where that is left open. */
static bool look_at_end(job *j) {
  bool good = true;
  for (int32_t k = last_frame(j); k >= 0 && good; k--) {
    frix_frame frame = {.size = sizeof frame};
    if (!read_frame(j, k, &frame, &good)) continue;
    fx_grains_frame(j->grains, frix_trajectory_model(j->trajectory), &frame);
    if (j->grains->count) return set_region(j);
    fx_error("%s: nothing in it moves by itself: no grains", j->args->word[0]);
    return false;
  }
  if (good) fx_error("%s: no frame that can be read", j->args->word[0]);
  return false;
}

static bool measure(job *j) {
  bool good = look_at_end(j);
  j->damaged = 0;
  if (!good) return false;
  fx_measured_begin(&j->out);
  int32_t every = j->frames.every > 0 ? j->frames.every : 1, last = last_frame(j);
  for (int32_t k = j->frames.first; k <= last && good && !fx_interrupted(NULL); k += every) {
    frix_frame frame = {.size = sizeof frame};
    if (!read_frame(j, k, &frame, &good)) continue;
    fx_progress("frame %d of %d", (int)k, (int)last);
    fx_grains_frame(j->grains, frix_trajectory_model(j->trajectory), &frame);
    if (j->rattlers) fx_grains_rattlers(j->grains, (int32_t)j->rattlers);
    if (!j->out.frames) j->out.first = frame.energy;
    j->out.last = frame.energy;
    fx_measured_moment(&j->out, j->grains, frame.h > 0);
  }
  fx_progress_clear();
  if (good && !j->out.frames) {
    fx_error("--frames: none of the %d frames is among them", (int)frix_trajectory_frame_count(j->trajectory));
    good = false;
  }
  if (good) fx_measured_finish(&j->out, j->grains);
  return good;
}

static bool write_all(const job *j) {
  for (int k = 0; k < FORMATS; k++)
    if (prefix_of(j, k) && !fx_measured_write(&j->out, j->context, formats[k], prefix_of(j, k))) return false;
  if (fx_arg(j->args, "--json"))
    fx_measured_json(&j->out);
  else
    fx_measured_print(&j->out);
  return true;
}

static bool parse(job *j) {
  const double far = 1e12;
  fx_motion *motion = &j->out.motion;
  motion->has_plane = fx_arg(j->args, "--plane") != NULL;
  return fx_arg_integer(j->args, "--rattlers", 1, 12, &j->rattlers) &&
         fx_arg_real(j->args, "--reach", 0.5, 1000, &j->reach) &&
         fx_arg_real(j->args, "--plane", -far, far, &motion->plane) &&
         fx_parse_frames(fx_arg(j->args, "--frames"), &j->frames);
}

static int run_measure(const fx_args *args) {
  job j = {.args = args, .frames = frix_export_default()};
  j.out.path = args->word[0];
  if (!parse(&j)) return FX_EXIT_USAGE;
  if (j.frames.first < 0) j.frames.first = 0;
  fx_catch_interrupt();
  j.context = fx_context(false);
  j.grains = fx_grains_new();
  bool good = frix_trajectory_open(j.context, args->word[0], &j.trajectory) == FRIX_OK;
  if (!good) fx_error("%s", frix_error_text(j.context));
  for (int k = 0; k < FORMATS && good; k++)
    good = !prefix_of(&j, k) || fx_measured_check(j.context, formats[k], prefix_of(&j, k));
  if (good && frix_trajectory_trouble(j.trajectory))
    fx_warning("%s: %s", args->word[0], frix_trajectory_trouble(j.trajectory));
  good = good && measure(&j) && write_all(&j);
  if (good) j.damaged += frix_trajectory_damage_count(j.trajectory);
  if (good && j.damaged) fx_warning("%s: %d damaged places were left out", args->word[0], (int)j.damaged);
  fx_measured_free(&j.out);
  fx_grains_free(j.grains);
  frix_trajectory_close(j.trajectory);
  frix_context_destroy(j.context);
  return !good ? FX_EXIT_USAGE : j.damaged || fx_interrupted(NULL) ? FX_EXIT_UNSOLVED : FX_EXIT_SOLVED;
}

static const fx_flag flags[] = {
    {"--frames", "A:B:K", NULL, "frames A to B, every K-th (default: all)"},
    {"--box", "X0:X1,Y0:Y1,Z0:Z1", NULL, "region in m; omitted ends are those of the grains (default: all grains)"},
    {"--cylinder", "X,Y,R,Z0:Z1", NULL, "region: a vertical cylinder; vectors are radial, tangential, vertical"},
    {"--grid", "NX,NY,NZ", NULL, "divide the region into cells (planar: NX,NY; cylinder: RINGS,LAYERS)"},
    {"--plane", "Z", NULL, "count grains that fall through this height (planar: y) within the sides of the region"},
    {"--reach", "D", NULL, "range of correlations in mean diameters (default: 5, or what the region allows)"},
    {"--rattlers", "K", NULL,
     "grains with fewer neighbours are rattlers (default: 2; without friction 3, planar 2; 4 and 3 without gravity)"},
    {"--csv", "PREFIX", NULL, "write tables PREFIX_series, _grid, _forces, _correlation, _grains"},
    {"--npz", "PREFIX", NULL, "write the same tables as NumPy arrays"},
    {"--vtk", "PREFIX", NULL, "write PREFIX_grid and PREFIX_grains (last frame) for ParaView"},
    {"--svg", "PREFIX", NULL, "write charts PREFIX_series, _grid, _forces, _correlation"},
    {"--json", NULL, NULL, "print one JSON object"},
    {0},
};

const fx_verb fx_verb_measure = {
    .name = "measure",
    .arguments = "RUN.frx",
    .summary = "measure packing, stress, forces, correlations and flow of the grains of a run",
    .detail =
        "Grains are the dynamic bodies. Means are taken over the chosen frames and over a region or its cells. The "
        "summary\n"
        "also shows where the energy went: friction, impacts, damping and time discretisation (docs/grains.md).",
    .example =
        "  frix run pile --time 1 --every 20 --out pile.frx\n"
        "  frix measure pile.frx --box :,:,0.1:0.4        # a slice of it, over time\n"
        "  frix measure pile.frx --grid 1,1,20 --csv pile --svg pile\n"
        "  frix measure reactor.frx --cylinder 0,0,0.4 --grid 10,20 --plane 0 --vtk reactor",
    .flag = flags,
    .min_words = 1,
    .max_words = 1,
    .run = run_measure,
};
