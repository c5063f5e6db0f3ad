#include "core/infer/variables.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"

#include <unordered_map>
#include <unordered_set>

namespace halftone::infer {
namespace {

using graph::NodeId;
using tensor::DType;

class Names
{
public:
    explicit Names(const graph::Graph &graph)
    {
        for (NodeId id = 0; id < graph.nodeCount(); ++id) {
            if (graph.isVariable(id))
                m_names.insert(graph.node(id).name);
        }
    }

    void warnIfAbsent(const std::string &name, const char *key, std::vector<policy::Warning> &warnings) const
    {
        if (m_names.contains(name))
            return;
        const std::vector<std::string_view> all(m_names.begin(), m_names.end());
        warnings.push_back({std::string(key) + ": \"" + name + '"',
                            "no input has this name" + didYouMean(nearestNames(name, all))});
    }

private:
    std::unordered_set<std::string_view> m_names;
};

void warnOfUnknownNames(const graph::Graph &graph, const policy::Policy &policy,
                        std::vector<policy::Warning> &warnings)
{
    if (!policy.dataNames && policy.inputDtypes.empty())
        return;
    const Names names(graph);
    if (policy.dataNames) {
        for (const std::string &name : *policy.dataNames)
            names.warnIfAbsent(name, "data_names", warnings);
    }
    for (const auto &[name, type] : policy.inputDtypes)
        names.warnIfAbsent(name, "input_dtypes", warnings);
}

} // namespace

Result<std::vector<Variable>> classifyVariables(const graph::Model &model, const policy::Policy &policy,
                                                std::vector<policy::Warning> &warnings)
{
    warnOfUnknownNames(model.graph, policy, warnings);
    const dialect::Dialect &dialect = dialect::of(model.graph);
    std::unordered_map<std::string_view, DType> stored;
    for (const tensor::Array &array : model.parameters)
        stored.insert_or_assign(dialect.variableOf(array.name), array.values.dtype());
    std::unordered_set<std::string_view> dataNames;
    if (policy.dataNames)
        dataNames.insert(policy.dataNames->begin(), policy.dataNames->end());
    using policy::DataRule;
    const DataRule rule = policy.dataRule.value_or(
        model.hasParameters || policy.dataNames ? DataRule::WithoutValues : DataRule::WithoutType);

    std::vector<Variable> variables(model.graph.nodeCount());
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (!model.graph.isVariable(id))
            continue;
        const graph::NodeDef &node = model.graph.node(id);
        const auto array = stored.find(node.name);
        HALFTONE_TRY(const DType declared, dialect.declaredType(node));
        if (policy.dataNames)
            variables[id].isData = dataNames.contains(node.name);
        else if (rule == DataRule::WithoutValues)
            variables[id].isData = array == stored.end();
        else
            variables[id].isData = !dialect.declaresType(node);
        if (const auto given = policy.inputDtypes.find(node.name); given != policy.inputDtypes.end())
            variables[id].type = given->second;
        else if (array != stored.end() && array->second != DType::Unknown)
            variables[id].type = array->second;
        else if (declared != DType::Unknown || !dialect.foreignType(node).empty())
            variables[id].type = declared; // Unknown of texts and the like, which are known to be no float32
        else
            continue;
        variables[id].isAssumed = false;
    }
    return variables;
}

} // namespace halftone::infer
