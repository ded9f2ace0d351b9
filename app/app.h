/* The frix command: what its verbs share. One file per verb, one row per verb in main.c; help, completion and the
 * suggestions for misspelt words iterate the same rows. The command uses the public interface only. */
#ifndef FX_APP_H
#define FX_APP_H

#include <frix/frix.h>
#include <stdio.h>

/* Exit codes, part of the contract with other tools. */
enum {
  FX_EXIT_SOLVED = 0,
  FX_EXIT_UNSOLVED = 1,
  FX_EXIT_USAGE = 2,
  FX_EXIT_MISSING = 3, /* all certified, but a scene file asks for things that frix does not do (missing.h) */
};

/* ---- verbs and their arguments (main.c, args.c) */

typedef struct fx_flag {
  const char *name;    /* "--tol" */
  const char *value;   /* what follows, for help: "X"; NULL for a switch */
  const char *choices; /* "coulomb|associated", or "@solvers" for the names of a table; NULL: anything */
  const char *summary;
} fx_flag;

typedef struct fx_args fx_args;

typedef struct fx_verb {
  const char *name;
  const char *arguments; /* words of the usage line, "FILE..." */
  const char *summary;
  const char *detail;  /* paragraphs of the help text */
  const char *example; /* lines "command   # what for" */
  const fx_flag *flag; /* ends with a row without name */
  const char *words;   /* choices of the first word, as in fx_flag; NULL: files */
  int min_words, max_words;
  int (*run)(const fx_args *args); /* returns the exit code */
} fx_verb;

struct fx_args {
  const fx_verb *verb;
  const char **word; /* what is not a flag */
  int word_count;
  const fx_flag **flag; /* flags in the order given, with values */
  const char **value;
  int flag_count;
};

/* Row k of the verb table, NULL past its end. */
const fx_verb *fx_verb_table(int k);
/* Checks argv against the verb's rows; false after a message on stderr. */
bool fx_args_parse(const fx_verb *verb, int argc, char **argv, fx_args *out);
void fx_args_free(fx_args *args);
/* The last value given for a flag, NULL when absent; a switch gives "". */
const char *fx_arg(const fx_args *args, const char *name);
/* Iterates the values of a flag that may be given many times: start with *cursor = 0. */
const char *fx_arg_next(const fx_args *args, const char *name, int *cursor);
/* Numbers within bounds; *out keeps its value when the flag is absent; false after a message on stderr. */
bool fx_arg_real(const fx_args *args, const char *name, double minimum, double maximum, double *out);
bool fx_arg_integer(const fx_args *args, const char *name, int64_t minimum, int64_t maximum, int64_t *out);
/* Index of the flag's value among its choices, `absent` when not given. */
int fx_arg_choice(const fx_args *args, const char *name, int absent);

/* Name k of "a|b|c" or of "@solvers", "@cones", "@formats", "@exports", "@examples", "@scenes", "@integrators",
 * "@reproductions", "@forms", "@verbs", "@methods", "@problems"; false past the end. */
bool fx_choice(const char *choices, int k, char *out, size_t size);
/* The nearest choice, for "did you mean"; "" when nothing is near. */
void fx_nearest(const char *choices, const char *word, char *out, size_t size);
/* Index of word among the choices, -1 after a message "unknown <what> ... did you mean" on stderr. */
int fx_choose(const char *choices, const char *what, const char *word);
/* The row of a solver by name, NULL after a message. */
const frix_solver_info *fx_find_solver(const char *name);
/* Frames "A:B:K" of a run, every part optional, NULL: as they are (verb_export.c); false after a message. */
bool fx_parse_frames(const char *text, frix_export_config *config);
/* Splits "key=value" at its first '='; false after a message. key must be freed. */
bool fx_split_setting(const char *text, char **key, const char **value);

/* ---- messages, tables, progress (terminal.c) */

/* One line "frix: ..." on stderr; control characters are shown as '?'. */
void fx_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void fx_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void fx_remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

typedef enum fx_colour { FX_PLAIN, FX_BOLD, FX_DIM, FX_GREEN, FX_YELLOW, FX_RED } fx_colour;

/* Escape sequences on stdout, "" unless it is a terminal that wants colour. */
const char *fx_colour_on(fx_colour colour);
const char *fx_colour_off(void);

