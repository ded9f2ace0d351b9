/* Reproductions: one row each, one file each. */
#ifndef FX_APP_REPRODUCE_H
#define FX_APP_REPRODUCE_H

#include "app.h"

typedef struct fx_reproduce_settings {
  const fx_args *args;
  const char *out;    /* directory for the files, made if absent */
  const char *solver; /* NULL: the one the document uses */
  double tolerance;   /* 0: the document's */
  int64_t size;       /* 0: the reproduction's own; grid points along an edge, runs per condition */
} fx_reproduce_settings;

typedef struct fx_reproduction {
  const char *name;
  const char *summary;
  const char *size; /* what --size means here */
  /* Writes its files and prints what it found; returns the exit code. */
  int (*run)(const fx_reproduce_settings *settings);
} fx_reproduction;

/* Row k, NULL past the end. */
const fx_reproduction *fx_reproduction_table(int k);

/* The options given with --set; false after a message. */
bool fx_reproduce_options(const fx_reproduce_settings *settings, frix_context *context, frix_options **out);
/* Opens out/name for writing; NULL after a message. */
FILE *fx_reproduce_open(const fx_reproduce_settings *settings, const char *name);
/* Closes it; false after a message when something could not be written. */
bool fx_reproduce_close(FILE *file, const char *name);

#endif
