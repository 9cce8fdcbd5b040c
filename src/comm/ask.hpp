// Questions to ranks, and their answers: for directories that are spread over all ranks.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "comm/route.hpp"

namespace octant {

// What answer(question) is on rank ranks[n] for questions[n], in the order of the questions.
// Collective; a rank may ask nothing.
template <Copyable Question, class Answerer>
auto ask(const Communicator& communicator, std::span<const int> ranks,
         std::span<const Question> questions, const Answerer& answer) {
  using Answer = std::decay_t<std::invoke_result_t<Answerer, const Question&>>;
  const auto asked = route<Question>(communicator, ranks, questions);
  std::vector<Answer> answers;
  answers.reserve(asked.items.size());
  for (const Question& question : asked.items) answers.push_back(answer(question));
  const auto arrived = route<Answer>(communicator, asked.sources, answers);
  // They arrive by rank and then in the order of asking.
  std::vector<std::size_t> order(questions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
  std::vector<Answer> in_order(questions.size());
  for (std::size_t n = 0; n < order.size(); ++n) in_order[order[n]] = arrived.items[n];
  return in_order;
}

}  // namespace octant
