#include "core/quantize/pair_build.h"

#include "core/dialect/dialect.h"
#include "core/quantize/coded_nodes.h"
#include "core/quantize/pair_codes.h"
#include "core/quantize/pair_norm.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_set>

namespace halftone::quantize {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeDefPtr;
using graph::NodeId;
using tensor::Tensor;
using Kind = QuantizedOrigin::Kind;

class PairBuilder
{
public:
    PairBuilder(const graph::Model &model, const Constants &constants, const PairPlan &plan,
                const QuantizeOptions &options, const QuantizedRanges &ranges)
        : m_source(model)
        , m_graph(model.graph)
        , m_constants(constants)
        , m_plan(plan)
        , m_options(options)
        , m_ranges(ranges)
        , m_copies(model.graph.nodeCount(), rewrite::kNoNode)
        , m_isRead(model.graph.nodeCount())
    {
        m_result.model.graph = Graph::like(m_graph);
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            takeNames(m_graph.node(id));
            for (const Entry &entry : m_graph.inputs(id))
                m_isRead[entry.node] = true;
        }
        if (!options.released.empty())
            for (const NodeId of : codedNodes(model))
                m_coded.push_back(of != rewrite::kNoNode);
    }

    QuantizedModel run()
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            if (!isMadeWhenRead(id) && !isFolded(id))
                addNode(id);
        std::vector<Entry> heads;
        for (const Entry &head : m_graph.heads()) {
            const auto real = withoutPair(head, rewrite::kNoNode);
            heads.push_back(real ? *real : copyOf(head));
        }
        m_result.model.graph.setHeads(std::move(heads));
        keepParameters();
        m_result.quantized = m_plan.quantized;
        m_result.skipped = m_plan.skipped;
        for (const auto &[output, value] : m_plan.data) {
            const std::string &name = value.name;
            const bool isTold = std::ranges::any_of(
                m_result.thresholds, [&name](const auto &told) { return told.tensor.source == name; });
            if (!isTold)
                m_result.thresholds.push_back({{name, name}, m_ranges.at(name)});
        }
        return std::move(m_result);
    }

