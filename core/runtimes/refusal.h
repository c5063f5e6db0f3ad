#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

#include <string>

namespace halftone::runtimes {

/// What a runtime says against a model, as an error of this code.
/// where  the node that its words name, if they do; else `title`
/// found  "ONNX Runtime 1.22.0: " and its words, on one line
Error refusal(Errc code, const graph::Graph &graph, const std::string &title, const std::string &words);

} // namespace halftone::runtimes
