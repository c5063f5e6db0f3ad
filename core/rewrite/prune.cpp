#include "core/rewrite/prune.h"

#include "core/dialect/dialect.h"
#include "core/rewrite/rebuild.h"

#include <unordered_set>

namespace halftone::rewrite {

Result<Rewritten> prune(const graph::Model &model, const Progress &)
{
    Rebuild rebuild(model.graph);
    std::unordered_set<std::string_view> variables;
    for (const graph::NodeId id : rebuild.order()) {
        rebuild.keep(id);
        if (model.graph.isVariable(id))
            variables.insert(model.graph.node(id).name);
    }
    Rewritten result{{rebuild.finish(), {}, model.hasParameters}, 0, {}};
    for (const tensor::Array &array : model.parameters) {
        if (variables.contains(dialect::variableOf(model.graph, array.name)))
            result.model.parameters.push_back(array);
        else
            result.notes.push_back("parameter " + array.name + " is read by no node and was removed");
    }
    result.changed = model.graph.nodeCount() - result.model.graph.nodeCount() + model.parameters.size()
        - result.model.parameters.size();
    return result;
}

} // namespace halftone::rewrite
