#include "core/infer/cpu_defects.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace halftone::infer {
namespace {

using dialect::Bfloat16Way;
using graph::Graph;
using graph::NodeId;
using tensor::DType;

/// Reads an operator once where its attributes make no difference.
class Bfloat16Ways
{
public:
    Bfloat16Ways(const dialect::Dialect &dialect, const dialect::Arithmetic &arithmetic)
        : m_dialect(dialect)
        , m_arithmetic(arithmetic)
    {
    }

    Bfloat16Way of(const graph::NodeDef &node)
    {
        const auto known = m_known.find(node.op);
        if (known != m_known.end())
            return known->second;
        const auto op = m_dialect.read(node);
        if (!op.ok())
            return Bfloat16Way::Rounds;
        const Bfloat16Way way = m_arithmetic.bfloat16Way(op.value());
        const bool hasKinds = op.value().is<ops::Activation>() || op.value().is<ops::LeakyRelu>()
            || op.value().is<ops::Pool>();
        if (!hasKinds)
            m_known.emplace(node.op, way);
        return way;
    }

private:
    const dialect::Dialect &m_dialect;
    const dialect::Arithmetic &m_arithmetic;
    std::unordered_map<std::string_view, Bfloat16Way> m_known;
};

bool mayBeCode(DType type)
{
    return type == DType::I8 || type == DType::U8 || type == DType::Unknown;
}

} // namespace

std::vector<CpuDefect> cpuDefects(const Graph &graph, const TypeMap &types)
{
    std::vector<CpuDefect> defects;
    const dialect::Dialect &dialect = dialect::of(graph);
    const dialect::Arithmetic *const arithmetic = dialect.arithmetic();
    if (arithmetic == nullptr)
        return defects;
    Bfloat16Ways ways(dialect, *arithmetic);
    std::vector<DType> inputs;
    for (const NodeId id : graph::postOrder(graph)) {
        if (graph.isVariable(id))
            continue;
        inputs.clear();
        for (const graph::Entry &entry : graph.inputs(id))
            inputs.push_back(types.of(entry));
        const auto outputs = types.outputs(id);
        CpuDefect defect{id, {}};
        if (std::ranges::any_of(inputs, mayBeCode) || std::ranges::any_of(outputs, mayBeCode))
            defect.int8 = arithmetic->int8Defect(graph.node(id), inputs, outputs);
        if (std::ranges::find(inputs, DType::BF16) != inputs.end())
            defect.bfloat16 = ways.of(graph.node(id));
        if (defect.int8 || defect.bfloat16 != Bfloat16Way::Rounds)
            defects.push_back(std::move(defect));
    }
    return defects;
}

std::vector<policy::Warning> cpuWarnings(const Graph &graph, const std::vector<CpuDefect> &defects)
{
    std::vector<policy::Warning> warnings;
    if (defects.empty())
        return warnings;
    const std::string runtime(dialect::of(graph).arithmetic()->title());
    std::vector<std::string> cut;
    for (const CpuDefect &defect : defects) {
        const graph::NodeDef &node = graph.node(defect.node);
        const std::string place = "node \"" + node.name + '"';
        if (defect.int8)
            warnings.push_back({place, defect.int8->text + " (" + runtime + ")"});
        else if (defect.bfloat16 == Bfloat16Way::Refused)
            warnings.push_back(
                {place, node.op + " cannot run in bfloat16 in " + runtime + "; keep it in float32"});
        else
            cut.push_back(node.name);
    }
    if (!cut.empty())
        warnings.push_back({"bfloat16",
                            runtime + " truncates results that are rounded here, for "
                                + std::to_string(cut.size()) + (cut.size() == 1 ? " node: " : " nodes: ")
                                + joined(cut, 4)
                                + "; figures here follow the operators' definition, which rounds"});
    return warnings;
}

} // namespace halftone::infer
