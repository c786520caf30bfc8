// Words to vectors by hand; nearest neighbours with values.
#include <iostream>
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "plimsoll/ops.h"
using namespace plimsoll;
int main() {
  Layer words = Embedding(5, 3, {.embeddings_initializer = "ones"});
  Tensor ids = Tensor::of({{0, 4}, {1, 2}}, DType::i32);
  Tensor v = words(ids);
  std::cout << v << v.shape() << v.dtype() << "\n";
  words->set_weights(std::vector<Tensor>{Tensor::of({{0, 0, 1}, {0, 1, 0}, {1, 0, 0}, {1, 1, 1}, {2, 0, 0}})});
  std::vector<float> second = to_vector<float>(words(Tensor::of({4}, DType::i32)));
  int caught = 0;
  try { words(Tensor::of({7}, DType::i32)); } catch (const Error& e) { std::cout << e.what() << "\n"; caught = 1; }
  return second[0] == 2 && caught == 1 ? 0 : 1;
}
