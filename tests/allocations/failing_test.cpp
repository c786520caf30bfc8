// Every charge to the account, and a spread of all allocations, failed once in turn while a small model is
// compiled and run: an Error comes out, nothing leaks, and the next run works.
#include <gtest/gtest.h>

#include <new>

#include "allocations/hooks.h"
#include "memory/account.h"
#include "memory/pool.h"
#include "models/models.h"
#include "plimsoll/error.h"
#include "plimsoll/program.h"

namespace plimsoll::testing {
namespace {

using models::Model;

double train_twice(const Graph& graph, const std::vector<Tensor>& batch) {
  Program program = Program::compile(graph);
  program(batch);
  return program(batch)[0].item();
}

double first_loss(const Model& model) {
  models::Weights weights;
  const std::vector<Tensor> batch = models::sample_batch(model, 4);
  const Graph graph = models::train_graph(model, weights, 4);
  try {
    return train_twice(graph, batch);
  } catch (const std::bad_alloc&) {
    ADD_FAILURE() << "std::bad_alloc left compile() or run()";
    throw;
  }
}

class Failing : public ::testing::TestWithParam<Model> {};

INSTANTIATE_TEST_SUITE_P(Models, Failing,
                         ::testing::ValuesIn(models::parity_models().begin(), models::parity_models().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(Failing, EveryChargeInTurn) {
  const double want = first_loss(GetParam());
  const int64_t used = account::used();
  const int64_t before = account::charges();
  first_loss(GetParam());
  const int64_t charges = account::charges() - before;
  ASSERT_GT(charges, 0);
  for (int64_t n = 1; n <= charges; ++n) {
    account::fail_nth_charge(n);
    try {
      first_loss(GetParam());
      ADD_FAILURE() << "charge " << n << " of " << charges << " failed and nobody said so";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::out_of_memory) << e.what();
    }
    account::fail_nth_charge(0);
    ASSERT_EQ(account::used(), used) << "charge " << n << " leaks";
  }
  EXPECT_EQ(first_loss(GetParam()), want);
}

TEST_P(Failing, AllocationsInTurn) {
  const double want = first_loss(GetParam());
  fail_nth_new(1);  // what is made once and kept, by the first failure too, is no leak
  EXPECT_THROW(first_loss(GetParam()), std::exception);
  fail_nth_new(0);
  first_loss(GetParam());
  // What the pool of small buffers holds on to is no leak, and which blocks it holds depends on the order
  // they came back.
  pool::trim();
  const int64_t live = live_allocations();
  bool failed = true;
  for (int64_t n = 1; failed; n += 1 + n / 20) {
    fail_nth_new(n);
    try {
      first_loss(GetParam());
    } catch (const Error& e) {
      fail_nth_new(0);
      EXPECT_EQ(e.kind(), ErrorKind::out_of_memory) << "allocation " << n << ": " << e.what();
    } catch (const std::bad_alloc&) {  // from building the graph
    }
    failed = has_failed();
    fail_nth_new(0);
    pool::trim();
    ASSERT_LE(live_allocations(), live) << "allocation " << n << " leaks";
  }
  EXPECT_EQ(first_loss(GetParam()), want);
}

}  // namespace
}  // namespace plimsoll::testing
