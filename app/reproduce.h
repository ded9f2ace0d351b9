/* Reproductions: one row each, one file each.
 *
 * A reproduction measures and tells its report, line by line, what the document says and what came out. The report
 * writes NAME.md and NAME.csv and prints the comparison; the headlines of all that is there make index.md. */
#ifndef FX_APP_REPRODUCE_H
#define FX_APP_REPRODUCE_H

#include "app.h"
#include "chart.h"

typedef struct fx_report fx_report;

typedef struct fx_reproduction {
  const char *name;
  const char *document; /* "S1" .. "S5" */
  const char *place;    /* where in it: "table 1" */
  const char *summary;
  const char *size;              /* what --size means here; NULL: nothing */
  double seconds, quick_seconds; /* about how long it takes */
  /* False after a message. */
  bool (*run)(fx_report *report);
} fx_reproduction;

/* Row k, NULL past the end. */
const fx_reproduction *fx_reproduction_table(int k);

/* ---- what was asked for */

typedef struct fx_reproduce_settings {
  const fx_args *args;
  const char *out;    /* directory for the files, made if absent */
  const char *solver; /* NULL: the one the document uses */
  double tolerance;   /* 0: the document's */
  int64_t size;       /* 0: the reproduction's own */
  bool quick;         /* a small form of it, for a first look and for tests */
} fx_reproduce_settings;

const fx_reproduce_settings *fx_report_settings(const fx_report *report);
/* --size, else the value for the quick or the full form. */
int64_t fx_report_size(const fx_report *report, int64_t quick, int64_t full);
/* The options given with --set; false after a message. */
bool fx_report_options(fx_report *report, frix_context *context, frix_options **out);

/* ---- what came out */

/* NAN: not known (the document does not say); INFINITY: fails. */
typedef struct fx_compared {
  double document, ours;
  const char *unit; /* "s", "m", "" */
  bool headline;    /* stands in the index too */
} fx_compared;

/* A paragraph. */
void fx_report_text(fx_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line of the comparison; lines that follow each other are one table. */
void fx_report_compare(fx_report *report, fx_compared value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The file NAME<suffix> for writing; NULL after a message. Pictures stand in the text where they are opened. */
FILE *fx_report_open(fx_report *report, const char *suffix);
/* Closes it; false after a message when something could not be written. */
bool fx_report_close(fx_report *report, FILE *file);
bool fx_report_chart(fx_report *report, const char *suffix, const fx_chart *chart);

/* Processor time of this program so far, s. */
double fx_cpu_seconds(void);

/* ---- for the verb (reproduce_report.c) */

/* Runs a row with a report of its own; false after a message. */
bool fx_report_run(const fx_reproduction *row, const fx_reproduce_settings *settings);
/* index.md of all reports in the directory; false after a message. */
bool fx_report_index(const fx_reproduce_settings *settings);
/* The bibliography: what S1 .. S5 are. Line k, NULL past the end. */
const char *fx_report_document(int k);

#endif
