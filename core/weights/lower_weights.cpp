#include "core/weights/lower_weights.h"

#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/rewrite/conversion.h"
#include "core/rewrite/unique_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_set>

namespace halftone::weights {
namespace {

using dialect::WeightReader;
using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeId;
using policy::WeightForm;
using policy::WeightMethod;
using rewrite::kNoNode;
using tensor::DType;
using tensor::Tensor;
using Part = CodedMatrix::Part;

/// What decides a matrix's codes and how they lie.
using CodesKey = std::tuple<NodeId, bool, std::string, CodeLayout, DType>;

CodeLayout layoutOf(const PlannedMatrix &planned)
{
    if (planned.form == WeightForm::Operators)
        return CodeLayout::Packed;
    return planned.reader.outputsFirst ? CodeLayout::OutputsFirst : CodeLayout::InputsFirst;
}

/// Those of the source whose variables the graph still has.
std::vector<tensor::Array> keptParameters(const graph::Model &source, const Graph &graph)
{
    std::unordered_set<std::string_view> kept;
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.isVariable(id))
            kept.insert(graph.node(id).name);
    std::vector<tensor::Array> arrays;
    for (const tensor::Array &array : source.parameters)
        if (kept.contains(dialect::variableOf(source.graph, array.name)))
            arrays.push_back(array);
    return arrays;
}

class Lowering
{
public:
    Lowering(const graph::Model &model, const WeightsPlan &plan, WeightMethod method,
             const ChosenCodes &chosen, bool rounds)
        : m_model(model)
        , m_graph(model.graph)
        , m_dialect(dialect::of(model.graph))
        , m_plan(plan)
        , m_method(method)
        , m_chosen(chosen)
        , m_rounds(rounds)
        , m_planned(model.graph.nodeCount())
        , m_copies(model.graph.nodeCount(), kNoNode)
        , m_last(std::make_shared<LastCodes>())
    {
        for (const PlannedMatrix &planned : plan.matrices)
            m_planned[planned.node] = &planned;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            m_names.reserve(m_graph.node(id).name);
            for (const std::string &output : m_graph.node(id).outputs)
                m_names.reserve(output);
        }
    }

    LoweredModel run()
    {
        m_result.model.graph = Graph::like(m_graph);
        const std::vector<bool> isNeeded = neededNodes();
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            if (!isNeeded[id])
                continue;
            std::vector<Entry> inputs;
            for (const Entry &entry : m_graph.inputs(id))
                inputs.push_back({m_copies[entry.node], entry.output, entry.version});
            if (m_planned[id] != nullptr)
                addPlanned(*m_planned[id], std::move(inputs));
            else
                m_copies[id] = add(m_graph.sharedNode(id), inputs);
        }
        std::vector<Entry> heads;
        for (const Entry &head : m_graph.heads())
            heads.push_back({m_copies[head.node], head.output, head.version});
        m_result.model.graph.setHeads(std::move(heads));
        m_result.model.parameters = keptParameters(m_model, m_result.model.graph);
        std::ranges::move(m_added, std::back_inserter(m_result.model.parameters));
        m_result.model.hasParameters = true;
        m_result.skipped = m_plan.skipped;
        return std::move(m_result);
    }

