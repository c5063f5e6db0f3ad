#include "tests/support/typed/shrink.h"

#include "core/dialect/dialect.h"
#include "core/dialect/mxnet/dtype_code.h"
#include "core/io/mxnet/symbol_json.h"
#include "core/policy/policy_json.h"
#include "tests/support/build_graph.h"
#include "tests/support/files.h"
#include "tests/support/typed/graph_edit.h"
#include "tests/support/typed/properties.h"

#include <QTest>

#include <algorithm>
#include <fstream>

namespace halftone::test {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeId;
using policy::Policy;
using tensor::DType;

graph::NodeDefPtr dataOf(const std::string &name, DType type)
{
    graph::Attributes attributes;
    if (type != DType::F32 && type != DType::Unknown)
        attributes.set("__dtype__", std::to_string(dialect::mxnet::codeOf(type)));
    return nodeOf("null", name, std::move(attributes));
}

/// The case without arrays: types stand at the variables, data are named in the policy. What says the same elsewhere goes.
TypedCase withoutArrays(const TypedCase &given)
{
    TypedCase plain = given;
    plain.policy.dataNames.emplace();
    plain.policy.inputDtypes.clear();
    plain.model.parameters.clear();
    plain.model.hasParameters = false;
    for (NodeId id = 0; id < plain.model.graph.nodeCount(); ++id) {
        const NodeDef &node = plain.model.graph.node(id);
        if (!node.isVariable())
            continue;
        const auto holds = [&](const tensor::Array &array) {
            return dialect::variableOf(given.model.graph, array.name) == node.name;
        };
        const bool isData = given.policy.dataNames
            ? std::ranges::find(*given.policy.dataNames, node.name) != given.policy.dataNames->end()
            : std::ranges::none_of(given.model.parameters, holds);
        if (isData)
            plain.policy.dataNames->push_back(node.name);
        plain.model.graph.redefine(id, dataOf(node.name, typeOfVariable(given, id)));
    }
    return plain;
}

/// The graph in which readers of the node's outputs read `instead` (by output).
Graph bypassed(const Graph &graph, NodeId gone, const std::vector<Entry> &instead,
               const std::vector<graph::NodeDefPtr> &added)
{
    Graph result = Graph::like(graph);
    std::vector<NodeId> copies(graph.nodeCount());
    std::vector<Entry> replacement;
    const auto now = [&](const Entry &entry) -> Entry {
        return entry.node == gone
            ? replacement.at(std::min<std::size_t>(entry.output, replacement.size() - 1))
            : Entry{copies[entry.node], entry.output, entry.version};
    };
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (id == gone) {
            for (const graph::NodeDefPtr &def : added)
                replacement.push_back({result.add(def, {}), 0, 0});
            for (const Entry &entry : instead)
                replacement.push_back(now(entry));
            copies[id] = replacement.front().node;
            continue;
        }
        std::vector<Entry> inputs;
        for (const Entry &entry : graph.inputs(id))
            inputs.push_back(now(entry));
        std::vector<NodeId> dependencies;
        for (const NodeId dependency : graph.controlDependencies(id)) {
            if (dependency != gone)
                dependencies.push_back(copies[dependency]);
        }
        copies[id] = result.add(graph.sharedNode(id), inputs, dependencies);
    }
    std::vector<Entry> heads;
    for (const Entry &head : graph.heads())
        heads.push_back(now(head));
    result.setHeads(std::move(heads));
    return pruned(result);
}

class Shrinking
{
public:
    Shrinking(TypedCase given, const std::function<bool(const TypedCase &)> &fails)
        : m_best(std::move(given))
        , m_fails(fails)
    {
    }

    TypedCase run()
    {
        attempt(withoutArrays(m_best));
        for (bool smaller = true; smaller && m_tries < kMostTries;) {
            smaller = dropHeads();
            smaller = dropNodes() || smaller;
            smaller = simplifyPolicy() || smaller;
        }
        return m_best;
    }

private:
    static constexpr int kMostTries = 3000;

    bool attempt(TypedCase candidate)
    {
        if (++m_tries > kMostTries || !m_fails(candidate))
            return false;
        m_best = std::move(candidate);
        return true;
    }

    bool dropHeads()
    {
        bool smaller = false;
        for (std::size_t k = m_best.model.graph.heads().size(); k-- > 0;) {
            std::vector<Entry> heads(m_best.model.graph.heads().begin(), m_best.model.graph.heads().end());
            if (heads.size() == 1)
                break;
            heads.erase(heads.begin() + static_cast<std::ptrdiff_t>(k));
            TypedCase candidate = m_best;
            candidate.model.graph.setHeads(std::move(heads));
            candidate.model.graph = pruned(candidate.model.graph);
            smaller = attempt(std::move(candidate)) || smaller;
        }
        return smaller;
    }

    bool dropNodes()
    {
        bool smaller = false;
        for (NodeId id = static_cast<NodeId>(m_best.model.graph.nodeCount()); id-- > 0;) {
            if (id < m_best.model.graph.nodeCount() && !m_best.model.graph.isVariable(id))
                smaller = dropNode(id) || smaller;
        }
        return smaller;
    }

