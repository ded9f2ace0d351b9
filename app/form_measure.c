/* The table of closed forms, and how a row is measured and judged. */
#include "form_groups.h"

#include <stdio.h>
#include <time.h>

const double fx_form_step[FX_FORM_STEPS] = {0.01, 0.004, 0.001};

static const fx_form_group *const groups[] = {&fx_forms_slide, &fx_forms_roll, &fx_forms_impact, &fx_forms_stand,
                                              &fx_forms_motion};

const fx_form_group *fx_form_group_table(int k) {
  return k >= 0 && k < (int)(sizeof groups / sizeof *groups) ? groups[k] : NULL;
}

const fx_form *fx_form_table(int k) {
  for (int g = 0; k >= 0 && fx_form_group_table(g); k -= fx_form_group_table(g++)->count)
    if (k < fx_form_group_table(g)->count) return &fx_form_group_table(g)->row[k];
  return NULL;
}

double fx_form_zero(const fx_form *form) {
  (void)form;
  return 0;
}

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What a value may be off at a step size. */
static double bound(const fx_form *form, double h) { return form->floor + form->slope * pow(h, form->order); }

static const double LEDGER = 1e-11; /* the ledger is a sum of rounded numbers over thousands of steps */

/* The first reason why the row fails, "" where it passes. Comparisons are such that not-a-number fails. */
static void judge(fx_measured *m) {
  const fx_form *form = m->form;
  size_t size = sizeof m->reason;
  m->reason[0] = 0;
  if (m->tally.failure[0])
    snprintf(m->reason, size, "%s", m->tally.failure);
  else if (m->tally.uncertified)
    snprintf(m->reason, size, "%lld of %lld steps not certified", (long long)m->tally.uncertified,
             (long long)m->tally.steps);
  else if (!(m->tally.ledger <= LEDGER))
    snprintf(m->reason, size, "the energy ledger is open by %.1e", m->tally.ledger);
  else if (form->scheme && !(m->solver <= form->floor))
    snprintf(m->reason, size, "%.1e from what the scheme gives on paper, at most %.1e", m->solver, form->floor);
  for (int k = 0; !m->reason[0] && k < FX_FORM_STEPS; k++)
    if (!(m->error[k] <= bound(form, fx_form_step[k])))
      snprintf(m->reason, size, "off by %.2e at h = %g s, at most %.2e", m->error[k], fx_form_step[k],
               bound(form, fx_form_step[k]));
  m->passed = !m->reason[0];
}

fx_measured fx_form_measure(const fx_form *form) {
  fx_measured m = {.form = form, .exact = form->exact(form), .solver = form->scheme ? 0 : (double)NAN};
  double begun = processor_seconds();
  for (int k = 0; k < FX_FORM_STEPS; k++) {
    double h = fx_form_step[k];
    m.value[k] = form->run(form, h, &m.tally);
    m.error[k] = fabs(m.value[k] - m.exact);
    double solver = form->scheme ? fabs(m.value[k] - form->scheme(form, h)) : 0;
    if (form->scheme && !(solver <= m.solver)) m.solver = solver;
  }
  m.seconds = processor_seconds() - begun;
  double first = m.error[0], last = m.error[FX_FORM_STEPS - 1];
  m.order = first > form->floor && last > 0 ? log(first / last) / log(fx_form_step[0] / fx_form_step[FX_FORM_STEPS - 1])
                                            : (double)NAN;
  judge(&m);
  return m;
}
