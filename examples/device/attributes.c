#include <string.h>

#include "interpreter.h"

const plimsoll_attr* attr(const plimsoll_node* node, const char* name) {
  for (int32_t i = 0; i < node->attr_count; ++i) {
    if (strcmp(node->attrs[i].name, name) == 0) return &node->attrs[i];
  }
  return NULL;
}

int64_t attr_int(const plimsoll_node* node, const char* name) {
  const plimsoll_attr* a = attr(node, name);
  return a ? a->integer : 0;
}
double attr_real(const plimsoll_node* node, const char* name) {
  const plimsoll_attr* a = attr(node, name);
  return a ? a->real : 0;
}
const char* attr_string(const plimsoll_node* node, const char* name) {
  const plimsoll_attr* a = attr(node, name);
  return a ? a->string : "";
}

int32_t attr_count(const plimsoll_node* node, const char* name) {
  const plimsoll_attr* a = attr(node, name);
  return a ? a->count : 0;
}
int64_t attr_item(const plimsoll_node* node, const char* name, int32_t i, int64_t fallback) {
  const plimsoll_attr* a = attr(node, name);
  return a && i < a->count ? a->ints[i] : fallback;
}

int32_t axis_of(int64_t axis, int32_t rank) { return (int32_t)(axis < 0 ? axis + rank : axis); }