private:
    NodeId add(graph::NodeDefPtr def, std::span<const Entry> inputs)
    {
        return m_result.model.graph.add(std::move(def), inputs);
    }

    /// All but what only led to weights that are codes now.
    std::vector<bool> neededNodes() const
    {
        const auto reached = [this](bool skipsWeights) {
            std::vector<bool> isReached(m_graph.nodeCount());
            for (const Entry &head : m_graph.heads())
                isReached[head.node] = true;
            for (NodeId id = static_cast<NodeId>(m_graph.nodeCount()); id-- > 0;) {
                const auto inputs = m_graph.inputs(id);
                for (std::size_t k = 0; isReached[id] && k < inputs.size(); ++k)
                    if (!skipsWeights || m_planned[id] == nullptr || m_planned[id]->reader.weights != k)
                        isReached[inputs[k].node] = true;
            }
            return isReached;
        };
        const std::vector<bool> before = reached(false);
        std::vector<bool> isNeeded = reached(true);
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            isNeeded[id] = isNeeded[id] || !before[id];
        return isNeeded;
    }

    Entry addParameter(const std::string &name, const Tensor &values)
    {
        tensor::Array array;
        array.name = m_names.take(name);
        array.shape = values.shape();
        array.values = values;
        const NodeId id
            = add(m_dialect.withDeclaredType(m_dialect.makeVariable(array.name), values.dtype()), {});
        m_added.push_back(std::move(array));
        return {id, 0, 0};
    }

    graph::NodeDefPtr named(const graph::NodeDefPtr &def)
    {
        auto own = std::make_shared<NodeDef>(*def);
        own->name = m_names.take(own->name);
        for (std::string &output : own->outputs)
            output = m_names.take(output);
        return own;
    }

    void addPlanned(const PlannedMatrix &planned, std::vector<Entry> inputs)
    {
        const NodeDef &node = m_graph.node(planned.node);
        const CodesKey key{planned.constant, planned.isTransposed, tensor::nameOf(planned.format),
                           layoutOf(planned), planned.type};
        const auto [place, isNew] = m_matrices.try_emplace(key);
        if (isNew)
            place->second.coded = codedMatrix(planned);
        Stored &stored = place->second;
        m_result.weights.push_back({node.name, node.op, planned.format, planned.form,
                                    m_chosen.contains(planned.node) ? WeightMethod::Gptq : m_method,
                                    stored.coded});
        if (planned.form == WeightForm::Operators && !m_rounds) {
            const std::vector<Entry> codes = codeEntries(planned, stored);
            std::vector<Entry> read{inputs[planned.reader.other]};
            read.insert(read.end(), codes.begin(), codes.end());
            const WeightMatrix &matrix = stored.coded->matrix();
            m_copies[planned.node]
                = add(m_plan.forms->makeOperator(node, planned.format, matrix.inputs, matrix.outputs), read);
            return;
        }
        if (!stored.decoded)
            stored.decoded = m_rounds ? roundedEntry(planned, stored) : decodedEntry(planned, stored);
        inputs[planned.reader.weights] = *stored.decoded;
        m_copies[planned.node] = add(m_graph.sharedNode(planned.node), inputs);
    }

    std::shared_ptr<const CodedMatrix> codedMatrix(const PlannedMatrix &planned) const
    {
        const auto chosen = m_chosen.find(planned.node);
        return chosen != m_chosen.end()
            ? chosen->second
            : std::make_shared<const CodedMatrix>(planned.matrix, encodeSettings(planned, m_method), m_last);
    }

    struct Stored
    {
        std::shared_ptr<const CodedMatrix> coded;
        std::vector<Entry> codes;
        std::optional<Entry> decoded;
    };

    std::string constantName(const PlannedMatrix &planned) const
    {
        return m_dialect.entryName(m_graph, {planned.constant, 0, 0});
    }

    /// Codes, scales and zero points.
    std::vector<Entry> codeEntries(const PlannedMatrix &planned, Stored &stored)
    {
        if (!stored.codes.empty())
            return stored.codes;
        const dialect::CodedPairs &pairs = *dialect::codedPairsOf(m_dialect);
        const std::string name = constantName(planned);
        stored.codes = {addParameter(pairs.codesName(name), stored.coded->tensorOf(Part::Codes)),
                        addParameter(pairs.scaleName(name), stored.coded->tensorOf(Part::Scales))};
        if (planned.format.hasZeroPoints())
            stored.codes.push_back(
                addParameter(pairs.zeroPointName(name), stored.coded->tensorOf(Part::ZeroPoints)));
        return stored.codes;
    }

    Entry decodedEntry(const PlannedMatrix &planned, Stored &stored)
    {
        std::vector<Entry> codes = codeEntries(planned, stored);
        const std::string name = constantName(planned);
        const bool isTwice = planned.format.kind == tensor::WeightFormat::Kind::NvFp4;
        if (isTwice) {
            const float scale = stored.coded->matrixScale();
            const auto bytes = std::as_bytes(std::span(&scale, 1));
            const std::array<Entry, 2> scales{
                codes[1],
                addParameter(name + "_matrix_scale",
                             Tensor::owning(DType::F32, tensor::Shape(std::vector<std::int64_t>()),
                                            {bytes.begin(), bytes.end()}))};
            codes[1] = {add(named(m_plan.forms->makeScaleDecode(name)), scales), 0, 0};
        }
        const bool isByInputs = layoutOf(planned) == CodeLayout::InputsFirst;
        const std::size_t axis = planned.format.isPerChannel() == isByInputs ? 1 : 0;
        const NodeId decode
            = add(named(m_plan.forms->makeDecode(name, axis, planned.format, planned.type)), codes);
        if (!isTwice || planned.type == DType::F32)
            return {decode, 0, 0};
        const std::array<Entry, 1> real{Entry{decode, 0, 0}};
        return {add(named(m_dialect.makeCast(name + "_decoded", planned.type)), real), 0, 0};
    }

    /// What codes stand for, as the node reads it.
    Entry roundedEntry(const PlannedMatrix &planned, const Stored &stored)
    {
        const Tensor values = stored.coded->rounded();
        Entry entry = addParameter(constantName(planned) + "_rounded", values);
        const auto inputs = m_graph.inputs(planned.node);
        if (planned.isTransposed)
            entry = {add(named(transposeBefore(inputs[planned.reader.weights])), std::array{entry}), 0, 0};
        return entry;
    }

    graph::NodeDefPtr transposeBefore(Entry entry) const
    {
        while (!m_plan.forms->isTranspose(m_graph.node(entry.node)))
            entry = m_graph.inputs(entry.node)[0];
        return m_graph.sharedNode(entry.node);
    }

    const graph::Model &m_model;
    const Graph &m_graph;
    const dialect::Dialect &m_dialect;
    const WeightsPlan &m_plan;
    WeightMethod m_method;
    const ChosenCodes &m_chosen;
    bool m_rounds;
    std::vector<const PlannedMatrix *> m_planned; ///< by NodeId
    std::vector<NodeId> m_copies; ///< likewise
    std::shared_ptr<LastCodes> m_last;
    std::map<CodesKey, Stored> m_matrices;
    rewrite::UniqueNames m_names;
    std::vector<tensor::Array> m_added;
    LoweredModel m_result;
};

