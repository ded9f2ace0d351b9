/* A server of one page and its frames, within the thread that steps: sockets are served between steps.
 *
 *   GET /         the replay page, which asks for the other two (web/src/live.js)
 *   GET /model    one message: the model
 *   GET /frames   messages without end, the newest frame each; a reader that is slow misses some
 *
 * A message is two u32, the lengths of a JSON text (with blanks up to a multiple of 8) and of bytes, then both. The
 * text says where in the bytes what lies. An empty text ends the run. Only requests whose Host is this machine are
 * answered: pages of other sites cannot read the run by a name of theirs that points here. */
#include "live.h"

#include "page_live.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef FRIX_HAVE_REPLAY
extern const char fx_replay_page[];
#else
static const char fx_replay_page[] = "";
#endif

enum { CLIENTS = 16, REQUEST = 4096 };

typedef struct text {
  char *at;
  size_t size;
} text;

typedef struct client {
  int socket; /* -1: free */
  char request[REQUEST];
  size_t heard;
  text answer; /* what is being sent */
  size_t sent;
  bool streams, ends; /* gets frames; is closed once the answer is sent */
  int64_t shown;      /* serial number of the last frame it got */
} client;

struct fx_live {
  int socket;
  char address[64];
  client client[CLIENTS];
  fx_page_live *frames;
  text model, frame; /* messages */
  int64_t serial;    /* of the frame */
  bool watched;      /* some page has asked for frames */
  double start;      /* real time less that of the run */
  double shown;      /* when a frame was last made */
};

/* ---- messages */

typedef struct message {
  text out;
  FILE *file;
  fx_json json;
} message;

static void message_begin(message *m) {
  *m = (message){0};
  m->file = open_memstream(&m->out.at, &m->out.size);
  if (!m->file) {
    fx_error("out of memory");
    exit(FX_EXIT_USAGE);
  }
  fwrite("\0\0\0\0\0\0\0", 1, 8, m->file);
  m->json = (fx_json){m->file, false};
  fx_put_open(&m->json, NULL, '{');
}

/* Ends the text; the bytes follow. */
static text message_end(message *m, const void *bytes, size_t size) {
  fx_put_close(&m->json, '}');
  fflush(m->file);
  while (m->out.size % 8) {
    fputc(' ', m->file);
    fflush(m->file);
  }
  uint32_t length[2] = {(uint32_t)(m->out.size - 8), (uint32_t)size};
  fwrite(bytes, 1, size, m->file);
  fclose(m->file);
  memcpy(m->out.at, length, sizeof length);
  return m->out;
}

static text model_message(const fx_run *run) {
  fx_page_bytes bytes;
  message m;
  fx_page_begin(&bytes, NULL);
  fx_page_put_model(&bytes, run->subject.model);
  message_begin(&m);
  fx_put_text(&m.json, "name", fx_base_name(run->subject.word));
  fx_put_real(&m.json, "end", (double)run->step_count * run->h);
  fx_put_live_model(&m.json, &bytes, run->subject.model, &run->config, run->h);
  text out = message_end(&m, bytes.piece, bytes.filled);
  fx_page_free(&bytes);
  return out;
}

static text frame_message(fx_live *live, const fx_run *run, const frix_step_report *report) {
  fx_live_frame f;
  fx_page_bytes bytes;
  message m;
  fx_page_live_look(live->frames, run->sim, report, run->h, &f);
  fx_page_begin(&bytes, NULL);
  fx_page_put(&bytes, f.bytes, f.size);
  fx_page_align(&bytes);
  message_begin(&m);
  fx_put_integer(&m.json, "poses", f.last.poses);
  fx_put_integer(&m.json, "contacts", f.last.contacts);
  fx_put_integer(&m.json, "body_count", f.last.body_count);
  fx_put_integer(&m.json, "contact_count", f.last.contact_count);
  fx_put_integer(&m.json, "slots", bytes.count);
  fx_page_put(&bytes, f.last.slot, f.last.body_count * sizeof *f.last.slot);
  fx_put_integer(&m.json, "slot_count", f.last.slot_count);
  fx_put_integer(&m.json, "slot_pattern", bytes.count);
  fx_page_put(&bytes, f.last.slot_pattern, f.last.slot_count * sizeof *f.last.slot_pattern);
  fx_put_live_state(&m.json, &f.frame, &run->account.tally);
  text out = message_end(&m, bytes.piece, bytes.filled);
  fx_page_free(&bytes);
  return out;
}

/* ---- answers */

static void hang_up(client *c) {
  close(c->socket);
  free(c->answer.at);
  *c = (client){.socket = -1};
}

