#include "core/dialect/tflite/tflite_dialect.h"
#include "core/io/tflite/graph_reader.h"

#include <memory>
#include <utility>

/// Variables that outlast an inference: their values are followed from operator to operator, so that a node reads what it gets.
namespace halftone::io::tflite {
namespace {

namespace names = dialect::tflite;
using graph::Entry;
using graph::NodeDef;

std::string variableName(const graph::Attributes &options)
{
    const std::string *const container = options.find("container");
    const std::string *const name = options.find("shared_name");
    return (container == nullptr ? std::string() : *container + '/') + (name == nullptr ? "" : *name);
}

std::int32_t inputAt(const schema::Operator &op, flatbuffers::uoffset_t k)
{
    return op.inputs() != nullptr && k < op.inputs()->size() ? op.inputs()->Get(k) : -1;
}

} // namespace

/// The subgraph that CALL_ONCE names assigns constants to variables; what else it does is not followed.
Result<void> GraphReader::readInitialValues()
{
    for (flatbuffers::uoffset_t k = 0; m_proto.operators() != nullptr && k < m_proto.operators()->size();
         ++k) {
        const schema::Operator &call = *m_proto.operators()->Get(k);
        const std::string where = "operator " + std::to_string(k);
        HALFTONE_TRY(const std::string name, operatorName(call, where));
        if (name != "CALL_ONCE")
            continue;
        HALFTONE_TRY(const graph::Attributes options, readOptions(m_source, call, where));
        const std::string *const text = options.find("init_subgraph_index");
        const auto index = text == nullptr ? 0UL : std::stoul(*text);
        if (index == 0 || index >= m_source.model->subgraphs()->size())
            return badInput(where + " (CALL_ONCE)", "subgraph " + std::to_string(index),
                            "one of the others, of " + std::to_string(m_source.model->subgraphs()->size()));
        const schema::SubGraph &graph
            = *m_source.model->subgraphs()->Get(static_cast<flatbuffers::uoffset_t>(index));
        if (graph.operators() == nullptr || graph.tensors() == nullptr)
            continue;
        std::map<std::int32_t, std::string> handles;
        for (const schema::Operator *const op : *graph.operators()) {
            const std::string inside = "subgraph " + std::to_string(index);
            HALFTONE_TRY(const std::string kind, operatorName(*op, inside));
            if (kind == "VAR_HANDLE" && op->outputs() != nullptr && op->outputs()->size() == 1) {
                HALFTONE_TRY(const graph::Attributes own, readOptions(m_source, *op, inside));
                handles[op->outputs()->Get(0)] = variableName(own);
            }
            const auto handle = handles.find(inputAt(*op, 0));
            const std::int32_t value = inputAt(*op, 1);
            if (kind != "ASSIGN_VARIABLE" || handle == handles.end() || value < 0
                || static_cast<std::uint32_t>(value) >= graph.tensors()->size())
                continue;
            HALFTONE_TRY(TensorFacts facts,
                         readTensor(m_source, *graph.tensors()->Get(static_cast<std::uint32_t>(value)),
                                    inside + ", tensor " + std::to_string(value)));
            if (facts.values)
                m_initialValues[handle->second] = std::move(*facts.values);
        }
    }
    return {};
}

Result<bool> GraphReader::addVariableOperator(NodeDef &def, const schema::Operator &op,
                                              const std::string &where)
{
    std::vector<Entry> inputs;
    if (def.op == "CALL_ONCE") {
        def.attributes.set(std::string(names::kShownOnlyKey),
                           "it runs once; what it assigns is what variables begin with");
    } else if (def.op == "VAR_HANDLE" && def.outputs.size() == 1) {
        m_handles[static_cast<std::size_t>(op.outputs()->Get(0))] = variableName(def.attributes);
        def.attributes.set(std::string(names::kTypesKey), "?");
        def.attributes.set(std::string(names::kShownOnlyKey), "it names a variable");
    } else if (def.op == "ASSIGN_VARIABLE" || def.op == "READ_VARIABLE") {
        HALFTONE_TRY(const std::size_t handle, tensorAt(inputAt(op, 0), where));
        const auto variable = m_handles.find(handle);
        if (variable == m_handles.end() || (def.op == "READ_VARIABLE") != (def.outputs.size() == 1))
            return false; // shown as it is
        def.attributes.set("shared_name", variable->second);
        if (def.op == "ASSIGN_VARIABLE") {
            HALFTONE_TRY(const std::size_t value, tensorAt(inputAt(op, 1), where));
            HALFTONE_TRY(const Entry entry, entryOf(value, where));
            m_variables[variable->second] = entry;
            inputs.push_back(entry);
            def.slots.push_back(1);
            def.attributes.set(std::string(names::kShownOnlyKey),
                               "what it keeps is read by the next inference");
        } else {
            const std::int32_t result = op.outputs()->Get(0);
            const auto &facts = m_tensors[static_cast<std::size_t>(result)];
            if (!m_variables.contains(variable->second)) {
                const auto initial = m_initialValues.find(variable->second);
                if (initial == m_initialValues.end())
                    return false;
                const std::string name = uniqueName(variable->second);
                auto variableDef = std::make_shared<NodeDef>(*names::tfliteDialect().makeVariable(name, {}));
                variableDef->outputs.push_back(name);
                tensor::Array array;
                array.name = name;
                array.shape = initial->second.shape();
                array.values = initial->second;
                m_model.parameters.push_back(std::move(array));
                m_variables[variable->second] = {m_model.graph.add(std::move(variableDef), {}), 0, 0};
            }
            inputs.push_back(m_variables[variable->second]);
            def.slots.push_back(0);
            for (const std::string_view key : {names::kTypesKey, names::kInputTypesKey})
                def.attributes.set(std::string(key), std::string(tensor::nameOf(facts.type)));
        }
    } else {
        return false;
    }
    const std::size_t outputs = def.outputs.size();
    const graph::NodeId id = m_model.graph.add(std::make_shared<const NodeDef>(std::move(def)), inputs);
    for (std::uint32_t k = 0; k < outputs; ++k)
        m_entries[static_cast<std::size_t>(op.outputs()->Get(k))] = Entry{id, k, 0};
    return true;
}

} // namespace halftone::io::tflite