    bool dropNode(NodeId id)
    {
        const Graph graph = m_best.model.graph;
        Types variables(graph.nodeCount(), DType::Unknown);
        for (NodeId v = 0; v < graph.nodeCount(); ++v) {
            if (graph.isVariable(v))
                variables[v] = typeOfVariable(m_best, v);
        }
        const OracleTypes types = typesByOracle(graph, variables);
        for (const Entry &entry : graph.inputs(id)) {
            if (types.outputs[entry.node][entry.output] != types.outputs[id][0])
                continue;
            TypedCase candidate = m_best;
            candidate.model.graph = bypassed(graph, id, {entry}, {});
            if (attempt(std::move(candidate)))
                return true;
        }
        std::vector<graph::NodeDefPtr> data;
        TypedCase candidate = m_best;
        for (const DType type : types.outputs[id]) {
            const std::string name = "cut" + std::to_string(m_cuts++);
            data.push_back(dataOf(name, type));
            if (candidate.policy.dataNames)
                candidate.policy.dataNames->push_back(name);
        }
        candidate.model.graph = bypassed(graph, id, {}, data);
        return attempt(std::move(candidate));
    }

    template <class T>
    bool resetField(T Policy::*field)
    {
        TypedCase candidate = m_best;
        candidate.policy.*field = Policy().*field;
        return candidate.policy != m_best.policy && attempt(std::move(candidate));
    }

    template <class T>
    bool dropEntries(std::vector<T> &(*list)(Policy &))
    {
        bool smaller = false;
        for (std::size_t k = list(m_best.policy).size(); k-- > 0;) {
            TypedCase candidate = m_best;
            auto &entries = list(candidate.policy);
            entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(k));
            smaller = attempt(std::move(candidate)) || smaller;
        }
        return smaller;
    }

    bool simplifyPolicy()
    {
        const bool reset[]{resetField(&Policy::target),
                           resetField(&Policy::listVersion),
                           resetField(&Policy::excludedNames),
                           resetField(&Policy::moves),
                           resetField(&Policy::castParams),
                           resetField(&Policy::nodeOverrides),
                           resetField(&Policy::addedConditions),
                           resetField(&Policy::conditionalOps),
                           resetField(&Policy::keepIoTypes),
                           dropEntries<std::string>([](Policy & p) -> auto & { return p.excludedNames; }),
                           dropEntries<Policy::Move>([](Policy & p) -> auto & { return p.moves; })};
        bool smaller = std::ranges::find(reset, true) != std::end(reset);
        for (auto list : {&Policy::targetOps, &Policy::fp32Ops, &Policy::widestOps})
            smaller = resetField(list) || thinOut(list) || smaller;
        return trimDataNames() || smaller;
    }

    bool thinOut(std::optional<std::vector<std::string>> Policy::*list)
    {
        bool smaller = false;
        for (std::size_t k = (m_best.policy.*list) ? (m_best.policy.*list)->size() : 0; k-- > 0;) {
            TypedCase candidate = m_best;
            auto &entries = *(candidate.policy.*list);
            entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(k));
            smaller = attempt(std::move(candidate)) || smaller;
        }
        return smaller;
    }

    /// Names of data that are gone. No progress of its own.
    bool trimDataNames()
    {
        if (!m_best.policy.dataNames)
            return false;
        TypedCase candidate = m_best;
        std::erase_if(*candidate.policy.dataNames, [this](const std::string &name) {
            for (NodeId id = 0; id < m_best.model.graph.nodeCount(); ++id) {
                if (m_best.model.graph.node(id).name == name)
                    return false;
            }
            return true;
        });
        if (candidate.policy.dataNames != m_best.policy.dataNames)
            attempt(std::move(candidate));
        return false;
    }

    TypedCase m_best;
    const std::function<bool(const TypedCase &)> &m_fails;
    int m_tries = 0;
    int m_cuts = 0;
};

} // namespace

TypedCase shrunk(TypedCase given, const std::function<bool(const TypedCase &)> &fails)
{
    return Shrinking(std::move(given), fails).run();
}

void writeCase(const TypedCase &given, const std::string &prefix)
{
    std::ofstream(prefix + "-symbol.json") << io::writeSymbol(given.model.graph);
    std::ofstream(prefix + ".policy.json") << policy::writePolicy(given.policy);
}

TypedCase readCase(const std::string &prefix)
{
    std::vector<std::string> notes;
    auto graph = io::readSymbol(readFile(prefix + "-symbol.json"), notes);
    auto policy = policy::readPolicy(readFile(prefix + ".policy.json"));
    if (!graph.ok() || !policy.ok())
        qFatal("%s: %s", prefix.c_str(), (graph.ok() ? policy.error() : graph.error()).message().c_str());
    return {{std::move(graph).value(), {}, false}, std::move(policy).value()};
}

} // namespace halftone::test
