/* The groups of closed forms, one file each; form_measure.c lists them. */
#ifndef FX_APP_FORM_GROUPS_H
#define FX_APP_FORM_GROUPS_H

#include "form.h"

extern const fx_form_group fx_forms_slide, fx_forms_roll, fx_forms_impact, fx_forms_stand, fx_forms_motion;

#endif
