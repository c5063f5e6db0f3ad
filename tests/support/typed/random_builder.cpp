#include "tests/support/typed/random_builder.h"

#include "core/dialect/mxnet/dtype_code.h"
#include "tests/support/typed/graph_edit.h"
#include "tests/support/typed/type_oracle.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace halftone::test {

using graph::Entry;
using graph::NodeDef;
using graph::NodeId;
using tensor::DType;

std::int64_t elementCount(const Dims &dims)
{
    std::int64_t count = 1;
    for (const std::int64_t dim : dims)
        count *= dim;
    return count;
}

std::string textOf(const Dims &dims)
{
    std::string text;
    for (const std::int64_t dim : dims)
        text += (text.empty() ? "" : ", ") + std::to_string(dim);
    return '(' + text + (dims.size() == 1 ? ",)" : ")");
}

/// "relu3"; now and then the name that a cast of another node would get.
std::string RandomBuilder::freshName(const std::string &op)
{
    std::string name;
    if (m_graph.nodeCount() > 0 && random.chance(2)) {
        const auto other = static_cast<NodeId>(random.below(m_graph.nodeCount()));
        name = m_graph.node(other).name + (random.chance(70) ? "_0" : "_output") + "_amp_cast_"
            + (random.chance(50) ? "float16" : "float32");
    } else {
        for (const char c : op)
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        name += std::to_string(m_graph.nodeCount());
    }
    while (!m_names.insert(name).second)
        name += 'x';
    return name;
}

Value RandomBuilder::variable(std::string name, const Dims &dims, DType type, bool declares)
{
    graph::Attributes attributes;
    if (declares)
        attributes.set("__dtype__", std::to_string(dialect::mxnet::codeOf(type)));
    if (random.chance(80))
        attributes.set("__shape__", textOf(dims));
    const NodeId id = m_graph.add(nodeOf("null", name, std::move(attributes)), {});
    const Value value{{id, 0, 0}, dims, type};
    m_outputs.push_back({value});
    m_isRead.push_back(false);
    return value;
}

Value RandomBuilder::data(std::string name, Dims dims, DType type)
{
    m_names.insert(name);
    m_dataNames.push_back(name);
    const Value value = variable(std::move(name), dims, type, type != DType::F32);
    m_values.push_back(value);
    return value;
}

Value RandomBuilder::parameter(const std::string &name, const Dims &dims, DType type)
{
    std::vector<Value> alike;
    std::ranges::copy_if(m_parameters, std::back_inserter(alike),
                         [&](const Value &p) { return p.dims == dims && p.type == type; });
    if (!alike.empty() && random.chance(25))
        return random.oneOf(alike);
    const Value value = variable(name, dims, type, random.chance(30));
    m_names.insert(name);
    m_parameters.push_back(value);
    if (random.chance(10))
        m_values.push_back(value);
    return value;
}

std::vector<NodeId> RandomBuilder::someDependencies()
{
    if (m_graph.nodeCount() == 0 || !random.chance(3))
        return {};
    const auto other = static_cast<NodeId>(random.below(m_graph.nodeCount()));
    return m_graph.isVariable(other) ? std::vector<NodeId>{} : std::vector<NodeId>{other};
}

bool RandomBuilder::add(const std::string &op, graph::Attributes attributes,
                        const std::vector<Operand> &operands, std::vector<Dims> outputs,
                        std::vector<std::shared_ptr<const graph::Graph>> bodies)
{
    auto def = std::make_shared<NodeDef>(NodeDef{op, {}, std::move(attributes), std::move(bodies)});
    Types in;
    for (const Operand &operand : operands)
        in.push_back(operand.value ? operand.value->type : DType::Unknown);
    Types out(std::max(oracleOutputs(*def), outputs.size()), DType::Unknown);
    if (oracleKnows(op) && completeTypes(*def, in, out) != Fit::Complete
        && std::ranges::all_of(
            operands, [](const Operand &o) { return !o.value || o.value->type != DType::Unknown; })) {
        // Labels and indices have types of their own.
        std::ranges::replace(in, DType::Unknown, DType::F32);
        if (completeTypes(*def, in, out) != Fit::Complete)
            return false;
    }
    def->name = freshName(op);
    std::vector<Entry> inputs;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const bool isWritten = isWrittenInput(*def, i);
        const DType type = in[i] == DType::Unknown && !operands[i].value ? DType::F32 : in[i];
        const std::string name = def->name + '_' + operands[i].role;
        Entry entry;
        if (operands[i].value)
            entry = operands[i].value->entry;
        else if (isWritten)
            m_states.push_back(
                (entry = variable(name, operands[i].dims, type, random.chance(30)).entry).node);
        else
            entry = parameter(name, operands[i].dims, type).entry;
        entry.version = isWritten ? 1 : 0;
        m_isRead[entry.node] = true;
        inputs.push_back(entry);
    }
    const NodeId id = m_graph.add(std::move(def), inputs, someDependencies());
    m_isRead.push_back(false);
    std::vector<Value> values;
    for (std::uint32_t k = 0; k < outputs.size(); ++k)
        values.push_back({{id, k, 0}, outputs[k], out[k]});
    m_values.insert(m_values.end(), values.begin(), values.end());
    m_outputs.push_back(std::move(values));
    return true;
}

