#pragma once

#include "core/dialect/mxnet/mxnet_dialect.h"
#include "core/dialect/mxnet/op_info.h"
#include "core/graph/graph.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace halftone::io {

/// A node as the text has it: nothing about its wiring is checked yet.
struct RawNode
{
    std::shared_ptr<graph::NodeDef> def; ///< without subgraphs
    std::uint32_t firstInput = 0; ///< in RawGraph::inputs
    std::uint32_t inputCount = 0;
    const dialect::mxnet::OpInfo *op
        = nullptr; ///< set by readSymbol(); null for variables and unknown operators
};

/// What a symbol's word for the operator says of a node.
inline void nameOperator(graph::NodeDef &def, std::string op)
{
    def.variable = op == dialect::mxnet::kVariableOp;
    def.op = std::move(op);
}

/// Symbol JSON after syntax and schema, before anything that needs another node, an operator or the version.
struct RawGraph
{
    std::vector<RawNode> nodes;
    std::vector<graph::Entry> inputs; ///< of all nodes, one after another
    std::map<std::size_t, std::vector<std::uint32_t>> controlDependencies; ///< by node, where there are any
    std::map<std::size_t, std::vector<RawGraph>> subgraphs; ///< by node, where there are any
    std::vector<std::uint32_t> argNodes;
    std::vector<graph::Entry> heads;
    std::vector<graph::Attributes::Item> metadata; ///< values as JSON text

    std::span<const graph::Entry> inputsOf(const RawNode &node) const
    {
        return std::span(inputs).subspan(node.firstInput, node.inputCount);
    }
};

} // namespace halftone::io