static void answer(client *c, const char *status, const char *type, const void *body, size_t size, bool ends) {
  char *at = NULL;
  size_t used = 0;
  FILE *file = open_memstream(&at, &used);
  if (!file) return hang_up(c);
  fprintf(file,
          "HTTP/1.1 %s\r\nContent-Type: %s\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
          "Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n",
          status, type);
  if (ends) fprintf(file, "Content-Length: %zu\r\n", size);
  fputs("\r\n", file);
  if (size) fwrite(body, 1, size, file);
  fclose(file);
  free(c->answer.at);
  c->answer = (text){at, used};
  c->sent = 0;
  c->ends = ends;
}

/* The replay page, allowed to ask this server, with a mark where a run would be. */
static void answer_page(client *c) {
  static const char policy[] = "default-src 'none';", place[] = "@PAYLOAD@";
  const char *rule = strstr(fx_replay_page, policy), *run = strstr(fx_replay_page, place);
  char *at = NULL;
  size_t used = 0;
  FILE *file = rule && run ? open_memstream(&at, &used) : NULL;
  if (!file) return answer(c, "500 Internal Server Error", "text/plain", NULL, 0, true);
  fwrite(fx_replay_page, 1, (size_t)(rule - fx_replay_page), file);
  fprintf(file, "%s connect-src 'self';", policy);
  fwrite(rule + strlen(policy), 1, (size_t)(run - rule) - strlen(policy), file);
  fputs("<script type=\"application/json\" id=\"frix-live\">{}</script>", file);
  fputs(run + strlen(place), file);
  fclose(file);
  answer(c, "200 OK", "text/html; charset=utf-8", at, used, true);
  free(at);
}

/* Whether the request names this machine as its host. */
static bool host_is_ours(const fx_live *live, const char *request) {
  const char *port = strrchr(live->address, ':'), *line = request;
  size_t length = strcspn(port, "/");
  while ((line = strstr(line, "\r\n"))) {
    line += 2;
    if (strncasecmp(line, "Host:", 5)) continue;
    line += 5 + strspn(line + 5, " ");
    static const char *const name[] = {"127.0.0.1", "localhost"};
    for (int k = 0; k < 2; k++)
      if (!strncasecmp(line, name[k], strlen(name[k])) && !strncmp(line + strlen(name[k]), port, length) &&
          line[strlen(name[k]) + length] == '\r')
        return true;
    return false;
  }
  return false;
}

static bool asks_for(const char *request, const char *path) {
  size_t length = strlen(path);
  return !strncmp(request + 4, path, length) && (request[4 + length] == ' ' || request[4 + length] == '?');
}

static void answer_request(fx_live *live, client *c) {
  if (strncmp(c->request, "GET ", 4)) return answer(c, "405 Method Not Allowed", "text/plain", NULL, 0, true);
  if (!host_is_ours(live, c->request)) return answer(c, "403 Forbidden", "text/plain", NULL, 0, true);
  if (asks_for(c->request, "/")) return answer_page(c);
  if (asks_for(c->request, "/model"))
    return answer(c, "200 OK", "application/octet-stream", live->model.at, live->model.size, true);
  if (!asks_for(c->request, "/frames")) return answer(c, "404 Not Found", "text/plain", NULL, 0, true);
  answer(c, "200 OK", "application/octet-stream", NULL, 0, false);
  c->streams = live->watched = true;
}

/* ---- connections */

static void accept_one(fx_live *live) {
  int socket = accept(live->socket, NULL, NULL);
  if (socket < 0) return;
  fcntl(socket, F_SETFL, O_NONBLOCK);
  for (int k = 0; k < CLIENTS; k++)
    if (live->client[k].socket < 0) {
      live->client[k] = (client){.socket = socket};
      return;
    }
  close(socket);
}

static void hear(fx_live *live, client *c) {
  ssize_t count = recv(c->socket, c->request + c->heard, REQUEST - 1 - c->heard, 0);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return hang_up(c);
  if (count < 0 || c->answer.at) return; /* one question each */
  c->heard += (size_t)count;
  c->request[c->heard] = 0;
  if (strstr(c->request, "\r\n\r\n"))
    answer_request(live, c);
  else if (c->heard == REQUEST - 1)
    answer(c, "431 Request Header Fields Too Large", "text/plain", NULL, 0, true);
}

/* The newest frame goes to every viewer that has got all of the one before. */
static void speak(fx_live *live, client *c) {
  if (c->sent == c->answer.size && c->streams && c->shown < live->serial && live->frame.size) {
    free(c->answer.at);
    c->answer = (text){fx_grow(NULL, live->frame.size, 1), live->frame.size};
    memcpy(c->answer.at, live->frame.at, live->frame.size);
    c->sent = 0;
    c->shown = live->serial;
  }
  if (c->sent == c->answer.size) return;
  ssize_t count = send(c->socket, c->answer.at + c->sent, c->answer.size - c->sent, MSG_NOSIGNAL);
  if (count < 0 && errno != EAGAIN && errno != EINTR) return hang_up(c);
  if (count > 0) c->sent += (size_t)count;
  if (c->sent == c->answer.size && c->ends) hang_up(c);
}

