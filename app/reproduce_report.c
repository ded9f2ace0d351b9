/* Reports of reproductions: NAME.md, NAME.csv, the comparison on the terminal, and the index of all. */
#include "reproduce.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char *const documents[] = {
    "S1: M. Anitescu, G. D. Hart, Solving nonconvex problems of multibody dynamics with joints, contact and small "
    "friction by successive convex relaxation, 2003",
    "S2: M. Anitescu, Optimisation-based time stepping for rigid multibody dynamics with contact and friction, slides",
    "S3: R. Andreani, A. Friedlander, M. P. Mello, S. A. Santos, Multi-rigid-body contact problems with Coulomb "
    "friction: "
    "complementarity and equivalent formulations, 2003",
    "S4: E. Todorov, Implicit nonlinear complementarity: a new approach to contact dynamics, ICRA 2010",
    "S5: D. M. Kaufman, Coupled principles for computational frictional contact mechanics, thesis, 2009",
    "S6: what is known of grains: H. A. Janssen, Zeitschr. VDI 39, 1895; W. A. Beverloo et al., Chem. Eng. Sci. 15, "
    "1961; "
    "G. D. Scott and D. M. Kilgour, J. Phys. D 2, 1969; G. Y. Onoda and E. G. Liniger, Phys. Rev. Lett. 64, 1990; G. "
    "Lube "
    "et al., J. Fluid Mech. 508, 2004; L. E. Silbert, Soft Matter 6, 2010",
};

const char *fx_report_document(int k) {
  return k >= 0 && k < (int)(sizeof documents / sizeof documents[0]) ? documents[k] : NULL;
}

enum { MOST_FILES = 64, MOST_OPEN = 8 };

struct fx_report {
  const fx_reproduction *row;
  const fx_reproduce_settings *settings;
  frix_context *context;
  FILE *markdown, *csv;
  fx_output *open[MOST_OPEN]; /* files being written */
  char *file[MOST_FILES];
  int file_count;
  bool in_table;
};

double fx_cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const fx_reproduce_settings *fx_report_settings(const fx_report *report) { return report->settings; }

int64_t fx_report_size(const fx_report *report, int64_t quick, int64_t full) {
  return report->settings->size ? report->settings->size : report->settings->quick ? quick : full;
}

bool fx_report_options(fx_report *report, frix_context *context, frix_options **out) {
  bool good = frix_options_create(context, out) == FRIX_OK;
  int cursor = 0;
  for (const char *text; good && (text = fx_arg_next(report->settings->args, "--set", &cursor));) {
    char *key = NULL;
    const char *value = NULL;
    if (!fx_split_setting(text, &key, &value)) return false;
    good = frix_options_set(*out, key, value) == FRIX_OK;
    free(key);
  }
  if (!good) fx_error("%s", frix_error_text(context));
  return good;
}

/* ---- files */

static fx_output *open_in(frix_context *context, const fx_reproduce_settings *settings, const char *name) {
  char *folder = fx_join(settings->out, "/"), *path = fx_join(folder, name);
  fx_output *output = fx_output_open(context, path);
  free(folder);
  free(path);
  return output;
}

/* The output behind a stream leaves the list and appears, or not; a stream that is not there counts as written. */
static bool close_output(fx_report *report, const FILE *file, bool keep) {
  for (int k = 0; file && k < MOST_OPEN; k++) {
    fx_output *output = report->open[k];
    if (!output || output->file != file) continue;
    report->open[k] = NULL;
    return fx_output_close(output, keep);
  }
  return true;
}

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}

static void end_table(fx_report *report) {
  if (report->in_table) fputc('\n', report->markdown);
  report->in_table = false;
}

FILE *fx_report_open(fx_report *report, const char *suffix) {
  char *name = fx_join(report->row->name, suffix);
  int place = 0;
  while (place < MOST_OPEN - 1 && report->open[place]) place++;
  fx_output *output = open_in(report->context, report->settings, name);
  report->open[place] = output;
  if (!output || report->file_count == MOST_FILES) {
    free(name);
    return output ? output->file : NULL;
  }
  report->file[report->file_count++] = name;
  if (report->markdown && ends_with(name, ".svg")) {
    end_table(report);
    fprintf(report->markdown, "![%s](%s)\n\n", name, name);
  }
  return output->file;
}

