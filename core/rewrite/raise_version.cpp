#include "core/rewrite/raise_version.h"

#include "core/dialect/dialect.h"

#include <utility>

namespace halftone::rewrite {

Result<Rewritten> raiseVersion(const graph::Model &model, const RewriteRequest &request)
{
    const dialect::Dialect &dialect = dialect::of(model.graph);
    if (dialect.versionNumber() == 0)
        return unsupported("raise-opset", "the model is of format " + std::string(dialect.title()),
                           "a model of a format with opsets");
    auto raised = dialect.raised(model.graph, tensor::DType::F32, request.number);
    if (!raised.ok()) {
        Error error = std::move(raised).error();
        return error.code == Errc::BadCall ? badCall("raise-opset", error.found, error.expected) : error;
    }
    Rewritten result{model, 0, {}};
    if (!raised.value())
        return result;
    result.model.graph = std::move(raised.value()->graph);
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const graph::NodeDef &before = model.graph.node(id);
        const graph::NodeDef &now = result.model.graph.node(id);
        result.changed += before.op != now.op || !(before.attributes == now.attributes) ? 1 : 0;
    }
    result.notes.push_back("opset " + std::to_string(dialect.versionNumber()) + " became "
                           + std::to_string(dialect::of(result.model.graph).versionNumber()));
    return result;
}

} // namespace halftone::rewrite
