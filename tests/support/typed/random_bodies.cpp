#include "tests/support/typed/random_bodies.h"

#include "core/graph/traverse.h"
#include "tests/support/build_graph.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace halftone::test {
namespace {

using graph::Attributes;
using graph::Entry;
using graph::Graph;
using graph::NodeId;

constexpr std::int64_t kWidth = 8; ///< of all tensors in bodies but what is walked through

std::string listed(const std::vector<std::size_t> &numbers)
{
    std::string text = "[";
    for (const std::size_t one : numbers)
        text += (text.size() > 1 ? ", " : "") + std::to_string(one);
    return text + "]";
}

constexpr std::size_t kUnread = std::numeric_limits<std::size_t>::max();

/// By NodeId, which of the variables it is that a walk from the heads meets.
std::vector<std::size_t> placesOf(const Graph &body)
{
    std::vector<std::size_t> places(body.nodeCount(), kUnread);
    std::size_t variables = 0;
    for (const NodeId id : graph::postOrder(body))
        if (body.isVariable(id))
            places[id] = variables++;
    return places;
}

/// A body of tensors of one shape, and what stands around it for its variables.
class RandomBody
{
public:
    RandomBody(Random &random, int depth)
        : m_random(random)
        , m_depth(depth)
    {
    }

    Entry variable(std::string name, Operand outside)
    {
        const Entry entry{m_graph.add(nodeOf("null", name, {}), {}), 0, 0};
        m_operands.push_back({entry.node, std::move(outside)});
        return entry;
    }

    Entry node(const char *op, std::vector<Entry> inputs, Attributes attributes = {})
    {
        const std::string name = std::string(op) + std::to_string(m_graph.nodeCount());
        return {m_graph.add(nodeOf(op, name, std::move(attributes)), inputs), 0, 0};
    }

    /// The product of `rows`, which may be wider, and a parameter of its own.
    Entry dense(const Entry &rows, std::int64_t width)
    {
        const std::string name = "w" + std::to_string(m_graph.nodeCount());
        const Entry weight = variable(name, Operand({kWidth, width}, name + "_weight"));
        return node("FullyConnected", {rows, weight}, {{"num_hidden", "8"}, {"no_bias", "True"}});
    }

    void offer(const Entry &entry) { m_pool.push_back(entry); }
    const Entry &any() { return m_random.oneOf(m_pool); }
    void grow();
    const std::vector<std::pair<NodeId, Operand>> &operands() const { return m_operands; }

    Graph finish(std::vector<Entry> heads)
    {
        m_graph.setHeads(std::move(heads));
        return std::move(m_graph);
    }

private:
    void addLoop();

    Random &m_random;
    int m_depth;
    Graph m_graph = emptyGraph();
    std::vector<Entry> m_pool; ///< of one shape
    std::vector<std::pair<NodeId, Operand>> m_operands; ///< by variable
};

/// A loop in the body, over one tensor of the pool that is stacked upon another.
void RandomBody::addLoop()
{
    const Entry steps = node("stack", {any(), any()}, {{"num_args", "2"}, {"axis", "0"}});
    RandomBody inner(m_random, m_depth + 1);
    const Operand unused({1}, "unused");
    const Entry slice = inner.variable("slice", unused);
    const Entry state = inner.variable("state", unused);
    const Entry seen = inner.variable("seen", unused);
    inner.offer(slice);
    inner.offer(seen);
    inner.offer(state);
    inner.grow();
    const Entry given = inner.node("elemwise_add", {inner.any(), inner.node("elemwise_add", {slice, seen})});
    const Entry next = inner.node(m_random.chance(50) ? "relu" : "tanh",
                                  {inner.node("elemwise_add", {inner.any(), state})});
    const Graph body = inner.finish({given, next});
    const std::vector<std::size_t> places = placesOf(body);
    const std::string name = "loop" + std::to_string(m_graph.nodeCount());
    std::vector<Entry> inputs{steps, any(), any()};
    std::vector<std::size_t> remain{places[seen.node]};
    for (const auto &[id, operand] : inner.operands()) {
        if (id == slice.node || id == state.node || id == seen.node || places[id] == kUnread)
            continue;
        inputs.push_back(
            variable(name + '_' + body.node(id).name, Operand(operand.dims, name + '_' + operand.role)));
        remain.push_back(places[id]);
    }
    const NodeId loop = m_graph.add(nodeOf("_foreach", name,
                                           {{"in_data_locs", listed({places[slice.node]})},
                                            {"in_state_locs", listed({places[state.node]})},
                                            {"remain_locs", listed(remain)},
                                            {"num_args", std::to_string(inputs.size() + 1)},
                                            {"num_out_data", "1"},
                                            {"num_outputs", "2"}},
                                           {std::make_shared<const Graph>(body)}),
                                    inputs);
    m_pool.push_back({loop, 1, 0});
}

/// Some operators more.
void RandomBody::grow()
{
    static constexpr const char *kUnary[]{"relu", "exp", "tanh", "sigmoid", "softmax", "log", "abs"};
    static constexpr const char *kBinary[]{"elemwise_add", "elemwise_mul", "broadcast_add"};
    for (std::size_t k = m_random.below(4); k > 0; --k) {
        if (m_depth < 2 && m_random.chance(15))
            addLoop();
        else if (m_random.chance(30))
            m_pool.push_back(dense(any(), kWidth));
        else if (m_random.chance(50))
            m_pool.push_back(node(m_random.oneOf(kUnary), {any()}));
        else
            m_pool.push_back(node(m_random.oneOf(kBinary), {any(), any()}));
    }
}

/// Which input of the node each variable that is read is; the operands of the others are left out.
struct Placed
{
    std::vector<Operand> operands;
    std::vector<std::size_t> ofVariable; ///< by variable in the order of a walk
};

Placed placed(const Graph &body, const std::vector<std::pair<NodeId, Operand>> &operands, std::size_t first)
{
    Placed result;
    for (const NodeId id : graph::postOrder(body)) {
        if (!body.isVariable(id))
            continue;
        const auto found = std::ranges::find(operands, id, &std::pair<NodeId, Operand>::first);
        result.ofVariable.push_back(first + result.operands.size());
        result.operands.push_back(found->second);
    }
    return result;
}

} // namespace

