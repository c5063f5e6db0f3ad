#include "core/rewrite/prune.h"

#include "core/dialect/dialect.h"
#include "core/rewrite/rebuild.h"

#include <unordered_set>
#include <vector>

namespace halftone::rewrite {

Result<Rewritten> prune(const graph::Model &model, const Progress &)
{
    Rebuild rebuild(model.graph);
    std::unordered_set<std::string_view> variables;
    std::vector<bool> isNeeded(model.graph.nodeCount());
    for (const graph::NodeId id : rebuild.order()) {
        rebuild.keep(id);
        isNeeded[id] = true;
        if (model.graph.isVariable(id))
            variables.insert(model.graph.node(id).name);
    }
    Rewritten result{{rebuild.finish(), {}, model.hasParameters}, 0, {}};
    std::unordered_set<std::string_view> gone;
    for (const tensor::Array &array : model.parameters) {
        if (variables.contains(dialect::variableOf(model.graph, array.name))) {
            result.model.parameters.push_back(array);
            continue;
        }
        gone.insert(dialect::variableOf(model.graph, array.name));
        result.notes.push_back("parameter " + array.name + " is read by no node and was removed");
    }
    result.changed = gone.size();
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        // What is fed and not read is still asked for by some formats.
        const bool isFed = model.graph.isVariable(id) && !gone.contains(model.graph.node(id).name);
        result.changed += isNeeded[id] || isFed ? 0 : 1;
    }
    return result;
}

} // namespace halftone::rewrite
