#include "core/weights/plan_weights.h"

#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/dialect/overridable.h"
#include "core/infer/stored_types.h"
#include "core/weights/rule_matcher.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace halftone::weights {
namespace {

using dialect::WeightReader;
using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeId;
using policy::WeightForm;
using tensor::DType;
using tensor::Tensor;
using tensor::WeightFormat;
using ReaderKind = WeightReader::Kind;

using Values = std::unordered_map<std::string_view, const Tensor *>;

Values valuesOf(const graph::Model &model)
{
    Values values;
    for (const tensor::Array &array : model.parameters)
        if (array.storage == tensor::Storage::Dense && array.values.dtype() != DType::Unknown)
            values.insert_or_assign(dialect::variableOf(model.graph, array.name), &array.values);
    return values;
}

bool isStoredReal(DType type)
{
    return type == DType::F32 || tensor::isHalf(type);
}

class WeightsPlanner
{
public:
    WeightsPlanner(const graph::Model &model, const WeightsRequest &request, const graph::Model *originals)
        : m_graph(model.graph)
        , m_dialect(dialect::of(model.graph))
        , m_request(request)
        , m_values(valuesOf(model))
        , m_originals(originals != nullptr ? valuesOf(*originals) : Values())
    {
    }

    Result<WeightsPlan> run()
    {
        const dialect::CodedPairs *const pairs = dialect::codedPairsOf(m_dialect);
        m_plan.forms = pairs != nullptr ? pairs->weightForms() : nullptr;
        if (m_plan.forms == nullptr)
            return unsupported({}, "weights of a model of format " + std::string(m_dialect.title()),
                               "a model of a format that stores weights as codes; convert it first");
        for (const policy::WeightRule &rule : m_request.rules)
            HALFTONE_CHECK(checkFormat(rule));
        HALFTONE_TRY(const RuleMatcher matcher, RuleMatcher::create(m_request.rules, m_graph));
        HALFTONE_CHECK(inferTypes());
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            if (!m_graph.isVariable(id))
                take(id, matcher);
        return finish();
    }

private:
    Result<void> checkFormat(const policy::WeightRule &rule) const
    {
        if (!rule.format || m_request.isForAnalysis)
            return {};
        const std::string name = tensor::nameOf(*rule.format);
        if (m_plan.forms->versionFor(*rule.format) == 0)
            return badCall(Field::Weights, name + " is not stored in " + std::string(m_dialect.title()),
                           "; compare measures it, and uint4/32 is stored");
        if (m_request.form == WeightForm::Operators
            && !m_plan.forms->hasOperator(*rule.format, ReaderKind::Product))
            return badCall(Field::WeightForm, name + " has no operator on codes", "; qdq works");
        return {};
    }

    Result<void> inferTypes()
    {
        HALFTONE_TRY(m_types, infer::storedTypes(m_graph, [this](NodeId id) {
                         const auto held = m_values.find(m_graph.node(id).name);
                         return held != m_values.end() ? held->second->dtype() : DType::Unknown;
                     }));
        return {};
    }

    Result<WeightsPlan> finish()
    {
        const bool isAsked = std::ranges::any_of(
            m_request.rules, [](const policy::WeightRule &rule) { return rule.format.has_value(); });
        if (isAsked && m_plan.matrices.empty()) {
            if (m_plan.skipped.empty())
                return unsupported({}, "no product with constant weights that the rules name",
                                   "a model with MatMul or Gemm by constant matrices");
            const quantize::SkippedNode &first = m_plan.skipped.front();
            return unsupported(first.name, "no weights are left to store as codes: " + first.why);
        }
        return std::move(m_plan);
    }

    void take(NodeId id, const RuleMatcher &matcher)
    {
        const NodeDef &node = m_graph.node(id);
        const auto reader = m_plan.forms->readerOf(node);
        const bool isProduct
            = reader && (reader->kind == ReaderKind::Product || reader->kind == ReaderKind::Layer);
        const policy::WeightRule *const rule = matcher.ruleOf(node, isProduct);
        if (rule == nullptr || !rule->format)
            return;
        PlannedMatrix planned;
        planned.node = id;
        planned.format = *rule->format;
        std::string why = reader ? std::string() : "no operator whose weights are stored apart";
        if (reader) {
            planned.reader = *reader;
            why = plan(planned);
        }
        if (!why.empty()) {
            m_plan.skipped.push_back({node.name, node.op, std::move(why), id});
            return;
        }
        require(planned);
        m_plan.matrices.push_back(std::move(planned));
    }

    void require(const PlannedMatrix &planned)
    {
        const int version = planned.form == WeightForm::Pairs ? m_plan.forms->versionFor(planned.format) : 0;
        if (version > m_plan.version)
            m_plan.why = tensor::nameOf(planned.format);
        m_plan.version = std::max(m_plan.version, version);
    }