/* Serves all viewers; waits so many milliseconds for a new one. */
static void serve(fx_live *live, int wait) {
  struct pollfd all[CLIENTS + 1] = {{.fd = live->socket, .events = POLLIN}};
  for (int k = 0; k < CLIENTS; k++) {
    client *c = &live->client[k];
    if (c->socket >= 0) speak(live, c);
    bool more = c->socket >= 0 && c->sent < c->answer.size;
    all[k + 1] = (struct pollfd){.fd = c->socket, .events = (short)(more ? POLLIN | POLLOUT : POLLIN)};
  }
  if (poll(all, CLIENTS + 1, wait) <= 0) return;
  for (int k = 0; k < CLIENTS; k++) {
    client *c = &live->client[k];
    if (all[k + 1].revents & (POLLIN | POLLHUP | POLLERR)) hear(live, c);
    if (c->socket >= 0) speak(live, c);
  }
  if (all[0].revents & POLLIN) accept_one(live);
}

/* ---- for frix run */

fx_live *fx_live_open(const fx_run *run, int64_t port) {
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  socklen_t size = sizeof place;
  int yes = 1, end = socket(AF_INET, SOCK_STREAM, 0);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (end >= 0) setsockopt(end, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (end < 0 || bind(end, (struct sockaddr *)&place, size) || listen(end, CLIENTS) ||
      getsockname(end, (struct sockaddr *)&place, &size)) {
    fx_error("--live: cannot listen on port %d: %s", (int)port, strerror(errno));
    if (end >= 0) close(end);
    return NULL;
  }
  fcntl(end, F_SETFL, O_NONBLOCK);
  fx_live *live = fx_grow(NULL, 1, sizeof *live);
  *live = (fx_live){.socket = end, .model = model_message(run)};
  live->frames = fx_page_live_create(run->subject.model, (fx_page_layout){false, false});
  for (int k = 0; k < CLIENTS; k++) live->client[k] = (client){.socket = -1};
  snprintf(live->address, sizeof live->address, "http://127.0.0.1:%d/", ntohs(place.sin_port));
  live->frame = frame_message(live, run, &(frix_step_report){.size = sizeof(frix_step_report), .certified = true});
  live->serial = 1;
  return live;
}

const char *fx_live_address(const fx_live *live) { return live->address; }

bool fx_live_wait(fx_live *live) {
  while (!live->watched && !fx_interrupted(NULL)) serve(live, 100);
  return live->watched;
}

static void publish(fx_live *live, text frame) {
  free(live->frame.at);
  live->frame = frame;
  live->serial++;
}

void fx_live_show(fx_live *live, const fx_run *run, const frix_step_report *report) {
  const double picture = 1.0 / 60.0;
  double time = frix_sim_time(run->sim), now = fx_now();
  if (live->start == 0.0) live->start = now - time + run->h;
  double ahead = live->start + time - now;
  if (ahead < 0.0) live->start = now - time; /* slower than real time: nothing is made up for */
  bool last = frix_sim_step_count(run->sim) >= run->step_count;
  if (last || now - live->shown >= picture || ahead > picture) {
    live->shown = now;
    publish(live, frame_message(live, run, report));
  }
  serve(live, 0);
  while ((ahead = live->start + time - fx_now()) > 0.0 && !fx_interrupted(NULL))
    serve(live, (int)ceil(1000.0 * fmin(ahead, 0.1)));
}

static bool is_busy(const fx_live *live) {
  for (int k = 0; k < CLIENTS; k++) {
    const client *c = &live->client[k];
    if (c->socket >= 0 && (c->sent < c->answer.size || (c->streams && c->shown < live->serial))) return true;
  }
  return false;
}

void fx_live_close(fx_live *live) {
  if (!live) return;
  double patience = fx_now() + 2.0; /* for slow readers */
  while (is_busy(live) && fx_now() < patience) serve(live, 20);
  publish(live, (text){calloc(8, 1), 8});
  while (is_busy(live) && fx_now() < patience) serve(live, 20);
  for (int k = 0; k < CLIENTS; k++)
    if (live->client[k].socket >= 0) hang_up(&live->client[k]);
  close(live->socket);
  fx_page_live_free(live->frames);
  free(live->model.at);
  free(live->frame.at);
  free(live);
}
