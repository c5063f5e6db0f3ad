#include "core/rewrite/inline_calls.h"

#include "core/dialect/dialect.h"
#include "core/dialect/own_calls.h"
#include "core/graph/traverse.h"
#include "core/infer/body_binding.h"
#include "core/rewrite/rebuild.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

namespace halftone::rewrite {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeId;

constexpr int kDeepest = 16; ///< calls in the bodies of calls

enum class Kind
{
    Other, ///< its bodies are looked through
    Call,
    Kept ///< a call that is not asked for, or whose body only stands for what it gives
};

Kind kindOf(const Graph &graph, NodeId id, InlinedCalls which)
{
    if (graph.node(id).subgraphs.size() != 1)
        return Kind::Other;
    const auto op = dialect::of(graph).read(graph.node(id));
    const auto *const flow = op.ok() ? op.value().getIf<ops::ControlFlow>() : nullptr;
    if (flow == nullptr || flow->kind != ops::ControlFlow::Kind::Call)
        return Kind::Other;
    if (which == InlinedCalls::OfTheModel && !dialect::callsOwnFunction(graph.node(id)))
        return Kind::Kept;
    return flow->outputs == 0 && !graph.node(id).subgraphs[0]->heads().empty() ? Kind::Kept : Kind::Call;
}

struct Calls
{
    std::size_t count = 0;
    int version = 0; ///< the newest that their bodies are of
};

/// Of the graph and of the bodies of control flow in it.
void countCalls(const Graph &graph, InlinedCalls which, Calls &calls)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const Kind kind = kindOf(graph, id, which);
        if (kind == Kind::Kept)
            continue;
        for (const auto &body : graph.node(id).subgraphs) {
            if (kind == Kind::Other) {
                countCalls(*body, which, calls);
                continue;
            }
            ++calls.count;
            calls.version = std::max(calls.version, dialect::of(*body).versionNumber());
        }
    }
}

Result<Graph> inVersion(const Graph &graph, int version)
{
    if (dialect::of(graph).versionNumber() >= version)
        return graph;
    HALFTONE_TRY(std::optional<dialect::Raised> raised,
                 dialect::of(graph).raised(graph, tensor::DType::F32, version));
    if (raised)
        return std::move(raised->graph);
    return graph;
}

class Inliner
{
public:
    Inliner(const Graph &source, InlinedCalls which)
        : m_source(source)
        , m_which(which)
        , m_rebuild(source)
    {
        for (NodeId id = 0; id < source.nodeCount(); ++id)
            m_names.insert(source.node(id).name);
    }

    Result<Graph> run()
    {
        for (const NodeId id : m_rebuild.order()) {
            if (kindOf(m_source, id, m_which) == Kind::Call)
                HALFTONE_CHECK(unfold(id));
            else
                HALFTONE_CHECK(keep(id));
        }
        return m_rebuild.finish();
    }

private:
    Result<void> keep(NodeId id)
    {
        const graph::NodeDefPtr &node = m_source.sharedNode(id);
        if (node->subgraphs.empty() || kindOf(m_source, id, m_which) == Kind::Kept) {
            m_rebuild.keep(id);
            return {};
        }
        auto def = std::make_shared<graph::NodeDef>(*node);
        for (auto &body : def->subgraphs) {
            Calls calls;
            countCalls(*body, m_which, calls);
            if (calls.count == 0)
                continue;
            HALFTONE_TRY(Graph made, Inliner(*body, m_which).run());
            body = std::make_shared<const Graph>(std::move(made));
        }
        const NodeId kept = m_rebuild.keep(id);
        m_rebuild.graph().redefine(kept, std::move(def));
        return {};
    }

    Result<void> unfold(NodeId id)
    {
        const graph::NodeDef &call = m_source.node(id);
        const std::vector<Entry> inputs = m_rebuild.inputsOf(id);
        HALFTONE_TRY(const infer::BodyBinding binding,
                     infer::bindBodies(m_source, id, call.subgraphs[0]->heads().size()));
        HALFTONE_TRY(const Graph body, inVersion(*call.subgraphs[0], dialect::of(m_source).versionNumber()));
        std::vector<Entry> firsts(body.nodeCount());
        for (const infer::BoundBody::Tie &tie : binding.bodies[0].ties)
            firsts[tie.variable] = inputs[tie.input];
        const auto now = [&](const Entry &entry) {
            Entry first = firsts[entry.node];
            first.output += body.isVariable(entry.node) ? 0 : entry.output;
            return first;
        };
        for (const NodeId node : graph::postOrder(body)) {
            if (body.isVariable(node))
                continue;
            std::vector<Entry> reads;
            for (const Entry &entry : body.inputs(node))
                reads.push_back(now(entry));
            firsts[node] = {m_rebuild.graph().add(named(call, body, node), reads), 0, 0};
        }
        std::vector<Entry> heads;
        for (const Entry &head : body.heads())
            heads.push_back(now(head));
        m_rebuild.replace(id, std::move(heads));
        return {};
    }

    /// A node of the body, whose values are called as the call calls them where it gives them on.
    graph::NodeDefPtr named(const graph::NodeDef &call, const Graph &body, NodeId node)
    {
        auto def = std::make_shared<graph::NodeDef>(body.node(node));
        const std::string prefix = call.name + '/';
        const std::string wanted = prefix + def->name;
        def->name = wanted;
        for (int k = 1; !m_names.insert(def->name).second; ++k)
            def->name = wanted + '_' + std::to_string(k);
        for (std::string &output : def->outputs)
            if (!output.empty())
                output.insert(0, prefix);
        const auto heads = body.heads();
        for (std::size_t k = std::min(heads.size(), call.outputs.size()); k-- > 0;)
            if (heads[k].node == node && heads[k].output < def->outputs.size() && !call.outputs[k].empty())
                def->outputs[heads[k].output] = call.outputs[k];
        return def;
    }

    const Graph &m_source;
    InlinedCalls m_which;
    Rebuild m_rebuild;
    std::unordered_set<std::string> m_names;
};

} // namespace

Result<Rewritten> inlineCalls(const graph::Model &model, const Progress &progress)
{
    return inlineCalls(model, InlinedCalls::All, progress);
}

Result<Rewritten> inlineCalls(const graph::Model &model, InlinedCalls which, const Progress &progress)
{
    Rewritten result{model, 0, {}};
    for (int depth = 0; depth < kDeepest;
         ++depth) { // functions of another version may be called in functions
        HALFTONE_CHECK(progress.checkStop());
        Calls calls;
        countCalls(result.model.graph, which, calls);
        if (calls.count == 0)
            break;
        result.changed += calls.count;
        HALFTONE_TRY(const Graph raised, inVersion(result.model.graph, calls.version));
        HALFTONE_TRY(result.model.graph, Inliner(raised, which).run());
    }
    return result;
}

} // namespace halftone::rewrite