bool fx_report_close(fx_report *report, FILE *file) { return close_output(report, file, true); }

bool fx_report_chart(fx_report *report, const char *suffix, const fx_chart *chart) {
  FILE *file = fx_report_open(report, suffix);
  if (!file) return false;
  fx_chart_write(file, chart);
  return fx_report_close(report, file);
}

/* ---- text and numbers */

void fx_report_text(fx_report *report, const char *format, ...) {
  va_list list;
  end_table(report);
  va_start(list, format);
  vfprintf(report->markdown, format, list);
  va_end(list);
  fputs("\n\n", report->markdown);
}

static void number_text(double value, char *out, size_t size) {
  if (isnan(value))
    snprintf(out, size, "-");
  else if (isinf(value))
    snprintf(out, size, "fails");
  else if (value == (double)(int64_t)value && fabs(value) < 1e9)
    snprintf(out, size, "%lld", (long long)value);
  else
    snprintf(out, size, "%.3g", value);
}

static void number_csv(FILE *file, double value) {
  if (isinf(value))
    fputs(",fails", file);
  else if (isnan(value))
    fputc(',', file);
  else
    fprintf(file, ",%.9g", value);
}

static double ratio_of(const fx_compared *v) {
  return isfinite(v->document) && isfinite(v->ours) && v->document != 0 ? v->ours / v->document : NAN;
}

static void markdown_row(FILE *file, const char *what, const fx_compared *v) {
  char document[32], ours[32], ratio[32];
  number_text(v->document, document, sizeof document);
  number_text(v->ours, ours, sizeof ours);
  number_text(ratio_of(v), ratio, sizeof ratio);
  fprintf(file, "| %s | %s | %s | %s | %s |\n", what, document, ours, ratio, v->unit);
}

static fx_column columns[] = {
    {"", 52, true}, {"document", 9, false}, {"frix", 9, false}, {"ratio", 9, false}, {"", 4, true}};

static void print_row(const char *what, const fx_compared *v) {
  fx_cell cell[5];
  char text[3][32];
  number_text(v->document, text[0], sizeof text[0]);
  number_text(v->ours, text[1], sizeof text[1]);
  number_text(ratio_of(v), text[2], sizeof text[2]);
  fx_cell_set(&cell[0], FX_PLAIN, "%s", what);
  fx_cell_set(&cell[1], FX_DIM, "%s", text[0]);
  fx_cell_set(&cell[2], FX_BOLD, "%s", text[1]);
  fx_cell_set(&cell[3], FX_PLAIN, "%s", text[2]);
  fx_cell_set(&cell[4], FX_PLAIN, "%s", v->unit);
  fx_progress_clear();
  fx_table_row(columns, cell, 5);
  fflush(stdout);
}

void fx_report_compare(fx_report *report, fx_compared value, const char *format, ...) {
  char what[256];
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  if (!value.unit) value.unit = "";
  if (!report->in_table) fputs("| | document | frix | frix / document | |\n|---|---|---|---|---|\n", report->markdown);
  report->in_table = true;
  markdown_row(report->markdown, what, &value);
  fx_csv_text(report->csv, what);
  fprintf(report->csv, ",%s", value.unit);
  number_csv(report->csv, value.document);
  number_csv(report->csv, value.ours);
  number_csv(report->csv, ratio_of(&value));
  fprintf(report->csv, ",%d\n", value.headline);
  print_row(what, &value);
}

/* ---- one report */

static const char *citation(const char *document) {
  for (int k = 0; fx_report_document(k); k++)
    if (!strncmp(fx_report_document(k), document, 2)) return fx_report_document(k);
  return document;
}

static void begin(fx_report *report) {
  const fx_reproduction *row = report->row;
  fprintf(report->markdown, "# %s\n\n%s, %s: %s.\n\n", row->name, citation(row->document), row->place, row->summary);
  if (report->settings->quick) fputs("This is the quick form: less work than the document's.\n\n", report->markdown);
  fputs("quantity,unit,document,frix,ratio,headline\n", report->csv);
  printf("%s%s%s: %s (%s, %s)\n\n", fx_colour_on(FX_BOLD), row->name, fx_colour_off(), row->summary, row->document,
         row->place);
  fx_table_header(columns, 5);
}