/// States become something with what they were; the walk gives something with what it meets.
bool foreachLoop(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) { return v.isFloat() && v.rank() == 3; });
    if (!x)
        return false;
    const std::string prefix = "loop" + std::to_string(g.nodeCount()) + "_";
    const Dims rows{x->dims[1], kWidth};
    RandomBody inside(g.random, 1);
    const Entry slice = inside.variable("slice", Operand(*x));
    const Entry product = inside.dense(slice, x->dims[2]);
    inside.offer(product);
    std::vector<Entry> states;
    for (std::size_t k = g.random.below(2) + 1; k > 0; --k) {
        const auto first = g.random.chance(40)
            ? g.pick([&](const Value &v) { return v.dims == rows && v.type == x->type; })
            : std::nullopt;
        const std::string name = prefix + "state" + std::to_string(k);
        states.push_back(inside.variable("state" + std::to_string(k),
                                         Operand(first ? *first : g.parameter(name, rows, x->type))));
        inside.offer(states.back());
    }
    if (const auto seen = g.pick([&](const Value &v) { return v.dims == rows && v.type == x->type; }))
        inside.offer(inside.variable("seen", Operand(*seen)));
    inside.grow();
    std::vector<Entry> heads{g.random.chance(50) ? product
                                                 : inside.node("elemwise_add", {product, inside.any()})};
    for (const Entry &state : states) {
        const Entry sum
            = inside.node(g.random.chance(80) ? "elemwise_add" : "elemwise_mul", {inside.any(), state});
        heads.push_back(g.random.chance(30) ? sum : inside.node(g.random.chance(50) ? "exp" : "relu", {sum}));
    }
    const Graph body = inside.finish(heads);
    const std::vector<std::size_t> places = placesOf(body);
    std::vector<Operand> operands;
    std::vector<std::size_t> stateLocations, remain;
    const auto take = [&](NodeId id, std::vector<std::size_t> &locations) {
        const auto found = std::ranges::find(inside.operands(), id, &std::pair<NodeId, Operand>::first);
        const Operand &operand = found->second;
        operands.push_back(
            operand.value ? operand : Operand(g.parameter(prefix + operand.role, operand.dims, x->type)));
        locations.push_back(places[id]);
    };
    std::vector<std::size_t> data;
    take(slice.node, data);
    for (const Entry &state : states)
        take(state.node, stateLocations);
    for (const auto &[id, operand] : inside.operands())
        if (places[id] != kUnread && id != slice.node
            && std::ranges::find(states, id, &Entry::node) == states.end())
            take(id, remain);
    std::vector<Dims> outputs{{x->dims[0], rows[0], kWidth}};
    outputs.insert(outputs.end(), states.size(), rows);
    return g.add("_foreach",
                 {{"in_data_locs", listed(data)},
                  {"in_state_locs", listed(stateLocations)},
                  {"remain_locs", listed(remain)},
                  {"num_args", std::to_string(operands.size() + 1)},
                  {"num_out_data", "1"},
                  {"num_outputs", std::to_string(outputs.size())}},
                 operands, outputs, {std::make_shared<const Graph>(body)});
}

/// Both bodies begin with what is there and with a product of it, and each goes its own way.
bool branches(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) { return v.isFloat() && v.rank() == 2 && v.dims[1] == kWidth; });
    if (!x)
        return false;
    const std::string prefix = "cond" + std::to_string(g.nodeCount()) + "_";
    RandomBody asked(g.random, 2);
    const Entry flag = asked.variable("flag", Operand({1}, "flag"));
    const Graph condition = asked.finish({asked.node("relu", {flag})});
    std::vector<Operand> operands{Operand(g.parameter(prefix + "flag", {1}, tensor::DType::F32))};
    std::vector<std::shared_ptr<const Graph>> bodies{std::make_shared<const Graph>(condition)};
    std::vector<std::string> locations{"[0]"};
    for (int k = 0; k < 2; ++k) {
        RandomBody inside(g.random, 1);
        inside.offer(inside.variable("x", Operand(*x)));
        if (const auto seen = g.pickLike(*x))
            inside.offer(inside.variable("seen", Operand(*seen)));
        if (g.random.chance(70))
            inside.offer(inside.dense(inside.any(), kWidth));
        inside.grow();
        const Graph body = inside.finish({inside.node(g.random.chance(50) ? "relu" : "tanh", {inside.any()}),
                                          inside.node("elemwise_add", {inside.any(), inside.any()})});
        const Placed found = placed(body, inside.operands(), operands.size());
        for (const Operand &operand : found.operands)
            operands.push_back(operand.value ? operand
                                             : Operand(g.parameter(prefix + std::to_string(k) + operand.role,
                                                                   operand.dims, x->type)));
        locations.push_back(listed(found.ofVariable));
        bodies.push_back(std::make_shared<const Graph>(body));
    }
    return g.add("_cond",
                 {{"cond_input_locs", locations[0]},
                  {"then_input_locs", locations[1]},
                  {"else_input_locs", locations[2]},
                  {"num_args", std::to_string(operands.size() + 3)},
                  {"num_outputs", "2"}},
                 operands, {x->dims, x->dims}, bodies);
}

} // namespace halftone::test