bool RandomBuilder::addTwin()
{
    const auto other = static_cast<NodeId>(random.below(m_graph.nodeCount()));
    if (m_graph.isVariable(other))
        return false;
    auto twin = std::make_shared<NodeDef>(m_graph.node(other));
    twin->name = freshName(twin->op);
    for (const auto &[key, value] : m_graph.node(other).attributes) {
        std::string text = value;
        if (random.chance(30))
            std::erase(text, ' ');
        if (random.chance(30) && (text == "True" || text == "False"))
            text = text == "True" ? "1" : "0";
        twin->attributes.set(key, text);
    }
    if (random.chance(10))
        twin->attributes.set("__note__", "twin");
    if (random.chance(10))
        twin->attributes.set("__ctx_group__", "second");
    const std::vector<Entry> inputs(m_graph.inputs(other).begin(), m_graph.inputs(other).end());
    const NodeId id = m_graph.add(std::move(twin), inputs, someDependencies());
    m_isRead.push_back(false);
    std::vector<Value> values = m_outputs[other];
    for (Value &value : values)
        value.entry.node = id;
    m_values.insert(m_values.end(), values.begin(), values.end());
    m_outputs.push_back(std::move(values));
    return true;
}

std::optional<Value> RandomBuilder::pick(const std::function<bool(const Value &)> &fits)
{
    std::vector<const Value *> fitting;
    for (const Value &value : m_values) {
        if (fits(value))
            fitting.push_back(&value);
    }
    if (fitting.empty())
        return std::nullopt;
    const std::size_t young = random.chance(60) ? std::min<std::size_t>(fitting.size(), 4) : fitting.size();
    return *fitting[fitting.size() - 1 - random.below(young)];
}

std::optional<Value> RandomBuilder::pickLike(const Value &value)
{
    return pick(
        [&value](const Value &other) { return other.dims == value.dims && other.type == value.type; });
}

std::vector<Entry> RandomBuilder::chooseHeads()
{
    std::vector<Entry> unread;
    for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
        if (!m_isRead[id] && !m_graph.isVariable(id))
            unread.push_back({id, 0, 0});
    }
    std::vector<Entry> heads;
    for (const Entry &entry : unread) {
        if (heads.empty() || random.chance(70))
            heads.push_back(entry);
    }
    while (random.chance(25)) {
        const Entry extra = random.oneOf(m_values).entry;
        heads.insert(heads.begin() + static_cast<std::ptrdiff_t>(random.below(heads.size() + 1)), extra);
    }
    return heads;
}

graph::Model RandomBuilder::finish()
{
    std::unordered_map<std::string, Value> parameters;
    for (const Value &value : m_parameters)
        parameters.emplace(m_graph.node(value.entry.node).name, value);
    std::unordered_set<std::string> states;
    for (const NodeId id : m_states) {
        parameters.emplace(m_graph.node(id).name, m_outputs[id].front());
        states.insert(m_graph.node(id).name);
    }
    m_graph.setHeads(chooseHeads());
    graph::Model model{pruned(m_graph), {}, true};
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const std::string &name = model.graph.node(id).name;
        const auto found = parameters.find(name);
        if (!model.graph.isVariable(id) || found == parameters.end())
            continue;
        tensor::Array array;
        array.name = (states.contains(name) ? "aux:" : "arg:") + name;
        array.shape = tensor::Shape(found->second.dims);
        const auto count = static_cast<std::size_t>(elementCount(found->second.dims));
        array.values
            = tensor::Tensor::owning(found->second.type, array.shape,
                                     std::vector<std::byte>(count * tensor::sizeOf(found->second.type)));
        model.parameters.push_back(std::move(array));
    }
    return model;
}

} // namespace halftone::test