static void finish(fx_report *report, double seconds) {
  end_table(report);
  fprintf(report->markdown, "Made by `frix reproduce %s%s", report->row->name,
          report->settings->quick ? " --quick" : "");
  for (int k = 0; k < report->settings->args->flag_count; k++) {
    const char *flag = report->settings->args->flag[k]->name;
    if (strcmp(flag, "--size") && strcmp(flag, "--solver") && strcmp(flag, "--tol") && strcmp(flag, "--set")) continue;
    fprintf(report->markdown, " %s %s", flag, report->settings->args->value[k]);
  }
  fprintf(report->markdown, "` in %.3g s of processor time. Files:", seconds);
  for (int k = 0; k < report->file_count; k++)
    fprintf(report->markdown, "%s [%s](%s)", k ? "," : "", report->file[k], report->file[k]);
  fputs(".\n", report->markdown);
  printf("\n%.3g s of processor time; wrote %s/%s.md and %d other files\n", seconds, report->settings->out,
         report->row->name, report->file_count - 1);
}

bool fx_report_run(const fx_reproduction *row, const fx_reproduce_settings *settings) {
  fx_report report = {.row = row, .settings = settings, .context = fx_context(false)};
  report.csv = fx_report_open(&report, ".csv");
  report.markdown = report.csv ? fx_report_open(&report, ".md") : NULL;
  bool good = report.markdown != NULL;
  double start = fx_cpu_seconds();
  if (good) {
    begin(&report);
    good = row->run(&report);
    fx_progress_clear();
    if (good) finish(&report, fx_cpu_seconds() - start);
  }
  good = close_output(&report, report.csv, good) && good;
  good = close_output(&report, report.markdown, good) && good;
  for (int k = 0; k < report.file_count; k++) free(report.file[k]);
  frix_context_destroy(report.context);
  return good;
}

/* ---- the index: the headlines of every NAME.csv in the directory */

static double number_from(const char *text) {
  if (!*text) return NAN;
  return !strcmp(text, "fails") ? INFINITY : strtod(text, NULL);
}

/* A line as fx_report_compare wrote it; false where it is none, or no headline. The text is cut up. */
static bool read_headline(char *line, char **what, fx_compared *value) {
  char *end = line[0] == '"' ? strstr(line, "\",") : NULL, *field[5];
  if (!end) return false;
  *end = 0, *what = line + 1, end += 2;
  for (int k = 0; k < 5; k++) {
    field[k] = end;
    end += strcspn(end, ",\n");
    if (*end) *end++ = 0;
  }
  *value = (fx_compared){number_from(field[1]), number_from(field[2]), field[0], !strcmp(field[4], "1")};
  return value->headline;
}

static void index_row(FILE *file, const fx_reproduction *row, FILE *csv) {
  char *line = NULL, *what;
  size_t size = 0;
  fx_compared value;
  for (bool first = true; getline(&line, &size, csv) > 0;) {
    if (!read_headline(line, &what, &value)) continue;
    if (first)
      fprintf(file, "| [%s](%s.md), %s %s ", row->name, row->name, row->document, row->place);
    else
      fputs("| ", file);
    markdown_row(file, what, &value);
    first = false;
  }
  free(line);
}

static FILE *open_table(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "r") : NULL;
}

static void write_index(FILE *file, const fx_reproduce_settings *settings) {
  fputs("# Reproductions\n\nMade by `frix reproduce`. The documents:\n\n", file);
  for (int k = 0; fx_report_document(k); k++) fprintf(file, "- %s\n", fx_report_document(k));
  fputs("\n| name | | document | frix | frix / document | |\n|---|---|---|---|---|---|\n", file);
  for (int k = 0; fx_reproduction_table(k); k++) {
    char *folder = fx_join(settings->out, "/"), *stem = fx_join(folder, fx_reproduction_table(k)->name);
    char *path = fx_join(stem, ".csv");
    FILE *csv = open_table(path);
    if (csv) index_row(file, fx_reproduction_table(k), csv);
    if (csv) fclose(csv);
    free(folder), free(stem), free(path);
  }
}

bool fx_report_index(const fx_reproduce_settings *settings) {
  frix_context *context = fx_context(false);
  fx_output *output = open_in(context, settings, "index.md");
  if (output) write_index(output->file, settings);
  bool good = output && fx_output_close(output, true);
  frix_context_destroy(context);
  return good;
}
