#include "core/quantize/pair_plan.h"

#include "core/dialect/dialect.h"
#include "core/dialect/overridable.h"
#include "core/graph/traverse.h"
#include "core/infer/stored_types.h"
#include "core/quantize/quantize_choice.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::quantize {
namespace {

using dialect::CodedSupport;
using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeId;
using tensor::DType;

class PairPlanner
{
public:
    PairPlanner(const graph::Model &model, const Constants &constants, const QuantizeOptions &options,
                const QuantizedRanges *ranges)
        : m_graph(model.graph)
        , m_dialect(dialect::of(model.graph))
        , m_constants(constants)
        , m_options(options)
        , m_ranges(ranges)
        , m_readers(model.graph.nodeCount())
        , m_why(model.graph.nodeCount())
    {
        m_plan.forms = dialect::codedPairsOf(m_dialect);
        m_plan.supports.resize(m_graph.nodeCount());
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            for (const Entry &entry : m_graph.inputs(id))
                m_readers[entry.node].push_back(id);
        for (const Entry &head : m_graph.heads())
            m_readers[head.node].push_back(kHead);
    }

    Result<PairPlan> run()
    {
        HALFTONE_CHECK(inferTypes());
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            if (isOperator(id))
                m_why[id] = findProduct(id);
        HALFTONE_CHECK(findNorms());
        findSupports();
        findTables();
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            takeNode(id);
        return std::move(m_plan);
    }

private:
    static constexpr NodeId kHead = std::numeric_limits<NodeId>::max();

    Result<void> inferTypes()
    {
        HALFTONE_TRY(m_types, infer::storedTypes(m_graph, [this](NodeId id) {
                         const auto held = m_constants.find(id);
                         return held != m_constants.end() ? held->second.dtype() : DType::Unknown;
                     }));
        return {};
    }

    bool isConstant(const Entry &entry) const { return m_constants.contains(entry.node); }
    bool isOperator(NodeId id) const { return !m_graph.isVariable(id) && !m_constants.contains(id); }
    bool isReal(const Entry &entry) const { return m_types.of(entry) == DType::F32; }
    bool isProduct(NodeId id) const { return m_plan.products.contains(id); }
    /// The only reader of a node's only value; nothing where there are others.
    std::optional<NodeId> onlyReader(NodeId id) const
    {
        if (m_readers[id].size() != 1 || m_readers[id].front() == kHead)
            return std::nullopt;
        return m_readers[id].front();
    }

    /// The value that this one was moved from, as far as codes stay the same.
    Entry rootOf(Entry entry) const
    {
        while (isOperator(entry.node) && m_plan.supports[entry.node]
               && m_plan.forms->supportOf(m_graph.node(entry.node)) == CodedSupport::Moves)
            entry = m_graph.inputs(entry.node)[0];
        return entry;
    }

    /// What the range of a value is called: that of what it was moved from, or its own; nothing where there is none.
    std::optional<std::string> rangeNameOf(const Entry &entry) const
    {
        std::string root = m_dialect.entryName(m_graph, rootOf(entry));
        if (m_ranges == nullptr || m_ranges->contains(root))
            return root;
        for (Entry from = entry;; from = m_graph.inputs(from.node)[0]) {
            std::string name = m_dialect.entryName(m_graph, from);
            if (m_ranges->contains(name))
                return name;
            if (!isOperator(from.node)
                || m_plan.forms->supportOf(m_graph.node(from.node)) != CodedSupport::Moves)
                return std::nullopt;
        }
    }

    bool isKnown(const Entry &entry) const { return rangeNameOf(entry).has_value(); }

    /// isKnown(), and where it is not, that is told.
    bool isFound(const Entry &entry)
    {
        if (isKnown(entry))
            return true;
        const std::string name = m_dialect.entryName(m_graph, entry);
        if (std::ranges::find(m_plan.missing, name) == m_plan.missing.end())
            m_plan.missing.push_back(name);
        return false;
    }

    void takeValue(const Entry &entry, bool isResult)
    {
        const auto [place, isNew] = m_plan.data.try_emplace({entry.node, entry.output});
        if (isNew)
            place->second.name = *rangeNameOf(entry);
        place->second.isResult |= isResult;
    }

    bool isRefused(NodeId id) const { return !m_options.refusals.empty() && !m_options.refusals[id].empty(); }

