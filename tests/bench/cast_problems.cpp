// The choices that mode typed has, one model a line of JSON, for tests/bench/optimal_casts.py: cast_problems TARGET MODEL[;INPUT=1,3,224,224]… | --random FIRST LAST
#include "core/base/json.h"
#include "core/mixed/cast_problem.h"
#include "core/mixed/convert_model.h"
#include "core/rewrite/nested_conversions.h"
#include "core/session/session.h"
#include "tests/support/typed/random_graph.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

using namespace halftone;
using mixed::CastProblem;

namespace {

/// As JSON: terms as in CastProblem, `now` by the rules alone, `half` as it was chosen.
void tell(const std::string &name, const CastProblem &problem, const std::vector<bool> &half,
          std::size_t casts)
{
    OrderedJson tensors = OrderedJson::array();
    for (const CastProblem::Tensor &tensor : problem.tensors) {
        const auto readers = problem.readersOf(tensor);
        tensors.push_back(
            {tensor.producer, std::vector(readers.begin(), readers.end()), tensor.cost, tensor.bytes});
    }
    OrderedJson now = OrderedJson::array();
    for (const CastProblem::Choice &choice : problem.choices)
        now.push_back(choice.type != tensor::DType::F32);
    const OrderedJson line{{"name", name},
                           {"choices", problem.choices.size()},
                           {"variables", problem.variables},
                           {"tensors", tensors},
                           {"required", problem.required},
                           {"now", now},
                           {"half", half},
                           {"casts", casts}};
    std::puts(line.dump().c_str());
}

template <class T>
T must(const std::string &name, Result<T> result)
{
    if (!result.ok()) {
        std::fprintf(stderr, "error: %s: %s\n", name.c_str(), result.error().message().c_str());
        std::exit(1);
    }
    return std::move(result).value();
}

void solve(const std::string &name, const graph::Model &model, const policy::Policy &policy,
           const infer::ShapeMap *shapes)
{
    const CastProblem problem = must(name, mixed::castChoices(model, policy, shapes));
    const auto converted = must(name, mixed::convertModel(model, policy, false, {}, shapes));
    tell(name, problem, mixed::solved(problem), rewrite::castTotals(converted.conversion).casts);
}

tensor::Shape shapeOf(const std::string &text)
{
    std::vector<std::int64_t> dims;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');)
        dims.push_back(std::stoll(word));
    return tensor::Shape(dims);
}

void solveFile(const std::string &given, const policy::Policy &policy)
{
    std::istringstream words(given);
    std::string path;
    std::getline(words, path, ';');
    session::Session session = must(path, session::Session::open(path, {}));
    for (std::string input; std::getline(words, input, ';');) {
        const std::size_t equals = input.rfind('=');
        auto set = session.setInputShape(input.substr(0, equals), shapeOf(input.substr(equals + 1)));
        if (!set.ok())
            std::fprintf(stderr, "note: %s: %s\n", path.c_str(), set.error().message().c_str());
    }
    std::vector<std::string> notes;
    const infer::ShapeMap shapes = must(path, session.shapes(notes));
    solve(path, session.source().model, policy, &shapes);
}

void solveRandom(std::uint64_t first, std::uint64_t last)
{
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        const test::TypedCase given = test::randomCase(seed);
        if (mixed::castChoices(given.model, given.policy).ok()) // a policy may contradict itself
            solve("random " + std::to_string(seed), given.model, given.policy, nullptr);
    }
}

} // namespace

int main(int count, char **words)
{
    const std::vector<std::string> given(words + 1, words + count);
    policy::Policy policy;
    policy.target = tensor::dtypeNamed(given.empty() ? "" : given[0]).value_or(tensor::DType::F16);
    for (std::size_t k = 1; k < given.size(); ++k) {
        if (given[k] == "--random" && k + 2 < given.size()) {
            solveRandom(std::stoull(given[k + 1]), std::stoull(given[k + 2]));
            k += 2;
        } else {
            solveFile(given[k], policy);
        }
    }
    return 0;
}
