#pragma once

#include "core/graph/model.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace halftone::test {

/// A graph without nodes that speaks MXNet.
graph::Graph emptyGraph();
/// A node of an operator of MXNet, or a variable for its word for these.
std::shared_ptr<graph::NodeDef> nodeOf(const std::string &op, const std::string &name,
                                       graph::Attributes attributes = {},
                                       std::vector<std::shared_ptr<const graph::Graph>> bodies = {});

/// Graphs for tests, written as their nodes:
///
///     GraphBuilder g;
///     const auto x = g.variable("x");
///     const auto y = g.op("FullyConnected", "fc", {x, g.variable("w")}, {{"num_hidden", "4"}, {"no_bias",
///     "True"}}); const graph::Graph graph = g.withHeads({y});
class GraphBuilder
{
public:
    graph::Entry variable(const std::string &name, graph::Attributes attributes = {});
    /// Output 0 of the new node.
    graph::Entry op(const std::string &op, const std::string &name, std::vector<graph::Entry> inputs,
                    graph::Attributes attributes = {});
    graph::Graph withHeads(std::vector<graph::Entry> heads);
    graph::Model model(std::vector<graph::Entry> heads) { return {withHeads(std::move(heads)), {}, false}; }

private:
    graph::Graph m_graph = emptyGraph();
};

/// "op name(input:output, …)" of each node in order, then "-> heads", one a line.
std::vector<std::string> linesOf(const graph::Graph &graph);

/// A dense float32 array of a parameter file.
tensor::Array floatArray(const std::string &name, std::vector<float> values);

} // namespace halftone::test
