/* Closed forms: what mechanics says on paper, and what a simulation makes of it at three step sizes.
 *
 *   exact    the formula
 *   value    what came out, at h = 10, 4 and 1 ms
 *   scheme   where it is known: what the same steps give on paper, by the recurrence of the scheme over a few scalars
 *
 * A row passes where every step is certified, the energy ledger closes, and at every step size
 *   |value - exact| <= floor + slope h^order        (exact at any step size: slope = 0)
 *   |value - scheme| <= floor                       (the solver's own error)
 *
 * One row per closed form; the command `frix selftest` and the test of closed forms iterate the same table. A new row
 * is one run function, one exact function and a line in the table of its file. */
#ifndef FX_APP_FORM_H
#define FX_APP_FORM_H

#include <frix/frix.h>
#include <math.h>
#include <stdbool.h>

enum { FX_FORM_STEPS = 3 };
extern const double fx_form_step[FX_FORM_STEPS];

static const double FX_GRAVITY = 9.81;
static const double FX_PI = 3.14159265358979323846;

/* What the steps of a row amount to. */
typedef struct fx_tally {
  int64_t steps, uncertified;
  double residual;  /* largest of a certified step */
  double ledger;    /* largest gap of the energy ledger at the end of a run, over the energies it adds up */
  char failure[96]; /* the first call that failed; "" where none did */
} fx_tally;

typedef struct fx_form fx_form;
struct fx_form {
  const char *name;
  const char *about;   /* what happens, and which figure of it is measured */
  const char *formula; /* as people write it */
  const char *unit;    /* "" for a ratio */
  double (*run)(const fx_form *form, double h, fx_tally *tally);
  double (*exact)(const fx_form *form);
  double (*scheme)(const fx_form *form, double h); /* NULL: not known */
  double mu, part;                                 /* friction; what tells the row from others with its functions */
  int count;                                       /* of stones, beads, levels */
  double order, slope, floor;
  bool stiff;             /* the stiff law of contact; else the rigid one */
  bool poisson;           /* restitution by Poisson's law; else the default one */
  const char *integrator; /* NULL: the default */
};

typedef struct fx_form_group {
  const char *name;
  const fx_form *row;
  int count;
} fx_form_group;

/* For rows whose answer is nothing. */
double fx_form_zero(const fx_form *form);
/* Group k, NULL past the end. */
const fx_form_group *fx_form_group_table(int k);
/* Row k of all groups, NULL past the end. */
const fx_form *fx_form_table(int k);

typedef struct fx_measured {
  const fx_form *form;
  double exact, value[FX_FORM_STEPS];
  double error[FX_FORM_STEPS]; /* |value - exact| */
  double solver;               /* largest |value - scheme|, NAN where the scheme is not known */
  double order;                /* observed between the largest and the smallest step; NAN where all errors are below the
                                  floor */
  fx_tally tally;
  double seconds; /* processor time */
  bool passed;
  char reason[128]; /* why not */
} fx_measured;

fx_measured fx_form_measure(const fx_form *form);

/* ---- a world to measure in (form_lab.c) ---- */

typedef struct fx_lab {
  fx_tally *tally;
  frix_context *context;
  frix_builder *builder;
  frix_model *model;
  frix_sim *sim;
  frix_sim_config config;
  frix_material_id material; /* of all shapes that name none */
} fx_lab;

/* Calls after a failed one do nothing; the tally keeps the first failure and the row fails. */
bool fx_lab_do(fx_lab *lab, frix_status status, const char *what);
#define FX_DO(lab, call) fx_lab_do((lab), (call), #call)

fx_lab fx_lab_new(const fx_form *form, double mu, double restitution, fx_tally *tally);
/* Builds the world; false after a failure. */
bool fx_lab_start(fx_lab *lab);
void fx_lab_step(fx_lab *lab, double h);
void fx_lab_run(fx_lab *lab, double h, double time);
/* Checks the ledger and frees everything. Returns value, NAN after a failure. */
double fx_lab_end(fx_lab *lab, double value);
int64_t fx_steps_in(double time, double h);

frix_vec3 fx_xyz(double x, double y, double z);
frix_pose fx_at(double x, double y, double z);
frix_shape_config fx_box(double x, double y, double z); /* half sides */
frix_shape_config fx_ball(double radius);
frix_shape_config fx_disc(double radius);
/* A body at a pose, its mass from its shapes unless set. */
frix_body_config fx_body(frix_pose pose);
frix_body_id fx_lab_put(fx_lab *lab, frix_body_config body, frix_shape_config shape);
/* A shape of a body; a null body is the world. */
void fx_lab_shape(fx_lab *lab, frix_body_id body, frix_shape_config shape);
/* The ground: the plane z = 0, turned about y by an angle; down to +x. */
void fx_lab_slope(fx_lab *lab, double angle);
/* The ground of a planar world: y = 0, gravity along -y. */
void fx_lab_line(fx_lab *lab);
frix_material_id fx_lab_material(fx_lab *lab, frix_material_config config);
frix_body_state fx_lab_state(const fx_lab *lab, frix_body_id body);
frix_joint_id fx_lab_joint(fx_lab *lab, frix_joint_config joint, frix_vec3 anchor, frix_vec3 axis);

/* Where `holds` changes from true to false between low and high, by bisection to a relative width; NAN where it is not
 * true at low and false at high. */
typedef bool (*fx_holds)(const fx_form *form, double x, double h, fx_tally *tally);
double fx_threshold(const fx_form *form, fx_holds holds, double low, double high, double width, double h,
                    fx_tally *tally);

#endif