    std::string whyExcluded(NodeId id) const
    {
        const NodeDef &node = m_graph.node(id);
        const auto isIn = [&](const std::vector<std::string> &ops) {
            const dialect::OpInfo *const own = m_dialect.findOp(node.op);
            return std::ranges::any_of(ops, [&](const std::string &op) {
                return op == node.op || (own != nullptr && m_dialect.findOp(op) == own);
            });
        };
        if (!m_options.asked.empty() && !m_options.asked[id])
            return "not requested";
        if (isRefused(id))
            return m_options.refusals[id];
        if (std::ranges::find(m_options.excludedNames, node.name) != m_options.excludedNames.end())
            return "excluded by name";
        if (isIn(m_options.excludedOps))
            return "excluded operator";
        if (!m_options.quantizedOps.empty() && !isIn(m_options.quantizedOps))
            return "not in the list of int8 operators";
        return {};
    }

    /// Why a factor cannot be codes; empty where it can.
    std::string obstacle(const Entry &factor)
    {
        if (m_plan.forms->isPairNode(m_graph.node(factor.node)))
            return "its inputs are already quantized";
        if (!isReal(factor))
            return "its inputs are not float32";
        const auto constant = m_constants.find(factor.node);
        if (constant == m_constants.end())
            return isFound(factor) ? std::string() : "no calibrated range of its inputs";
        const std::vector<float> values = constant->second.values<float>();
        return std::ranges::all_of(values, [](float value) { return std::isfinite(value); })
            ? std::string()
            : "its weights have NaN or infinity";
    }

    /// Empty when it is one that can be computed with codes.
    std::string findProduct(NodeId id)
    {
        const auto form = m_plan.forms->productOf(m_graph.node(id));
        const bool hasOther = !form && m_plan.forms->supportOf(m_graph.node(id)) != CodedSupport::None;
        if (!form)
            return hasOther && isRefused(id) ? m_options.refusals[id] : "no int8 form";
        if (std::string why = whyExcluded(id); !why.empty())
            return why;
        const auto inputs = m_graph.inputs(id);
        if (inputs.size() < 2)
            return "its weights are missing";
        std::size_t constants = 0;
        for (const std::size_t factor : form->factors) {
            if (std::string why = obstacle(inputs[factor]); !why.empty())
                return why;
            constants += isConstant(inputs[factor]) ? 1 : 0;
        }
        if (constants == form->factors.size())
            return "all its inputs are constant";
        m_plan.products.emplace(id, PlannedProduct{*form});
        return {};
    }

    Result<void> findNorms()
    {
        for (auto &[id, product] : m_plan.products) {
            const auto next = onlyReader(id);
            if (!next || !product.form.takesBias || isApart(*next))
                continue;
            HALFTONE_TRY(const ops::Operator op, m_dialect.read(m_graph.node(*next)));
            const auto *const norm = op.getIf<ops::BatchNormalization>();
            if (norm != nullptr && norm->axis == 1 && hasFixedNorm(id, *next, norm->epsilon)) {
                product.norm = *next;
                m_plan.within.emplace(*next, id);
            }
        }
        return {};
    }

    /// Are weights, bias and all that the BatchNorm knows constant, and do they go together?
    bool hasFixedNorm(NodeId product, NodeId norm, double epsilon) const
    {
        const auto weights = m_graph.inputs(product).subspan(1);
        const auto parameters = m_graph.inputs(norm).subspan(1);
        const auto isFixed = [this](const Entry &entry) { return isConstant(entry) && isReal(entry); };
        if (parameters.size() != 4 || !std::ranges::all_of(weights, isFixed)
            || !std::ranges::all_of(parameters, isFixed))
            return false;
        const tensor::Shape channels{m_constants.at(weights[0].node).shape()[0]};
        for (std::size_t k = 0; k < parameters.size(); ++k) {
            const tensor::Tensor &values = m_constants.at(parameters[k].node);
            const bool isVariance = k == 3;
            if (values.shape() != channels || !std::ranges::all_of(values.values<float>(), [&](float value) {
                    return std::isfinite(value) && (!isVariance || value + epsilon > 0);
                }))
                return false;
        }
        return true;
    }

    /// Has a person decided of this node by itself?
    bool isApart(NodeId id) const
    {
        return (!m_options.apart.empty() && m_options.apart[id])
            || std::ranges::find(m_options.excludedNames, m_graph.node(id).name)
            != m_options.excludedNames.end();
    }

