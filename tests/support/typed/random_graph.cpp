#include "tests/support/typed/random_graph.h"

#include "tests/support/typed/random_operators.h"
#include "tests/support/typed/type_oracle.h"

#include <algorithm>
#include <set>

namespace halftone::test {
namespace {

using policy::Policy;
using tensor::DType;

void addData(RandomBuilder &g)
{
    g.data("x", {2, 4, 4, 4}, DType::F32);
    if (g.random.chance(50))
        g.data("v", {2, 8}, DType::F32);
    if (g.random.chance(15))
        g.data("half", {2, 4, 4, 4}, DType::F16);
    if (g.random.chance(25))
        g.data("ids", {2, 3}, DType::I32);
    if (g.random.chance(8))
        g.data("double", {2, 8}, DType::F64);
}

std::set<std::string> operatorsOf(const graph::Graph &graph)
{
    std::set<std::string> names;
    for (const std::string &op : graph.operatorNames()) {
        if (oracleKnows(op) && op != "amp_cast" && op != "amp_multicast")
            names.insert(op);
    }
    return names;
}

bool hasInputs(const std::string &op)
{
    return op != "_zeros" && op != "_ones" && op != "_arange";
}
bool mayBeWidest(const std::string &op)
{
    return hasInputs(op) && op != "BatchNorm";
}

void replaceLists(const std::set<std::string> &operators, Random &random, Policy &policy)
{
    policy.targetOps.emplace();
    policy.fp32Ops.emplace();
    policy.widestOps.emplace();
    policy.conditionalOps.emplace();
    for (const std::string &op : operators) {
        switch (random.below(4)) {
        case 0:
            if (hasInputs(op))
                policy.targetOps->push_back(op);
            break;
        case 1:
            policy.fp32Ops->push_back(op);
            break;
        case 2:
            if (mayBeWidest(op))
                policy.widestOps->push_back(op);
            break;
        default:
            break;
        }
    }
}

void moveOperators(const std::set<std::string> &operators, Random &random, Policy &policy)
{
    using To = Policy::Move::To;
    const std::vector<std::string> names(operators.begin(), operators.end());
    static const std::vector<To> kPlaces{To::Target, To::Target, To::Fp32, To::Widest};
    for (std::size_t moves = random.below(4); moves > 0 && !operators.empty(); --moves) {
        const std::string &op = random.oneOf(names);
        const To to = random.oneOf(kPlaces);
        if (to == To::Fp32 || (to == To::Target && hasInputs(op)) || (to == To::Widest && mayBeWidest(op)))
            policy.moves.push_back({op, to});
    }
}

void addCondition(Random &random, Policy &policy)
{
    static const std::vector<policy::ConditionalRule> kRules{
        {"Activation", "act_type", {"relu"}},
        {"LeakyReLU", "act_type", {"leaky"}},
        {"Pooling", "pool_type", {"max"}},
        {"Pooling", "global_pool", {"True"}},
        {"Concat", "dim", {"1"}},
    };
    const policy::ConditionalRule &rule = random.oneOf(kRules);
    if (rule.op != "Concat" || policy.target == DType::F16) // Concat is a widest operator for some
        policy.addedConditions.push_back(rule);
}

void nameNodes(const graph::Graph &graph, Random &random, Policy &policy)
{
    static const std::vector<std::string> kPatterns{"/^conv/", "/[02468]$/", "/weight/", "/relu|exp/",
                                                    "/[13]$/"};
    const auto someName
        = [&] { return graph.node(static_cast<graph::NodeId>(random.below(graph.nodeCount()))).name; };
    if (random.chance(25)) {
        for (std::size_t left = 1 + random.below(2); left > 0; --left)
            policy.excludedNames.push_back(someName());
    }
    if (random.chance(8))
        policy.excludedNames.push_back(random.oneOf(kPatterns));
    if (random.chance(15))
        policy.nodeOverrides[someName()] = random.chance(50) ? DType::F32 : policy.target;
}

Policy randomPolicy(const graph::Graph &graph, Random &random)
{
    static const std::vector<std::string> kVersions{"1.9.1", "1.9.1", "1.9.1", "2.0.0b1", "master"};
    Policy policy;
    policy.target = random.chance(70) ? DType::F16 : DType::BF16;
    policy.mode = policy::Mode::Typed;
    policy.listVersion = random.oneOf(kVersions);
    policy.castParams = random.chance(50);
    const std::set<std::string> operators = operatorsOf(graph);
    if (random.chance(12))
        replaceLists(operators, random, policy);
    else if (random.chance(10))
        addCondition(random, policy);
    moveOperators(operators, random, policy);
    nameNodes(graph, random, policy);
    return policy;
}

/// Says in the policy what is said elsewhere otherwise: which variables are data, and their types.
void describeData(const RandomBuilder &g, Random &random, TypedCase &made)
{
    std::vector<std::string> names;
    for (graph::NodeId id = 0; id < made.model.graph.nodeCount(); ++id) {
        const std::string &name = made.model.graph.node(id).name;
        if (made.model.graph.isVariable(id) && std::ranges::find(g.dataNames(), name) != g.dataNames().end())
            names.push_back(name);
    }
    if (random.chance(15) && std::ranges::find(names, "x") != names.end())
        made.policy.inputDtypes["x"] = DType::F32;
    if (random.chance(40))
        made.policy.dataNames = names;
    const auto hasOwnType = [](const tensor::Array &array) { return array.values.dtype() != DType::F32; };
    if (made.policy.dataNames && random.chance(50)
        && std::ranges::none_of(made.model.parameters, hasOwnType)) {
        made.model.parameters.clear();
        made.model.hasParameters = false;
    }
}

} // namespace

TypedCase randomCase(std::uint64_t seed)
{
    RandomBuilder g(seed);
    addData(g);
    const std::size_t operators = g.random.chance(2) ? 80 : 3 + g.random.below(20);
    for (std::size_t made = 0, tried = 0; made < operators && tried < 10 * operators; ++tried)
        made += addRandomOperator(g) ? 1 : 0;
    TypedCase made{g.finish(), {}};
    made.policy = randomPolicy(made.model.graph, g.random);
    describeData(g, g.random, made);
    return made;
}

} // namespace halftone::test
