#include "core/session/one_example.h"

#include <utility>

namespace halftone::session {

Result<std::vector<std::string>> takeOneExample(Session &session, const infer::ShapeMap &shapes)
{
    std::vector<std::string> taken;
    if (!session.inputShapes().empty())
        return taken;
    const graph::Graph &graph = session.source().model.graph;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        tensor::Shape shape = graph.isVariable(id) ? shapes.byNode[id].front() : tensor::Shape();
        if (shape.rank() == 0 || shape[0] != tensor::Shape::kUnknown)
            continue;
        shape[0] = 1;
        if (!shape.isComplete())
            continue;
        HALFTONE_CHECK(session.setInputShape(graph.node(id).name, std::move(shape)));
        taken.push_back(graph.node(id).name);
    }
    return taken;
}

} // namespace halftone::session