    bool maySupport(NodeId id) const
    {
        const CodedSupport kind = m_plan.forms->supportOf(m_graph.node(id));
        if (kind == CodedSupport::None || !whyExcluded(id).empty())
            return false;
        const auto inputs = m_graph.inputs(id);
        const std::size_t read = kind == CodedSupport::Moves ? 1 : inputs.size();
        return inputs.size() >= read && std::ranges::all_of(inputs.first(read), [this](const Entry &entry) {
                   return isReal(entry) && !isConstant(entry)
                       && !m_plan.forms->isPairNode(m_graph.node(entry.node)) && isKnown(entry);
               });
    }

    /// What lies between products on both sides; in mode full all.
    void findSupports()
    {
        std::vector<bool> passes(m_graph.nodeCount()); // codes, or what is computed with them
        std::vector<bool> above(m_graph.nodeCount());
        std::vector<bool> below(m_graph.nodeCount());
        std::vector<bool> may(m_graph.nodeCount());
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            if (!isOperator(id))
                continue;
            may[id] = !isProduct(id) && !m_plan.within.contains(id) && maySupport(id);
            passes[id] = may[id] || m_plan.within.contains(id)
                || (m_plan.forms->isFused(m_graph.node(id)) && !isApart(id));
            above[id] = isProduct(id)
                || (passes[id] && std::ranges::any_of(m_graph.inputs(id), [&](const Entry &entry) {
                            return above[entry.node];
                        }));
        }
        for (NodeId id = static_cast<NodeId>(m_graph.nodeCount()); id-- > 0;) {
            if (!isOperator(id))
                continue;
            below[id]
                = isProduct(id) || (passes[id] && std::ranges::any_of(m_readers[id], [&](NodeId reader) {
                                        return reader != kHead && below[reader];
                                    }));
            m_plan.supports[id]
                = may[id] && ((above[id] && below[id]) || (m_options.isFull && m_options.asked.empty()));
            if (may[id] && !m_plan.supports[id])
                m_why[id] = "not between two int8 products";
        }
    }

    /// Does it take rows of a matrix?
    bool takesRows(NodeId id) const
    {
        const auto op = m_dialect.read(m_graph.node(id));
        const auto *const take = op.ok() ? op.value().getIf<ops::Gather>() : nullptr;
        return take != nullptr && take->axis == 0 && m_graph.inputs(id).size() == 2
            && !isConstant(m_graph.inputs(id)[1]);
    }

    /// The product that a constant is the weights of, where nothing else is read of it.
    std::optional<NodeId> productOfWeights(NodeId constant) const
    {
        std::optional<NodeId> first;
        for (const NodeId reader : m_readers[constant]) {
            const auto product = reader == kHead ? m_plan.products.end() : m_plan.products.find(reader);
            if (product == m_plan.products.end() || product->second.norm)
                return std::nullopt;
            const auto inputs = m_graph.inputs(reader);
            const auto [data, weights] = product->second.form.factors;
            if (inputs[weights].node != constant || isConstant(inputs[data]))
                return std::nullopt;
            first = std::min(first.value_or(reader), reader);
        }
        return first;
    }

    /// Matrices that are read as a table and as weights by nobody else: one set of codes does for both.
    void findTables()
    {
        for (const auto &[table, values] : m_constants) {
            if (!m_graph.isVariable(table) || values.shape().rank() != 2 || !isReal({table, 0, 0}))
                continue;
            std::optional<NodeId> product;
            std::vector<NodeId> rows;
            bool isShared = true;
            for (const NodeId reader : m_readers[table]) {
                const bool isNode = reader != kHead;
                if (isNode && isConstant({reader, 0, 0})) { // with its axes swapped
                    const auto turned = productOfWeights(reader);
                    isShared = isShared && turned;
                    product = turned ? std::min(product.value_or(*turned), *turned) : product;
                } else if (isNode && isProduct(reader)) {
                    isShared = isShared && !m_plan.products.at(reader).norm
                        && m_graph.inputs(reader)[m_plan.products.at(reader).form.factors[1]].node == table
                        && !isConstant(m_graph.inputs(reader)[m_plan.products.at(reader).form.factors[0]]);
                    product = std::min(product.value_or(reader), reader);
                } else if (isNode && takesRows(reader) && whyExcluded(reader).empty()) {
                    rows.push_back(reader);
                } else {
                    isShared = false;
                }
            }
            if (!isShared || !product || rows.empty())
                continue;
            m_plan.tables.emplace(table, *product);
            for (const NodeId reader : rows)
                m_plan.rows.emplace(reader, table);
        }
    }

