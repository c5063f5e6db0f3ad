#pragma once

#include "core/dialect/onnx/node_reader.h"
#include "core/ops/op_tabular.h"

#include <string>
#include <string_view>
#include <vector>

/// What operators of ai.onnx.ml for tables have in common.
namespace halftone::dialect::onnx {

ops::ScoreTransform transformOf(NodeReader &in);
/// Of an attribute that is floats, or a tensor by its name and "_as_tensor".
std::vector<double> numbersOf(NodeReader &in, const std::string &key);
/// Labels that are texts are told by their places. fails: none, or more than 65535
ops::Dims labelsOf(NodeReader &in, std::string_view integers);

// Operators that are ensembles of trees.
ops::Operator treeEnsemble(NodeReader &in);
ops::Operator treeClassifier(NodeReader &in);
ops::Operator treeRegressor(NodeReader &in);

} // namespace halftone::dialect::onnx