    /// Fills it in, or says why not.
    std::string plan(PlannedMatrix &planned) const
    {
        const auto inputs = m_graph.inputs(planned.node);
        if (inputs.size() <= planned.reader.weights)
            return "reads no weights";
        planned.type = m_types.of(inputs[planned.reader.weights]);
        if (std::string why = findConstant(planned); !why.empty())
            return why;
        if (std::string why = findExtents(planned); !why.empty())
            return why;
        planned.form = m_request.form.value_or(WeightForm::Operators) == WeightForm::Operators
                && m_plan.forms->hasOperator(planned.format, planned.reader.kind)
            ? WeightForm::Operators
            : WeightForm::Pairs;
        return whyNot(planned);
    }

    /// The node that holds the matrix, behind casts and transposes.
    std::string findConstant(PlannedMatrix &planned) const
    {
        Entry entry = m_graph.inputs(planned.node)[planned.reader.weights];
        while (!m_graph.isVariable(entry.node) && !m_graph.inputs(entry.node).empty()) {
            const NodeDef &node = m_graph.node(entry.node);
            const dialect::CodedPairs &pairs = *dialect::codedPairsOf(m_dialect);
            if (pairs.isDecode(node))
                return "its weights are codes already";
            if (m_plan.forms->isTranspose(node))
                planned.isTransposed = !planned.isTransposed;
            else if (m_dialect.role(node) != dialect::NodeRole::Cast)
                return "its weights are not constant";
            entry = m_graph.inputs(entry.node)[0];
        }
        planned.constant = entry.node;
        const NodeDef &node = m_graph.node(entry.node);
        if (!node.isVariable()) {
            const auto held = m_dialect.constantOf(node);
            if (!held.ok() || !held.value())
                return "its weights are not constant";
            planned.matrix.values = *held.value();
            return {};
        }
        const auto held = m_values.find(node.name);
        if (held == m_values.end() || dialect::isOverridable(m_graph, entry.node))
            return "its weights are not constant";
        planned.matrix.values = *held->second;
        if (const auto before = m_originals.find(node.name);
            before != m_originals.end() && before->second->shape() == held->second->shape())
            planned.matrix.values = *before->second;
        return {};
    }

    std::string findExtents(PlannedMatrix &planned) const
    {
        const tensor::Shape &shape = planned.matrix.values.shape();
        const bool isFilters = planned.reader.kind == ReaderKind::Filters;
        if (isFilters ? shape.rank() < 2 || planned.isTransposed : shape.rank() != 2)
            return "its weights have the shape " + shape.toString() + ", not that of a matrix";
        if (shape.elementCount().value_or(0) == 0)
            return "its weights are empty";
        planned.matrix.outputsFirst = planned.reader.outputsFirst != planned.isTransposed;
        const auto outputs = shape[planned.matrix.outputsFirst ? 0 : 1];
        planned.matrix.outputs = outputs;
        planned.matrix.inputs = shape.elementCount().value_or(0) / outputs;
        return {};
    }

    std::string whyNot(const PlannedMatrix &planned) const
    {
        const WeightMatrix &matrix = planned.matrix;
        const WeightFormat &format = planned.format;
        if (!isStoredReal(matrix.values.dtype()) || !isStoredReal(planned.type))
            return "its weights are of type " + std::string(tensor::nameOf(matrix.values.dtype()));
        if (planned.reader.kind == ReaderKind::Filters && !format.isPerChannel())
            return "the filters of a convolution have no blocks; int8/channel works";
        if (!format.isPerChannel() && matrix.inputs < format.block)
            return "K is " + std::to_string(matrix.inputs) + ", less than the block of "
                + std::to_string(format.block) + "; " + nearestTo(format, matrix.inputs) + " works";
        if (!std::isfinite(largestOf(matrix)))
            return "its weights have NaN or infinity";
        return {};
    }

    /// The same codes in a block that `inputs` fill.
    static std::string nearestTo(WeightFormat format, std::int64_t inputs)
    {
        constexpr std::int64_t kLeastBlock = 16;
        format.block = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(inputs)));
        if (!format.isInteger())
            return "fp8_e4m3/channel";
        if (format.block < kLeastBlock)
            format.block = WeightFormat::kChannel;
        return tensor::nameOf(format);
    }

    const Graph &m_graph;
    const dialect::Dialect &m_dialect;
    const WeightsRequest &m_request;
    Values m_values;
    Values m_originals;
    infer::TypeMap m_types;
    WeightsPlan m_plan;
};

} // namespace

WeightsRequest weightsOf(const policy::Policy &policy)
{
    return {policy.weights, policy.weightMethod, policy.weightForm};
}

void keep(WeightsRequest &request, const std::vector<std::string> &targets)
{
    for (const std::string &target : targets)
        request.rules.push_back({target, std::nullopt});
}

Result<WeightsPlan> planWeights(const graph::Model &model, const WeightsRequest &request,
                                const graph::Model *originals)
{
    return WeightsPlanner(model, request, originals).run();
}

} // namespace halftone::weights
