// Windows that move over a tensor: pooling, reduce_window_* and select_and_*. Each thread makes one element
// of the result: gradients look for the windows that an element lies in, so that nothing is added by two
// threads. Padding adds nothing to a sum and is never a maximum.
#include <algorithm>

#include "ops.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

// Windows over all axes of x; of pooling ops, those over the first and the last axis are of one element.
struct Windows {
  Sizes x, y;  // sizes of what they move over and of the results, one for each window
  Sizes window, strides, low;

  Windows(const Node& node, const Type& over, const Type& results) : x(over.sizes), y(results.sizes) {
    const bool pooling = node.ints("window").size() != x.size();
    for (size_t axis = 0; axis < x.size(); ++axis) {
      const bool outside = pooling && (axis == 0 || axis + 1 == x.size());
      const size_t i = pooling ? axis - 1 : axis;
      window.push_back(outside ? 1 : node.item("window", i, 1));
      strides.push_back(outside ? 1 : node.item("strides", i, 1));
      low.push_back(outside ? 0 : node.item(pooling ? "pad_low" : "low", i, 0));
    }
  }

  bool is_whole(size_t d) const { return window[d] == 1 && low[d] == 0 && strides[d] == 1 && x[d] == y[d]; }

  // Windows beside each other share no element.
  bool apart() const {
    for (size_t d = 0; d < x.size(); ++d)
      if (strides[d] < window[d]) return false;
    return true;
  }
  // The type of coordinates: dividing 64 bits by 64 would take longer than all the rest.
  std::string types() const {
    const bool small = std::max(product(x), product(y)) < (int64_t{1} << 30);
    return concat("typedef ", small ? "int" : "int64_t", " whole;\n");
  }

  // Runs `body` at every point of window (letter)0, (letter)1, ... that lies inside x: element `p` of x,
  // point `w` of the window.
  std::string points(std::string_view letter, std::string_view body) const {
    const Sizes own = row_major(x), numbers = row_major(window);
    std::string text, p = "0", w = "0";
    for (size_t d = 0; d < x.size(); ++d) {
      if (is_whole(d)) {  // of pooling, batch and channels
        text += concat("const whole p", d, " = (whole)", letter, d, ";\n");
      } else {
        text += concat("for (int w", d, " = 0; w", d, " < ", window[d], "; ++w", d, ") {\nconst whole p", d,
                       " = (whole)", letter, d, " * ", strides[d], " + w", d, " - ", low[d], ";\nif (p", d,
                       " < 0 || p", d, " >= ", x[d], ") continue;\n");
        w += concat(" + w", d, " * ", numbers[d]);
      }
      p += concat(" + p", d, " * ", own[d]);
    }
    text += concat("{\nconst whole p = ", p, ";\nconst int w = ", w, ";\n", body, "}\n");
    for (size_t d = x.size(); d-- > 0;)
      if (!is_whole(d)) text += "}\n";
    return concat("{\n", types(), text, "}\n");
  }

  // Runs `body` for every window that has element i0, i1, ... of x: its coordinates q0, q1, ..., its number
  // `q`, and `mine`, the point of it that the element is.
  std::string windows_of_element(std::string_view body) const {
    const Sizes own = row_major(y), numbers = row_major(window);
    std::string text, q = "0", mine = "0";
    for (size_t d = 0; d < x.size(); ++d) {
      q += concat(" + q", d, " * ", own[d]);
      if (is_whole(d)) {
        text += concat("{\nconst whole q", d, " = i", d, ";\n");
        continue;
      }
      text += concat("const whole e", d, " = (whole)i", d, " + ", low[d], ";\n", "for (whole q", d, " = e", d,
                     " < ", window[d], " ? 0 : (e", d, " - ", window[d], ") / ", strides[d], " + 1; q", d,
                     " < ", y[d], " && q", d, " * ", strides[d], " <= e", d, "; ++q", d, ") {\n");
      mine += concat(" + (e", d, " - q", d, " * ", strides[d], ") * ", numbers[d]);
    }
    text += concat("{\nconst whole q = ", q, ";\nconst int mine = ", mine, ";\n", body, "}\n");
    for (size_t d = 0; d < x.size(); ++d) text += "}\n";
    return concat("{\n", types(), text, "}\n");
  }