typedef struct fx_column {
  const char *title;
  int width; /* grown to the title's */
  bool left;
} fx_column;

typedef struct fx_cell {
  char text[256];
  fx_colour colour;
} fx_cell;

void fx_table_header(fx_column *column, int count);
void fx_table_row(const fx_column *column, const fx_cell *cell, int count);
void fx_cell_set(fx_cell *cell, fx_colour colour, const char *format, ...) __attribute__((format(printf, 3, 4)));
void fx_format_seconds(double seconds, char *out, size_t size);
/* Number of character cells of UTF-8 text. */
int fx_text_width(const char *text);

/* A line on stderr that rewrites itself while work goes on; nothing happens unless stderr is a terminal. */
void fx_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void fx_progress_clear(void);
bool fx_progress_wanted(void);

/* Flushes stdout; false, with errno's value, when its reader is gone or the disk is full. */
bool fx_output_alive(int *reason);

/* ---- JSON (json_text.c) */

typedef struct fx_json {
  FILE *file;
  bool comma;
} fx_json;

void fx_put_open(fx_json *json, const char *key, char bracket);
void fx_put_close(fx_json *json, char bracket);
void fx_put_text(fx_json *json, const char *key, const char *text);
void fx_put_real(fx_json *json, const char *key, double value); /* null unless finite */
void fx_put_integer(fx_json *json, const char *key, int64_t value);
void fx_put_boolean(fx_json *json, const char *key, bool value);
void fx_put_end_line(fx_json *json);

/* ---- problems and results (report.c) */

/* A context that logs warnings (verbose: everything) to stderr and keeps outputs from replacing what it read; exits
 * with FX_EXIT_USAGE when there is no memory. */
frix_context *fx_context(bool verbose);
/* Reads a problem; NULL after a message. text_kind is NULL or "local", "global", "lcp", "mlcp". */
frix_problem *fx_read_problem(frix_context *context, const char *path, const char *text_kind);
/* Last part of a path. */
const char *fx_base_name(const char *path);
/* What makes an answer approximate ("solver pgs, law associated, pyramid:8"), "" when nothing does. */
void fx_approximation(const frix_problem *problem, const frix_solver_info *solver, frix_law law, char *out,
                      size_t size);
/* Whether the solver takes the problem; false after a message that names the file. */
bool fx_supported(const char *path, const frix_problem *problem, const frix_solver_info *solver, frix_law law,
                  bool quiet);
void fx_put_certificate(fx_json *json, const char *key, const frix_certificate *c);
void fx_print_certificate(const frix_certificate *c);
/* Bytes as base64 text. */
void fx_put_base64(FILE *file, const unsigned char *data, size_t size);
/* A field of a CSV file, in quotes. */
void fx_csv_text(FILE *file, const char *text);
/* Time since some fixed moment. */
double fx_now(void);
/* malloc and friends that end the program when there is no memory. */
void *fx_grow(void *pointer, size_t count, size_t size);
char *fx_join(const char *a, const char *b);
/* Ctrl-C asks the running solve to end; again ends the program. */
void fx_catch_interrupt(void);
bool fx_interrupted(void *unused);

/* ---- outputs (output_stream.c) */

/* A stream into a file that appears at its path when it is closed. */
typedef struct fx_output {
  FILE *file;
  frix_context *context;
  frix_output *output;
} fx_output;

/* NULL after a message. */
fx_output *fx_output_open(frix_context *context, const char *path);
/* Without keep nothing is left; false after a message when not all could be written. NULL is allowed. */
bool fx_output_close(fx_output *output, bool keep);
/* Whether a file can be written there: refused are directories, pipes, and what this context has read so far. False
 * after a message. Leaves nothing behind. NULL is allowed. */
bool fx_check_output(frix_context *context, const char *path);
/* The same for several, which must not be one. */
bool fx_check_outputs(frix_context *context, const char *const *path, int count);
/* Whether the file's format can hold the problem; false after a message. Leaves nothing behind. */
bool fx_check_format(frix_context *context, const frix_problem *problem, const char *path);
/* Makes a new, empty file beside path, with a name that did not exist; free it. NULL after a message. */
char *fx_new_file(const char *path, const char *ending);
/* The folder a path lies in; free it. */
char *fx_folder_of(const char *path);

#endif