    void takeNode(NodeId id)
    {
        if (!isOperator(id))
            return;
        const NodeDef &node = m_graph.node(id);
        const auto inputs = m_graph.inputs(id);
        const auto product = m_plan.products.find(id);
        if (product != m_plan.products.end()) {
            for (const std::size_t factor : product->second.form.factors)
                if (!isConstant(inputs[factor]))
                    takeValue(inputs[factor], false);
            takeResult(id,
                       product->second.form.wantsCodedResult || m_options.isFull || m_options.asOperators);
        } else if (m_plan.supports[id]) {
            const bool moves = m_plan.forms->supportOf(node) == CodedSupport::Moves;
            for (const Entry &entry : inputs.first(moves ? 1 : inputs.size()))
                takeValue(entry, false);
            takeResult(id, true);
        } else if (!m_plan.within.contains(id) && !m_plan.rows.contains(id)
                   && !m_plan.forms->isPairNode(node)) {
            m_plan.skipped.push_back({node.name, node.op, m_why[id], id});
            return;
        }
        if (!m_plan.forms->isPairNode(node))
            m_plan.quantized.push_back(node.name);
    }

    /// The value behind what is computed within the node, unless it is given out, or nothing reads it.
    void takeResult(NodeId id, bool isWanted)
    {
        NodeId last = id;
        for (auto next = onlyReader(last); next; next = onlyReader(last)) {
            const bool isWithin = m_plan.within.contains(*next)
                || (m_plan.forms->isFused(m_graph.node(*next)) && !isApart(*next));
            if (!isWithin)
                break;
            last = *next;
        }
        const Entry result{last, 0, 0};
        const bool isRead = !m_readers[last].empty() && !std::ranges::count(m_readers[last], kHead);
        if (!isWanted || !isRead || !isReal(result) || !isFound(result))
            return;
        takeValue(result, true);
        for (NodeId member = last; member != id; member = m_graph.inputs(member)[0].node)
            m_plan.within.emplace(member, id);
    }

    const Graph &m_graph;
    const dialect::Dialect &m_dialect;
    const Constants &m_constants;
    const QuantizeOptions &m_options;
    const QuantizedRanges *m_ranges;
    std::vector<std::vector<NodeId>> m_readers; ///< by NodeId
    std::vector<std::string> m_why; ///< by NodeId: it is no product
    infer::TypeMap m_types;
    PairPlan m_plan;
};

/// The constant that a node gives with its axes swapped, as exporters write the weights of layers whose matrices have the inputs last.
std::optional<tensor::Tensor> transposedConstant(const Graph &graph, NodeId id, const Constants &constants)
{
    const auto inputs = graph.inputs(id);
    const auto source = inputs.size() == 1 ? constants.find(inputs[0].node) : constants.end();
    if (source == constants.end() || source->second.shape().rank() != 2
        || tensor::sizeOf(source->second.dtype()) == 0)
        return std::nullopt;
    const auto op = dialect::of(graph).read(graph.node(id));
    const auto *transpose = op.ok() ? op.value().getIf<ops::Transpose>() : nullptr;
    const bool swaps = transpose != nullptr && (transpose->axes.empty() || transpose->axes[0] != 0);
    return swaps ? std::optional(tensor::transposed(source->second)) : std::nullopt;
}

} // namespace

Constants constantsOf(const graph::Model &model)
{
    Constants constants;
    std::unordered_map<std::string_view, const tensor::Array *> arrays;
    for (const tensor::Array &array : model.parameters)
        if (array.storage == tensor::Storage::Dense && array.values.dtype() != tensor::DType::Unknown)
            arrays.insert_or_assign(dialect::variableOf(model.graph, array.name), &array);
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const NodeDef &node = model.graph.node(id);
        if (node.isVariable()) {
            if (const auto held = arrays.find(node.name);
                held != arrays.end() && !dialect::isOverridable(model.graph, id))
                constants.emplace(id, held->second->values);
        } else if (model.graph.inputs(id).empty()) {
            const auto made = dialect::of(model.graph).constantOf(node);
            if (made.ok() && made.value())
                constants.emplace(id, *made.value());
        }
    }
    for (const NodeId id : graph::postOrder(model.graph))
        if (auto turned = transposedConstant(model.graph, id, constants))
            constants.emplace(id, *std::move(turned));
    return constants;
}

Result<PairPlan> planPairs(const graph::Model &model, const Constants &constants,
                           const QuantizeOptions &options, const QuantizedRanges *ranges)
{
    HALFTONE_CHECK(checkNames(model.graph, model.graph, options));
    return PairPlanner(model, constants, options, ranges).run();
}

} // namespace halftone::quantize