/// fails: BadCall for a method that needs data
Result<WeightMethod> methodOf(const WeightsRequest &request)
{
    const WeightMethod method = request.method.value_or(WeightMethod::LeastSquares);
    if (method == WeightMethod::Gptq)
        return badCall(Field::WeightMethod, "gptq needs data to multiply",
                       "; quantize with inputs, or choose mse");
    return method;
}

} // namespace

EncodeSettings encodeSettings(const PlannedMatrix &planned, WeightMethod method)
{
    EncodeSettings settings;
    settings.format = planned.format;
    settings.layout = layoutOf(planned);
    settings.scaleType = planned.format.kind == tensor::WeightFormat::Kind::NvFp4 ? DType::F32 : planned.type;
    settings.searches = method != WeightMethod::Nearest;
    return settings;
}

Result<LoweredModel> lowerPlanned(const graph::Model &model, const WeightsPlan &plan, WeightMethod method,
                                  const ChosenCodes &chosen)
{
    const dialect::Dialect &own = dialect::of(model.graph);
    graph::Model source = model;
    if (plan.version > own.versionNumber()) {
        HALFTONE_TRY(const auto raised, own.raised(model.graph, DType::F32, plan.version));
        if (raised)
            source.graph = raised->graph;
    }
    LoweredModel result = Lowering(source, plan, method, chosen, false).run();
    if (source.graph.dialect() != &own)
        result.notes.push_back(std::string(own.version()) + " raised to "
                               + std::string(dialect::of(source.graph).version()) + ": " + plan.why
                               + " needs it");
    return result;
}

Result<LoweredModel> lowerWeights(const graph::Model &model, const WeightsRequest &request,
                                  const graph::Model *originals)
{
    HALFTONE_TRY(const WeightMethod method, methodOf(request));
    HALFTONE_TRY(const WeightsPlan plan, planWeights(model, request, originals));
    return lowerPlanned(model, plan, method);
}

Result<LoweredModel> roundWeights(const graph::Model &model, const WeightsRequest &request)
{
    WeightsRequest rounding = request;
    rounding.isForAnalysis = true;
    HALFTONE_TRY(const WeightMethod method, methodOf(request));
    HALFTONE_TRY(const WeightsPlan plan, planWeights(model, rounding));
    return Lowering(model, plan, method, {}, true).run();
}

double bitsPerWeight(const std::vector<LoweredWeights> &weights)
{
    constexpr double kBitsOfByte = 8;
    std::unordered_set<const CodedMatrix *> counted;
    double bits = 0;
    double elements = 0;
    for (const LoweredWeights &one : weights) {
        if (!counted.insert(one.matrix.get()).second)
            continue;
        bits += kBitsOfByte * static_cast<double>(one.matrix->storedBytes());
        elements += static_cast<double>(one.matrix->matrix().values.elementCount());
    }
    return elements > 0 ? bits / elements : 0;
}

} // namespace halftone::weights
