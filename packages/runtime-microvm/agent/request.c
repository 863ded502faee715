/* Reads the request to open a program. */
#include <string.h>

#include "agent.h"

#define HEAD_BYTES 32

/* Points into `bytes`, which must stay until the program has started. Returns 0 if the request is malformed. */
int parse_open(uint8_t *bytes, size_t length, struct open_request *request) {
  static char *strings[STRINGS_MAX + 2];
  if (length <= HEAD_BYTES || bytes[length - 1]) return 0;
  request->flags = get32(bytes);
  request->uid = get32(bytes + 4);
  request->gid = get32(bytes + 8);
  request->rows = get16(bytes + 12);
  request->cols = get16(bytes + 14);
  request->capabilities = get64(bytes + 16);
  uint32_t arguments = get32(bytes + 24), variables = get32(bytes + 28);
  if (!arguments || arguments > STRINGS_MAX || variables > STRINGS_MAX || arguments + variables + 4 > STRINGS_MAX) return 0;
  char *at = (char *)bytes + HEAD_BYTES, *end = (char *)bytes + length;
  uint32_t count = 0;
  /* The folder, the file to run, the arguments, null, the environment, null. */
  for (uint32_t i = 0; i < 2 + arguments + variables; i++) {
    if (at >= end) return 0;
    strings[count++] = at;
    at += strlen(at) + 1;
    if (i == 1 + arguments) strings[count++] = 0;
  }
  strings[count] = 0;
  request->cwd = strings[0];
  request->executable = strings[1];
  request->argv = strings + 2;
  request->env = strings + 2 + arguments + 1;
  return at == end && request->argv[0][0];
}