  // Declares `best`, the element of x that is largest in the window, the first of equals and a NaN before
  // all, or -1; `most`, its value; and `where`, its point in the window.
  std::string largest(DType t, std::string_view from, std::string_view letter) const {
    const std::string body =
        concat("const ", computed(t), " v = ", load_element(concat(from, "[p]"), t),
               ";\nif (best < 0 || v > most || (v != v && most == most)) { best = p; most = v; "
               "where = w; }\n");
    return concat("int64_t best = -1;\nint where = 0;\n", computed(t), " most = 0;\n", points(letter, body));
  }
};

std::string lowest(DType t) {
  return is_float(t) ? "(-INFINITY)" : concat("to_", source_type(t).suffix, "_f64(-INFINITY)");
}

void reduce_window_sum(Build& b) {
  const Type x = b.node.in(0), out = b.node.out(0);
  const Windows w(b.node, x, out);
  const DType kept = sum_type(x.dtype);
  const std::string value = load_element("arg0[p]", x.dtype);
  const std::string add = is_float(x.dtype) ? concat("sum + ", value)
                                            : concat("add_", source_type(kept).suffix, "(sum, ", value, ")");
  b.each(parameters({stored(x.dtype), stored(x.dtype)}, 1), out.count(),
         concat(coordinates(out.sizes, "at", "index"), computed(kept), " sum = 0;\n",
                w.points("i", concat("sum = ", add, ";\n")),
                "arg1[at] = ", store_element(concat("(", computed(x.dtype), ")sum"), x.dtype), ";\n"),
         {b.in(0), b.out(0)});
}

// Channels that lie beside each other have the same windows: a thread takes several.
int64_t channels_at_once(const Type& x, size_t largest) {
  int64_t width = 16 / static_cast<int64_t>(largest);
  while (width > 1 && x.sizes.back() % width != 0) width /= 2;
  return x.count() >= int64_t{1} << 16 ? width : 1;
}
std::string vector_of(std::string_view name, std::string_view type, int64_t width) {
  return concat("struct alignas(", width, " * sizeof(", type, ")) ", name, " { ", type, " at[", width,
                "]; };\n");
}

// The largest of each window, for several channels at a time.
void max_pool_by_vectors(Build& b, const Windows& w, int64_t width) {
  const Type x = b.node.in(0), out = b.node.out(0);
  const bool index = b.node.output_count() == 2;
  const std::string every = concat("#pragma unroll\nfor (int j = 0; j < ", width, "; ++j) ");
  std::string body =
      concat("const index first = at * ", width, ";\n", coordinates(out.sizes, "first", "index"),
             vector_of("Values", stored(x.dtype), width), computed(x.dtype), " most[", width,
             "];\nint where[", width, "];\n", every, "{ most[j] = ", lowest(x.dtype), "; where[j] = -1; }\n",
             w.points("i", concat("const Values v = *(const Values*)(arg0 + p);\n", every, "{\nconst ",
                                  computed(x.dtype), " one = ", load_element("v.at[j]", x.dtype),
                                  ";\nif (where[j] < 0 || one > most[j] || (one != one && most[j] == "
                                  "most[j])) { most[j] = one; where[j] = w; }\n}\n")),
             "Values made;\n", every, "made.at[j] = ", store_element("most[j]", x.dtype),
             ";\n*(Values*)(arg1 + first) = made;\n");
  std::vector<std::string_view> types = {stored(x.dtype), stored(x.dtype)};
  std::vector<Ref> args = {b.in(0), b.out(0)};
  if (index) {
    types.push_back(stored(b.node.out(1).dtype));
    args.push_back(b.out(1));
    body += concat(vector_of("Points", types.back(), width), "Points points;\n", every, "points.at[j] = (",
                   types.back(), ")(where[j] < 0 ? 0 : where[j]);\n*(Points*)(arg2 + first) = points;\n");
  }
  b.each(parameters(types, 1), out.count() / width, body, std::move(args));
}

