/* frix run --live: the server of a run that goes on. How it looks in a browser: tools/check_web. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"

enum { MOST = 4 << 20 };

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); }

/* The port a run told, once it does. */
static int port_of(fx_test *t, const char *file) {
  int port = 0;
  for (int k = 0; k < 500 && !port; k++, nap()) {
    char *said = shell_read(fx_test_scratch(t, file));
    const char *at = said ? strstr(said, "http://127.0.0.1:") : NULL;
    if (at && strchr(at + 17, '/')) port = atoi(at + 17);
    free(said);
  }
  return port;
}

/* All that comes back; free it. */
static char *ask(int port, const char *request, size_t *size) {
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int end = socket(AF_INET, SOCK_STREAM, 0);
  char *out = calloc(MOST + 1, 1);
  *size = 0;
  ssize_t count = connect(end, (struct sockaddr *)&place, sizeof place) ? -1 : send(end, request, strlen(request), 0);
  while (count > 0 && *size < MOST && (count = recv(end, out + *size, MOST - *size, 0)) > 0) *size += (size_t)count;
  close(end);
  return out;
}

static char *get(int port, const char *path, size_t *size) {
  char request[256];
  snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost:%d\r\n\r\n", path, port);
  return ask(port, request, size);
}

/* Counts the messages of a stream up to the empty one; text: of the last. */
static int messages(const char *answer, size_t size, const char **text) {
  const char *at = strstr(answer, "\r\n\r\n"), *end = answer + size;
  int count = 0;
  for (at = at ? at + 4 : end; end - at >= 8;) {
    uint32_t length[2];
    memcpy(length, at, sizeof length);
    if (!length[0]) return end - at == 8 ? count : -1;
    *text = at + 8;
    at += 8 + length[0] + length[1];
    count++;
  }
  return -1;
}

static bool answers(int port, const char *request, const char *status) {
  size_t size;
  char *answer = ask(port, request, &size);
  bool good = !strncmp(answer, "HTTP/1.1 ", 9) && !strncmp(answer + 9, status, 3);
  free(answer);
  return good;
}

static void serves(fx_test *t) {
  shell_result r = shell(t, "$frix run stack --time 0.1 --html page.html --quiet");
  bool available = r.code == 0;
  shell_free(&r);
  if (!available) return fx_test_skip(t, "no replay pages in this build");
  r = shell(t,
            "($frix run stack --set n=3 --time 0.4 --live --no-open --json >out.txt 2>err.txt; echo $? >code.txt) "
            "</dev/null >/dev/null 2>&1 &");
  shell_free(&r);
  int port = port_of(t, "err.txt");
  REQUIRE(t, port > 0);
  size_t size;
  char *page = get(port, "/", &size);
  CHECK(t,
        !strncmp(page, "HTTP/1.1 200", 12) && strstr(page, "connect-src 'self'") && strstr(page, "id=\"frix-live\""));
  free(page);
  CHECK(t, answers(port, "GET / HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n", "403"));
  CHECK(t, answers(port, "GET / HTTP/1.1\r\n\r\n", "403"));
  CHECK(t, answers(port, "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"));
  char *other = get(port, "/else", &size);
  CHECK(t, !strncmp(other, "HTTP/1.1 404", 12));
  free(other);
  char *model = get(port, "/model", &size), *columns = model + size;
  for (char *at = model; at + 10 < model + size; at++)
    if (!strncmp(at, "shape.kind", 10)) columns = at;
  CHECK(t, columns < model + size);
  free(model);
  char *frames = get(port, "/frames", &size);
  const char *text = "";
  int count = messages(frames, size, &text);
  CHECK(t, count > 3);
  CHECK(t, strstr(text, "\"step\": 40,") && strstr(text, "\"certified_steps\": 40,"));
  free(frames);
  char *code = NULL;
  for (int k = 0; k < 500 && !(code && *code); k++, nap())
    free(code), code = shell_read(fx_test_scratch(t, "code.txt"));
  CHECK(t, code && atoi(code) == 0);
  free(code);
}

static void refused(fx_test *t) {
  shell_result r = shell(t, "$frix run stack --live --port 70000");
  CHECK(t, r.code == 2 && shell_lines(r.err) == 1);
  shell_free(&r);
}

const fx_test_row test_live[] = {{"live/serves", serves}, {"live/refused", refused}, {0}};