private:
    using CodesKey = std::tuple<NodeId, std::optional<std::size_t>, std::vector<float>>;

    /// A BatchNorm in the weights of the product before it.
    bool isFolded(NodeId id) const
    {
        const auto within = m_plan.within.find(id);
        if (within == m_plan.within.end())
            return false;
        const auto product = m_plan.products.find(within->second);
        return product != m_plan.products.end() && product->second.norm == id;
    }

    void takeNames(const NodeDef &node)
    {
        m_names.insert(node.name);
        m_names.insert(node.outputs.begin(), node.outputs.end());
    }

    std::string unique(std::string name)
    {
        const std::string wanted = name;
        for (int n = 2; !m_names.insert(name).second; ++n)
            name = wanted + '_' + std::to_string(n);
        return name;
    }

    NodeId add(NodeDefPtr def, std::span<const Entry> inputs, QuantizedOrigin origin)
    {
        m_result.origins.push_back(std::move(origin));
        return m_result.model.graph.add(std::move(def), inputs);
    }

    Entry addConstant(const std::string &name, const Tensor &values, NodeId of)
    {
        tensor::Array array;
        array.name = unique(name);
        array.shape = values.shape();
        array.values = values;
        const dialect::Dialect &dialect = dialect::of(m_graph);
        const NodeId id = add(dialect.withDeclaredType(dialect.makeVariable(array.name), values.dtype()), {},
                              {Kind::Codes, {of}, 0, {}});
        m_added.push_back(std::move(array));
        return {id, 0, 0};
    }

    /// With names of its own where others have them already.
    NodeDefPtr named(const NodeDefPtr &def)
    {
        auto own = std::make_shared<NodeDef>(*def);
        own->name = unique(own->name);
        for (std::string &output : own->outputs)
            output = unique(output);
        return own;
    }

    std::string nameOf(const Entry &entry) const { return dialect::of(m_graph).entryName(m_graph, entry); }

    /// In the new graph; constants are copied when somebody reads them.
    Entry copyOf(const Entry &entry)
    {
        if (m_copies[entry.node] == rewrite::kNoNode)
            addNode(entry.node);
        return {m_copies[entry.node], isFolded(entry.node) ? 0 : entry.output, entry.version};
    }

    /// The values that codes of a constant stand for.
    Entry decoded(const std::string &name, const PairCodes &codes, std::optional<std::size_t> axis, NodeId of)
    {
        std::vector<Entry> inputs{addConstant(m_plan.forms->codesName(name), codes.codes, of),
                                  addConstant(m_plan.forms->scaleName(name), codes.scale, of)};
        if (codes.zeroPoint.dtype() != tensor::DType::Unknown)
            inputs.push_back(addConstant(m_plan.forms->zeroPointName(name), codes.zeroPoint, of));
        return {add(named(m_plan.forms->makeDecode(name, axis, inputs.size() > 2)), inputs,
                    {Kind::Dequantize, {of}, 0, {}}),
                0, 0};
    }

    PairCodes codesOf(const PlannedValue &value) const
    {
        return dataCodes(m_ranges.at(value.name), m_options.codes);
    }

    /// What the codes of a value stand for.
    Entry decoded(const Entry &entry, const PlannedValue &value)
    {
        const auto [place, isNew] = m_decoded.try_emplace({entry.node, entry.output});
        if (!isNew)
            return place->second;
        const PairCodes codes = codesOf(value);
        const std::string name = nameOf(entry);
        const Entry real = copyOf(entry);
        const Entry scale = addConstant(m_plan.forms->scaleName(name), codes.scale, entry.node);
        const Entry zero = addConstant(m_plan.forms->zeroPointName(name), codes.zeroPoint, entry.node);
        const std::array<Entry, 3> reals{real, scale, zero};
        const NodeId code = add(named(m_plan.forms->makeCode(name, std::nullopt)), reals,
                                {Kind::Quantize, {entry.node}, entry.output, {}});
        const std::array<Entry, 3> coded{Entry{code, 0, 0}, scale, zero};
        place->second = {add(named(m_plan.forms->makeDecode(name, std::nullopt, true)), coded,
                             {Kind::Dequantize, {entry.node}, entry.output, {}}),
                         0, 0};
        return place->second;
    }

    bool readsCodes(NodeId reader, std::size_t input, const PlannedValue &value) const
    {
        if (value.isResult || m_plan.supports[reader])
            return true;
        const auto product = m_plan.products.find(reader);
        return product != m_plan.products.end()
            && std::ranges::count(product->second.form.factors, input) > 0;
    }

    /// Constants, which may be stored as codes instead, and pairs where some are to go.
    bool isMadeWhenRead(NodeId id) const
    {
        return m_isRead[id]
            && (m_constants.contains(id)
                || (!m_options.released.empty() && !m_graph.isVariable(id)
                    && m_plan.forms->isPairNode(m_graph.node(id))));
    }

    bool isReleased(NodeId id) const { return id != rewrite::kNoNode && m_options.released[id]; }

    /// What went through a pair of the given graph, where that is there no longer for this reader: it or what computes the
    /// value is released. `reader`: kNoNode for a head
    std::optional<Entry> withoutPair(const Entry &entry, NodeId reader)
    {
        const auto isNode = [this](NodeId id) { return !m_graph.isVariable(id); };
        if (m_options.released.empty() || !isNode(entry.node)
            || !m_plan.forms->isDecode(m_graph.node(entry.node)))
            return std::nullopt;
        const auto inputs = m_graph.inputs(entry.node);
        const NodeId code = inputs[0].node;
        if (m_constants.contains(code))
            return isReleased(reader) ? realsOf(entry.node) : std::nullopt;
        if (!isNode(code) || !m_plan.forms->isPairNode(m_graph.node(code)))
            return std::nullopt;
        const Entry real = m_graph.inputs(code)[0];
        const bool isNeeded = reader != rewrite::kNoNode && m_coded[reader] && !isReleased(reader);
        if (isNeeded || (!isReleased(reader) && !isReleased(real.node)))
            return std::nullopt;
        return copyOf(real);
    }

    /// What a constant's codes stand for, as a constant; nothing where that does not read.
    std::optional<Entry> realsOf(NodeId decode)
    {
        const auto [place, isNew] = m_reals.try_emplace(decode);
        if (!isNew)
            return place->second;
        if (const auto reals = decodedConstant(m_graph, decode, m_constants))
            place->second = addConstant(nameOf({decode, 0, 0}) + "_float32", *reals, decode);
        return place->second;
    }

    Entry inputOf(NodeId id, std::size_t input)
    {
        const Entry entry = m_graph.inputs(id)[input];
        if (const auto real = withoutPair(entry, id))
            return *real;
        const auto value = m_plan.data.find({entry.node, entry.output});
        return value != m_plan.data.end() && readsCodes(id, input, value->second)
            ? decoded(entry, value->second)
            : copyOf(entry);
    }

    void addNode(NodeId id)
    {
        const auto product = m_plan.products.find(id);
        if (product != m_plan.products.end()) {
            addProduct(id, product->second);
            return;
        }
        if (const auto rows = m_plan.rows.find(id); rows != m_plan.rows.end()) {
            addRows(id, rows->second);
            return;
        }
        std::vector<Entry> inputs;
        QuantizedOrigin origin{
            m_plan.supports[id] || m_plan.within.contains(id) ? Kind::Int8 : Kind::Copy, {id}, 0, {}};
        for (std::uint32_t k = 0; k < m_graph.inputs(id).size(); ++k) {
            inputs.push_back(inputOf(id, k));
            origin.reads.push_back({id, k});
        }
        m_copies[id] = add(m_graph.sharedNode(id), inputs, std::move(origin));
    }

    /// The scale of the codes that a factor's values become, where there is one for all of them.
    float dataScaleOf(const Entry &entry) const
    {
        return codesOf(m_plan.data.at({entry.node, entry.output})).scales[0];
    }

    void addProduct(NodeId id, const PlannedProduct &product)
    {
        const auto inputs = m_graph.inputs(id);
        const NodeDef &node = m_graph.node(id);
        std::vector<Entry> read(inputs.size());
        QuantizedOrigin origin{Kind::Int8, {id}, 0, {}};
        const auto [data, weight] = product.form.factors;
        const bool hasData = !m_constants.contains(inputs[data].node);
        const bool hasWeight = m_constants.contains(inputs[weight].node);
        std::vector<bool> isDone(inputs.size());
        if (hasData && hasWeight) {
            WeightsAndBias values = weightsOf(inputs, product);
            addCodedWeights(id, product, values, read, isDone);
            if (product.norm)
                origin.nodes.push_back(*product.norm);
        } else if (!hasData) {
            const PairCodes codes = weightCodes(m_constants.at(inputs[data].node), std::nullopt, {});
            read[data] = decoded(nameOf(inputs[data]), codes, std::nullopt, inputs[data].node);
            isDone[data] = true;
        }
        for (std::size_t k = 0; k < inputs.size(); ++k)
            if (!isDone[k])
                read[k] = inputOf(id, k);
        for (std::uint32_t k = 0; k < read.size(); ++k)
            origin.reads.push_back(
                {id, std::min<std::uint32_t>(k, static_cast<std::uint32_t>(inputs.size()) - 1)});
        m_copies[id] = add(product.norm ? m_plan.forms->withNorm(node, m_graph.node(*product.norm))
                                        : m_graph.sharedNode(id),
                           read, std::move(origin));
        if (product.norm)
            m_copies[*product.norm] = m_copies[id];
    }

    /// The codes of a table, once.
    struct Table
    {
        Entry codes;
        Entry scale; ///< as its codes have it
        Entry rowScale; ///< by row, in a column; as `scale` where rows have no scales of their own
        std::optional<Entry> zeroPoint;
        std::optional<std::size_t> axis; ///< of the scales
        std::vector<float> scales;
    };

    const Table &tableOf(NodeId id)
    {
        const auto [place, isNew] = m_tables.try_emplace(id);
        Table &table = place->second;
        if (!isNew)
            return table;
        const NodeId first = m_plan.tables.at(id);
        const PlannedProduct &product = m_plan.products.at(first);
        const auto inputs = m_graph.inputs(first);
        const std::size_t at = product.form.factors[1];
        const auto axis
            = m_options.perChannel ? m_plan.forms->channelAxis(m_graph.node(first), at, 2) : std::nullopt;
        if (axis)
            table.axis = inputs[at].node == id ? *axis : 1 - *axis;
        const Tensor &values = m_constants.at(id);
        const PairCodes codes
            = weightCodes(values, table.axis, leastScalesOf(first, weightsOf(inputs, product)));
        const std::string name = nameOf({id, 0, 0});
        table.scales = codes.scales;
        table.codes = addConstant(m_plan.forms->codesName(name), codes.codes, id);
        table.scale = addConstant(m_plan.forms->scaleName(name), codes.scale, id);
        if (codes.zeroPoint.dtype() != tensor::DType::Unknown)
            table.zeroPoint = addConstant(m_plan.forms->zeroPointName(name), codes.zeroPoint, id);
        table.rowScale = table.scale;
        if (table.axis == std::size_t{0})
            table.rowScale
                = addConstant(m_plan.forms->scaleName(name) + "_rows",
                              Tensor(codes.scale.dtype(), tensor::Shape{values.shape()[0], 1},
                                     codes.scale.bytes(), std::make_shared<const Tensor>(codes.scale)),
                              id);
        return table;
    }

    /// Empty without a bias that must fit.
    std::vector<float> leastScalesOf(NodeId id, const WeightsAndBias &values) const
    {
        const PlannedProduct &product = m_plan.products.at(id);
        const auto channels = m_plan.forms->channelAxis(m_graph.node(id), product.form.factors[1],
                                                        values.weights.shape().rank());
        return isVector(values, channels) ? leastWeightScales(
                   values.bias.values<float>(), dataScaleOf(m_graph.inputs(id)[product.form.factors[0]]))
                                          : std::vector<float>();
    }

    /// Rows of codes, times the rows' scales.
    void addRows(NodeId id, NodeId of)
    {
        const Table &table = tableOf(of);
        const Entry indices = copyOf(m_graph.inputs(id)[1]);
        const QuantizedOrigin aside{Kind::Codes, {id}, 0, {}};
        const std::string name = nameOf({id, 0, 0});
        const auto taken = [&](const Entry &from, std::string_view what) {
            auto def = std::make_shared<NodeDef>(m_graph.node(id));
            def->name = unique(name + std::string(what));
            def->outputs.assign(1, def->name);
            const std::array<Entry, 2> inputs{from, indices};
            return Entry{add(std::move(def), inputs, aside), 0, 0};
        };
        const Entry codes = taken(table.codes, "_codes");
        const Entry scale = table.axis == std::size_t{0} ? taken(table.rowScale, "_scales") : table.scale;
        const dialect::Dialect &dialect = dialect::of(m_graph);
        const Entry reals{add(dialect.makeCast(unique(name + "_codes_as_float32"), tensor::DType::F32),
                              std::span(&codes, 1), aside),
                          0, 0};
        const std::array<Entry, 2> factors{reals, scale};
        m_copies[id] = add(m_plan.forms->makeScaled(m_graph.node(id)), factors, {Kind::Int8, {id}, 0, {}});
    }

    /// What a table's codes stand for, as the weights of a product reads them.
    Entry decodedTable(const Entry &weight, NodeId of, std::optional<std::size_t> axis)
    {
        const Table &table = tableOf(of);
        Entry codes = table.codes;
        if (weight.node != of) {
            auto turned = std::make_shared<NodeDef>(m_graph.node(weight.node));
            turned->name = unique(m_plan.forms->codesName(nameOf(weight)));
            turned->outputs.assign(1, turned->name);
            codes = {add(std::move(turned), std::span(&table.codes, 1), {Kind::Codes, {weight.node}, 0, {}}),
                     0, 0};
        }
        std::vector<Entry> inputs{codes, table.scale};
        if (table.zeroPoint)
            inputs.push_back(*table.zeroPoint);
        return {add(named(m_plan.forms->makeDecode(nameOf(weight), axis, table.zeroPoint.has_value())),
                    inputs, {Kind::Dequantize, {weight.node}, 0, {}}),
                0, 0};
    }

    /// The table that a product reads as weights, as it is or with its axes swapped.
    std::optional<NodeId> tableBehind(const Entry &weight) const
    {
        NodeId id = weight.node;
        if (!m_graph.isVariable(id) && m_graph.inputs(id).size() == 1)
            id = m_graph.inputs(id)[0].node;
        return m_plan.tables.contains(id) ? std::optional(id) : std::nullopt;
    }

    WeightsAndBias weightsOf(std::span<const Entry> inputs, const PlannedProduct &product) const
    {
        WeightsAndBias values{m_constants.at(inputs[product.form.factors[1]].node), {}};
        const auto bias = product.form.bias;
        if (bias && *bias < inputs.size() && m_constants.contains(inputs[*bias].node))
            values.bias = m_constants.at(inputs[*bias].node);
        return product.norm ? withBatchNorm(values, m_graph, *product.norm, m_constants) : values;
    }

    void addCodedWeights(NodeId id, const PlannedProduct &product, const WeightsAndBias &values,
                         std::vector<Entry> &read, std::vector<bool> &isDone)
    {
        const auto inputs = m_graph.inputs(id);
        const std::size_t at = product.form.factors[1];
        const Entry weight = inputs[at];
        const auto channels = m_plan.forms->channelAxis(m_graph.node(id), at, values.weights.shape().rank());
        const auto axis = m_options.perChannel ? channels : std::nullopt;
        const float dataScale = dataScaleOf(inputs[product.form.factors[0]]);
        const bool hasBias = isVector(values, channels);
        const PairCodes codes = weightCodes(values.weights, axis, leastScalesOf(id, values));
        if (product.norm) {
            read[at] = decoded(nameOf(weight), codes, axis, weight.node);
        } else {
            const auto [place, isNew] = m_weights.try_emplace(CodesKey{weight.node, axis, codes.scales});
            if (isNew) {
                const auto table = tableBehind(weight);
                place->second = table && tableOf(*table).scales == codes.scales
                    ? decodedTable(weight, *table, axis)
                    : decoded(nameOf(weight), codes, axis, weight.node);
            }
            read[at] = place->second;
        }
        isDone[at] = true;
        if (!hasBias)
            return;
        const std::size_t biasAt = *product.form.bias;
        const bool isNew = biasAt >= inputs.size();
        const std::string name = isNew ? m_graph.node(id).name + "_bias" : nameOf(inputs[biasAt]);
        read.resize(std::max(read.size(), biasAt + 1));
        isDone.resize(read.size());
        if (m_options.keepsBiases && !product.norm)
            return;
        isDone[biasAt] = true;
        if (m_options.keepsBiases) {
            read[biasAt] = addConstant(name, values.bias, weight.node);
            return;
        }
        const PairCodes biases = biasCodes(values.bias, dataScale, codes.scales);
        read[biasAt] = decoded(name, biases, axis ? std::optional<std::size_t>(0) : std::nullopt,
                               isNew ? weight.node : inputs[biasAt].node);
    }

    /// One number a channel.
    static bool isVector(const WeightsAndBias &values, std::optional<std::size_t> channels)
    {
        return channels && values.bias.dtype() == tensor::DType::F32 && values.bias.shape().rank() == 1
            && values.bias.shape()[0] == values.weights.shape()[*channels];
    }

    void keepParameters()
    {
        std::unordered_set<std::string_view> kept;
        const Graph &graph = m_result.model.graph;
        for (NodeId id = 0; id < graph.nodeCount(); ++id)
            if (graph.isVariable(id))
                kept.insert(graph.node(id).name);
        for (const tensor::Array &array : m_source.parameters)
            if (kept.contains(dialect::variableOf(m_graph, array.name)))
                m_result.model.parameters.push_back(array);
        for (tensor::Array &array : m_added)
            m_result.model.parameters.push_back(std::move(array));
        m_result.model.hasParameters = true;
    }

    const graph::Model &m_source;
    const Graph &m_graph;
    const Constants &m_constants;
    const PairPlan &m_plan;
    const QuantizeOptions &m_options;
    const QuantizedRanges &m_ranges;
    std::vector<NodeId> m_copies; ///< by NodeId of the source
    std::vector<bool> m_isRead; ///< likewise
    std::map<Output, Entry> m_decoded;
    std::map<CodesKey, Entry> m_weights;
    std::map<NodeId, Table> m_tables;
    std::map<NodeId, std::optional<Entry>>
        m_reals; ///< of codes that are there no longer, by what decoded them
    std::vector<bool> m_coded; ///< by NodeId: computed with codes in the source
    std::unordered_set<std::string> m_names;
    std::vector<tensor::Array> m_added;
    QuantizedModel m_result;
};

} // namespace

QuantizedModel buildPairs(const graph::Model &model, const Constants &constants, const PairPlan &plan,
                          const QuantizeOptions &options, const QuantizedRanges &ranges)
{
    return PairBuilder(model, constants, plan, options, ranges).run();
}

} // namespace halftone::quantize
