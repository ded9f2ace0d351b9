/* frix-mpi: beds of grains on several ranks (examples/bed_run.h), with MPI as the link.
 *
 *   mpirun -n 4 frix-mpi run pebbles --set n=100000 --time 1 --out reactor.frx --save 50
 *
 * Neither states nor certificates depend on the number of ranks, bit by bit. When a rank is lost, mpirun ends the
 * others; each tells from which state the run can go on. */
#include <inttypes.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "examples/bed_run.h"

/* ---- the link ---- */

typedef struct mpi_link {
  frix_bed_link link;
  MPI_Request *request;
  bool crowded;                  /* more threads than processors: who waits sleeps */
  int64_t messages, bytes, sums; /* of this rank, for the model of cost */
} mpi_link;

enum { TAG = 1, PIECE = 1 << 30 }; /* MPI counts bytes in an int */

/* MPI waits by asking again and again, which takes the processor from the rank that is waited for where ranks share
 * one, with each other or with other programs. There it is asked for a while, then with pauses; on processors of their
 * own ranks come to that after some milliseconds, when a pause is short beside what has been waited. */
static bool wait_all(const mpi_link *m, int count, MPI_Request *request) {
  enum { EAGER = 200, LONG = 20000 };
  const struct timespec pause = {.tv_nsec = 20000};
  int done = 0, eager = m->crowded ? EAGER : LONG;
  for (int k = 0; !done; k++) {
    if (MPI_Testall(count, request, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS) return false;
    if (!done && k >= eager) nanosleep(&pause, NULL);
  }
  return true;
}

static bool exchange(void *user, const void *const *out, const size_t *out_size, void *const *in,
                     const size_t *in_size) {
  mpi_link *m = user;
  int count = 0;
  bool good = true;
  for (int32_t p = 0; p < m->link.rank_count && good; p++)
    if (in_size[p] > 0)
      good = in_size[p] <= PIECE &&
             MPI_Irecv(in[p], (int)in_size[p], MPI_BYTE, p, TAG, MPI_COMM_WORLD, &m->request[count++]) == MPI_SUCCESS;
  for (int32_t p = 0; p < m->link.rank_count && good; p++)
    if (out_size[p] > 0) {
      good = out_size[p] <= PIECE &&
             MPI_Isend(out[p], (int)out_size[p], MPI_BYTE, p, TAG, MPI_COMM_WORLD, &m->request[count++]) == MPI_SUCCESS;
      m->messages++, m->bytes += (int64_t)out_size[p];
    }
  return wait_all(m, count, m->request) && good;
}

/* Whatever the order of the sum: only one rank brings a number other than zero, or all bring whole ones. */
static bool sum(void *user, double *x, size_t count) {
  mpi_link *m = user;
  m->sums++;
  for (size_t at = 0; at < count; at += PIECE / 8) {
    int piece = (int)(count - at < PIECE / 8 ? count - at : PIECE / 8);
    MPI_Request request;
    if (MPI_Iallreduce(MPI_IN_PLACE, x + at, piece, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
        !wait_all(m, 1, &request))
      return false;
  }
  return true;
}

/* ---- a lost rank ---- */

static char farewell[1400];

/* mpirun sends SIGTERM to the others when one is gone. */
static void say_farewell(int signal) {
  ssize_t written = write(STDERR_FILENO, farewell, strlen(farewell));
  _exit(written < 0 ? 1 : 128 + signal);
}

static void prepare_farewell(const ex_bed_job *job, int32_t rank) {
  if (job->save && job->out)
    snprintf(farewell, sizeof farewell,
             "frix-mpi: rank %d ends because another rank was lost; go on with --resume %s.state\n", (int)rank,
             job->out);
  else
    snprintf(farewell, sizeof farewell,
             "frix-mpi: rank %d ends because another rank was lost; no state was saved (--save K)\n", (int)rank);
  signal(SIGTERM, say_farewell);
}

/* ---- words ---- */

static int usage(const char *trouble, const char *word, int32_t rank) {
  if (rank == 0 && trouble) fprintf(stderr, "frix-mpi: %s: %s\n", word, trouble);
  if (rank == 0)
    fprintf(stderr,
            "usage: mpirun -n P frix-mpi run NAME [--set k=v]... [--time T] [--step H] [--tol E] [--threads N] "
            "[--sweeps N]\n"
            "       [--seed N] [--out RUN.frx] [--every K] [--no-contacts] [--save K] [--resume STATE] [--costs]\n"
            "'frix bed list' tells the beds and their parameters; 'bed' is another word for 'run'\n");
  return 2;
}

typedef struct words {
  ex_bed_job job;
  bool costs;
} words;

static bool read_number(const char *text, double least, double most, double *out) {
  char *end;
  double x = strtod(text, &end);
  if (end == text || *end || !(x >= least && x <= most)) return false;
  *out = x;
  return true;
}

/* NULL, or what is wrong with argv[*bad]. */
static const char *read_words(int argc, char **argv, words *w, int *bad) {
  ex_bed_job *job = &w->job;
  double threads = job->threads, sweeps = 0, every = (double)job->every, save = 0, seed = 1;
  struct {
    const char *name;
    double least, most, *value;
  } number[] = {{"--time", 0, 1e9, &job->time},  {"--step", 1e-9, 10, &job->h}, {"--tol", 1e-14, 1, &job->tolerance},
                {"--threads", 1, 256, &threads}, {"--sweeps", 1, 1e9, &sweeps}, {"--every", 1, 1e15, &every},
                {"--save", 1, 1e15, &save},      {"--seed", 0, 1e15, &seed}};
  for (int k = 3; k < argc; k++) {
    const char *value = k + 1 < argc ? argv[k + 1] : NULL;
    *bad = k;
    if (!strcmp(argv[k], "--no-contacts") || !strcmp(argv[k], "--costs")) {
      if (argv[k][2] == 'n') job->contacts = false;
      if (argv[k][2] == 'c') w->costs = true;
      continue;
    }
    if (!value) return "unknown, or its value is missing";
    size_t at = 0, rows = sizeof number / sizeof *number;
    while (at < rows && strcmp(argv[k], number[at].name) != 0) at++;
    if (at < rows) {
      if (!read_number(value, number[at].least, number[at].most, number[at].value))
        return "its value is no number in range";
    } else if (!strcmp(argv[k], "--set")) {
      const char *trouble = ex_bed_set(job, value);
      if (trouble) return trouble;
    } else if (!strcmp(argv[k], "--out")) {
      job->out = value;
    } else if (!strcmp(argv[k], "--resume")) {
      job->resume = value;
    } else {
      return "unknown";
    }
    k++;
  }
  job->threads = (int32_t)threads, job->max_sweeps = (int32_t)sweeps, job->every = (int64_t)every,
  job->save = (int64_t)save;
  job->seed = (uint64_t)seed;
  *bad = argc - 1;
  if (job->save && !job->out) return "--save writes beside the run: give --out FILE";
  return NULL;
}

/* ---- the run ---- */

static void print_costs(const mpi_link *m, const ex_bed_outcome *o) {
  double mine[4] = {(double)m->messages, (double)m->bytes, (double)m->sums, (double)o->bytes}, most[4];
  MPI_Reduce(mine, most, 4, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  double steps = o->steps ? (double)o->steps : 1.0;
  if (m->link.rank == 0)
    printf("a step, of the rank with most: %.0f messages, %.0f bytes sent, %.0f sums; %.0f bytes in the bed\n",
           most[0] / steps, most[1] / steps, most[2] / steps, most[3]);
}

static bool is_crowded(int32_t threads) {
  MPI_Comm machine;
  int ranks = 1;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine) == MPI_SUCCESS) {
    MPI_Comm_size(machine, &ranks);
    MPI_Comm_free(&machine);
  }
  return (long)ranks * threads > sysconf(_SC_NPROCESSORS_ONLN);
}

static int run(const words *w, mpi_link *m) {
  frix_context *context = NULL;
  ex_bed_outcome o;
  if (frix_context_create(NULL, &context) != FRIX_OK) return 2;
  m->crowded = is_crowded(w->job.threads);
  prepare_farewell(&w->job, m->link.rank);
  frix_status status = ex_bed_run(context, &w->job, &o);
  if (status) {
    fprintf(stderr, "frix-mpi: rank %d: %s\n", (int)m->link.rank, frix_error_text(context));
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (m->link.rank == 0)
    printf("%d ranks, %d threads: %" PRId64 " steps, %" PRId64
           " certified to %.0e, %s, largest residual %.1e, %.1f sweeps and %.3g s a step, "
           "%" PRId64 " grains, hash %016" PRIx64 "\n",
           (int)m->link.rank_count, (int)w->job.threads, o.steps, o.certified, w->job.tolerance, ex_bed_law(&w->job),
           o.worst, o.steps ? (double)o.sweeps / (double)o.steps : 0.0, o.steps ? o.seconds / (double)o.steps : 0.0,
           o.grains, o.hash);
  if (w->costs) print_costs(m, &o);
  frix_context_destroy(context);
  return o.certified == o.steps ? 0 : 1;
}

int main(int argc, char **argv) {
  int rank = 0, ranks = 1, provided = 0, bad = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  mpi_link m = {.link = {.rank = rank, .rank_count = ranks, .exchange = exchange, .sum = sum}};
  m.link.user = &m;
  m.request = calloc(2 * (size_t)ranks, sizeof *m.request);
  bool runs = argc > 2 && (!strcmp(argv[1], "run") || !strcmp(argv[1], "bed"));
  const ex_bed_scene *scene = runs ? ex_bed_find(argv[2]) : NULL;
  int code = 2;
  if (!scene || !m.request) {
    code = usage(runs       ? "no such bed"
                 : argc > 1 ? "unknown, or the name of a bed is missing"
                            : NULL,
                 argc > 1 ? argv[runs ? 2 : 1] : "", rank);
  } else {
    words w = {.job = ex_bed_job_of(scene)};
    const char *trouble = read_words(argc, argv, &w, &bad);
    w.job.link = &m.link;
    code = trouble ? usage(trouble, argv[bad], rank) : run(&w, &m);
  }
  free(m.request);
  MPI_Finalize();
  return code;
}