// Also max_pool, whose second output says where in its window each maximum lies.
void window_max(Build& b) {
  const Type x = b.node.in(0), out = b.node.out(0);
  const Windows w(b.node, x, out);
  const bool index = b.node.output_count() == 2;
  const int64_t width =
      w.x.empty() || !w.is_whole(w.x.size() - 1)
          ? 1
          : channels_at_once(out, std::max(size_of(x.dtype), index ? size_of(b.node.out(1).dtype) : 1));
  if (width > 1) return max_pool_by_vectors(b, w, width);
  std::string body = concat(
      coordinates(out.sizes, "at", "index"), w.largest(x.dtype, "arg0", "i"), "arg1[at] = ",
      store_element(concat("best < 0 ? (", computed(x.dtype), ")", lowest(x.dtype), " : most"), x.dtype),
      ";\n");
  std::vector<std::string_view> types = {stored(x.dtype), stored(x.dtype)};
  std::vector<Ref> args = {b.in(0), b.out(0)};
  if (index) {
    types.push_back(stored(b.node.out(1).dtype));
    args.push_back(b.out(1));
    body += concat("arg2[at] = (", types.back(), ")where;\n");
  }
  b.each(parameters(types, 1), out.count(), body, std::move(args));
}

// The elements of v where x is largest in each window.
void select_and_gather(Build& b) {
  const Type x = b.node.in(0), v = b.node.in(1), out = b.node.out(0);
  const Windows w(b.node, x, out);
  b.each(parameters({stored(x.dtype), stored(v.dtype), stored(out.dtype)}, 2), out.count(),
         concat(coordinates(out.sizes, "at", "index"), w.largest(x.dtype, "arg0", "i"),
                "arg2[at] = best < 0 ? 0 : arg1[best];\n"),
         {b.in(0), b.in(1), b.out(0)});
}

// The elements of x that an index, as max_pool makes it, names.
void max_pool_take(Build& b) {
  const Type x = b.node.in(0), index = b.node.in(1), out = b.node.out(0);
  const Windows w(b.node, x, out);
  b.each(parameters({stored(x.dtype), stored(index.dtype), stored(out.dtype)}, 2), out.count(),
         concat(coordinates(out.sizes, "at", "index"), stored(x.dtype),
                " found = 0;\nconst int wanted = (int)arg1[at];\n",
                w.points("i", "if (w == wanted) found = arg0[p];\n"), "arg2[at] = found;\n"),
         {b.in(0), b.in(1), b.out(0)});
}

void average_pool(Build& b) {
  const Type x = b.node.in(0), out = b.node.out(0);
  const Windows w(b.node, x, out);
  b.each(parameters({stored(x.dtype), stored(out.dtype)}, 1), out.count(),
         concat(coordinates(out.sizes, "at", "index"), "double sum = 0;\nint points = 0;\n",
                w.points("i", concat("sum += ", load_element("arg0[p]", x.dtype), ";\n++points;\n")),
                "arg1[at] = ", store_element(concat("(", computed(out.dtype), ")(sum / points)"), out.dtype),
                ";\n"),
         {b.in(0), b.out(0)});
}

// Of all gradients: `share` adds to `sum` what window q gives to the element.
void gradient(Build& b, const Windows& w, std::string_view share, std::vector<std::string_view> types,
              std::vector<Ref> args) {
  const Type out = b.node.out(0);
  const size_t inputs = types.size();
  types.push_back(stored(out.dtype));
  args.push_back(b.out(0));
  b.each(parameters(types, inputs), out.count(),
         concat(coordinates(out.sizes, "at", "index"), w.apart() ? computed(out.dtype) : "double",
                " sum = 0;\n", w.windows_of_element(share), "arg", inputs,
                "[at] = ", store_element(concat("(", computed(out.dtype), ")sum"), out.dtype), ";\n"),
         std::move(args));
}

