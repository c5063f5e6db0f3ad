#include "core/dialect/mxnet/entry_name.h"

#include "core/dialect/mxnet/op_info.h"

namespace halftone::dialect::mxnet {

std::string entryName(const graph::Graph &graph, const graph::Entry &entry)
{
    const graph::NodeDef &node = graph.node(entry.node);
    if (node.isVariable())
        return node.name;
    if (const OpInfo *op = findOp(node.op); op != nullptr)
        return node.name + "_" + outputName(*op, node.attributes, entry.output);
    return node.name + "_output" + (entry.output == 0 ? std::string() : std::to_string(entry.output));
}

} // namespace halftone::dialect::mxnet
