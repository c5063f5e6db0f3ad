#include "core/session/for_runtime.h"

#include "core/dialect/dialect.h"
#include "core/infer/stored_types.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace halftone::session {
namespace {

using runtimes::KernelAnswer;
using runtimes::KernelTable;

std::string whyNot(const KernelTable &table, const std::string &op, tensor::DType target,
                   const KernelAnswer &answer)
{
    std::string why
        = table.titleAndVersion() + " has no " + std::string(tensor::nameOf(target)) + " kernel for " + op;
    if (answer.kind == KernelAnswer::Kind::Otherwise)
        why += " and computes it in " + std::string(tensor::nameOf(answer.type));
    return why;
}

/// Answers for the operators of one graph, each asked for once.
class Fit
{
public:
    enum class Asked : std::uint8_t
    {
        Native, ///< computes in the target type
        Accepted ///< computes it, in whatever type
    };

    Fit(const KernelTable &table, const graph::Graph &graph, tensor::DType target, Asked asked)
        : m_table(table)
        , m_graph(graph)
        , m_target(target)
        , m_asked(asked)
        , m_whole(neededFor([&graph](const graph::Graph &of, graph::NodeId) { return &of == &graph; }))
    {
    }

    /// Why the node must stay in float32; empty: it need not.
    const std::string &reason(graph::NodeId id)
    {
        const auto [place, isNew] = m_reasons.try_emplace(m_graph.node(id).op);
        if (isNew)
            place->second = reasonOf(id);
        return place->second;
    }

private:
    std::string reasonOf(graph::NodeId id) const
    {
        int version = neededFor(
            [&](const graph::Graph &graph, graph::NodeId node) { return &graph == &m_graph && node == id; });
        const std::string &op = m_graph.node(id).op;
        if (version > m_table.opset)
            return std::string(tensor::nameOf(m_target)) + " in " + op + " needs opset "
                + std::to_string(version) + ", and " + m_table.titleAndVersion() + " reads up to "
                + std::to_string(m_table.opset);
        if (m_whole <= m_table.opset)
            version = m_whole; // others raise this one, too
        // Parameters stay in float32 where the operator lets them.
        const KernelAnswer answer = m_table.answer(op, version, m_target, true);
        const bool isLeft = m_asked == Asked::Native ? answer.isMissing() : answer.isRefused();
        return isLeft ? whyNot(m_table, op, m_target, answer) : std::string();
    }

    int neededFor(const dialect::IsLowered &isLowered) const
    {
        const dialect::Dialect &dialect = dialect::of(m_graph);
        return std::max(dialect.versionNumber(), dialect.neededVersion(m_graph, m_target, isLowered).number);
    }

    const KernelTable &m_table;
    const graph::Graph &m_graph;
    tensor::DType m_target;
    Asked m_asked;
    int m_whole; ///< the version that all together need
    std::map<std::string, std::string> m_reasons; ///< by operator
};

/// Does a node read or give float32, which a conversion would lower?
bool isReal(const graph::Graph &graph, const infer::TypeMap &types, graph::NodeId id)
{
    const auto isWide = [](tensor::DType type) { return type == tensor::DType::F32; };
    return std::ranges::any_of(types.outputs(id), isWide)
        || std::ranges::any_of(graph.inputs(id),
                               [&](const graph::Entry &input) { return isWide(types.of(input)); });
}

/// Those that a conversion would lower and that do not fit. Overrides of single nodes stay.
Result<std::vector<LeftNode>> unfitNodes(const KernelTable &table, const graph::Model &model,
                                         const policy::Policy &policy, Fit::Asked asked)
{
    const graph::Graph &graph = model.graph;
    HALFTONE_TRY(const infer::TypeMap types, infer::storedTypes(model, policy));
    std::vector<policy::Warning> told; // by the conversion
    const auto named = policy::matchNames(policy, graph, told);
    if (!named.ok())
        return inField(named.error(), Field::Policy);
    Fit fit(table, graph, policy.target, asked);
    std::vector<LeftNode> left;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        if (graph.isVariable(id) || named.value().overrides.contains(id) || !isReal(graph, types, id))
            continue;
        if (const std::string &why = fit.reason(id); !why.empty())
            left.push_back({node.name, node.op, why});
    }
    return left;
}

} // namespace

Result<const KernelTable *> runtimeFor(std::string_view name, const graph::Graph &graph)
{
    const KernelTable *const table = runtimes::kernelTableOf(name);
    if (table == nullptr)
        return unsupported(std::string(name), "no kernels are known of this runtime");
    if (!runtimes::areOfRuntimes(graph))
        return unsupported(table->title,
                           "does not read " + std::string(dialect::of(graph).title()) + " models",
                           runtimes::handedFormatHint());
    return table;
}

Result<void> checkOpset(const KernelTable &table, const graph::Graph &graph)
{
    const int version = dialect::of(graph).versionNumber();
    if (version <= table.opset)
        return {};
    return unsupported("opset " + std::to_string(version),
                       table.titleAndVersion() + " reads models up to opset " + std::to_string(table.opset));
}

Result<void> checkWritten(std::string_view name, const graph::Graph &graph)
{
    if (name.empty())
        return {};
    HALFTONE_TRY(const KernelTable *const table, runtimeFor(name, graph));
    return checkOpset(*table, graph);
}

std::string documentedNote(const KernelTable &table)
{
    return table.isDocumented
        ? table.titleAndVersion() + " was not run: what it computes is taken from its documents"
        : std::string();
}

Result<std::vector<LeftNode>> fitPolicy(const KernelTable &table, const graph::Model &model,
                                        policy::Policy &policy)
{
    HALFTONE_CHECK(checkOpset(table, model.graph));
    HALFTONE_TRY(std::vector<LeftNode> left, unfitNodes(table, model, policy, Fit::Asked::Native));
    for (const LeftNode &node : left)
        policy.excludedNames.push_back(node.name);
    return left;
}

Result<std::vector<LeftNode>> refusedNodes(std::string_view backend, const graph::Model &model,
                                           const policy::Policy &policy)
{
    const KernelTable *const table = runtimes::kernelTableOf(backend);
    if (table == nullptr || !runtimes::areOfRuntimes(model.graph))
        return std::vector<LeftNode>();
    return unfitNodes(*table, model, policy, Fit::Asked::Accepted);
}

std::vector<std::string> fitQuantization(const KernelTable &table, quantize::QuantizeOptions &options)
{
    std::vector<std::string> notes;
    if (options.asOperators && !(options.perChannel ? table.takesChannelCodes : table.takesOperatorCodes)) {
        options.asOperators = false;
        notes.push_back(
            table.titleAndVersion() + " refuses integer operators"
            + (options.perChannel && table.takesOperatorCodes ? " with a scale for each channel" : "")
            + ": written as pairs of QuantizeLinear and DequantizeLinear");
    }
    if (table.isSymmetric) {
        if (options.codes != quantize::QuantizedCodes::Int8)
            notes.push_back(table.titleAndVersion() + " takes zero points of 0 only: activations are int8");
        options.codes = quantize::QuantizedCodes::Int8;
        options.keepsBiases = true;
    }
    return notes;
}

} // namespace halftone::session