void select_and_scatter_add(Build& b) {
  const Type x = b.node.in(0), dy = b.node.in(1);
  const Windows w(b.node, x, dy);
  gradient(b, w,
           concat(w.largest(x.dtype, "arg0", "q"),
                  "if (best == (int64_t)at) sum += ", load_element("arg1[q]", dy.dtype), ";\n"),
           {stored(x.dtype), stored(dy.dtype)}, {b.in(0), b.in(1)});
}

void max_pool_grad_by_vectors(Build& b, const Windows& w, int64_t width) {
  const Type dy = b.node.in(0), index = b.node.in(1), out = b.node.out(0);
  const std::string every = concat("#pragma unroll\nfor (int j = 0; j < ", width, "; ++j) ");
  const std::string body = concat(
      "const index first = at * ", width, ";\n", coordinates(out.sizes, "first", "index"),
      vector_of("Values", stored(dy.dtype), width), vector_of("Points", stored(index.dtype), width),
      w.apart() ? computed(out.dtype) : "double", " sum[", width, "] = {};\n",
      w.windows_of_element(concat(
          "const Values d = *(const Values*)(arg0 + q);\nconst Points n = *(const Points*)(arg1 + q);\n",
          every, "if ((int)n.at[j] == mine) sum[j] += ", load_element("d.at[j]", dy.dtype), ";\n")),
      "Values made;\n", every,
      "made.at[j] = ", store_element(concat("(", computed(out.dtype), ")sum[j]"), out.dtype),
      ";\n*(Values*)(arg2 + first) = made;\n");
  b.each(parameters({stored(dy.dtype), stored(index.dtype), stored(out.dtype)}, 2), out.count() / width, body,
         {b.in(0), b.in(1), b.out(0)});
}

void max_pool_grad(Build& b) {
  const Type dy = b.node.in(0), index = b.node.in(1);
  const Windows w(b.node, b.node.out(0), dy);
  const int64_t width = channels_at_once(b.node.out(0), std::max(size_of(dy.dtype), size_of(index.dtype)));
  if (width > 1) return max_pool_grad_by_vectors(b, w, width);
  gradient(b, w, concat("if ((int)arg1[q] == mine) sum += ", load_element("arg0[q]", dy.dtype), ";\n"),
           {stored(dy.dtype), stored(index.dtype)}, {b.in(0), b.in(1)});
}

void average_pool_grad(Build& b) {
  const Type dy = b.node.in(0);
  const Windows w(b.node, b.node.out(0), dy);
  std::string points = "1";  // of the window that lie inside
  for (size_t d = 0; d < w.x.size(); ++d)
    if (w.window[d] > 1)
      points += concat(" * (min(q", d, " * ", w.strides[d], " + ", w.window[d] - w.low[d], ", (whole)",
                       w.x[d], ") - max(q", d, " * ", w.strides[d], " - ", w.low[d], ", (whole)0))");
  gradient(b, w, concat("sum += ", load_element("arg0[q]", dy.dtype), " / (double)(", points, ");\n"),
           {stored(dy.dtype)}, {b.in(0)});
}

}  // namespace

std::span<const Op> window_ops() {
  static const Op ops[] = {
      {.name = "reduce_window_sum", .lower = reduce_window_sum},
      {.name = "reduce_window_max", .lower = window_max},
      {.name = "select_and_gather", .lower = select_and_gather},
      {.name = "select_and_scatter_add", .lower = select_and_scatter_add},
      {.name = "max_pool", .lower = window_max},
      {.name = "max_pool_take", .lower = max_pool_take},
      {.name = "max_pool_grad", .lower = max_pool_grad},
      {.name = "average_pool", .lower = average_pool},
      {.name = "average_pool_grad", .lower = average_pool_grad},
  };
  return ops;
}

}  // namespace plimsoll::cuda
