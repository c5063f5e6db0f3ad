#pragma once

#include "core/base/result.h"
#include "core/policy/policy.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::dialect {
class Dialect;
}

namespace halftone::policy {

/// Whose lists people bring along. They name operators of ONNX, or names that have counterparts there (resources/oplists/foreign.json).
enum class ListOrigin : std::uint8_t
{
    OnnxConverter, ///< onnxconverter-common's float16.convert_float_to_float16: op_block_list, node_block_list, keep_io_types
    ModelOpt, ///< NVIDIA ModelOpt's onnx.autocast: op_types_to_exclude, nodes_to_exclude (regular expressions), …
    TensorFlow, ///< grappler's auto_mixed_precision: allow, infer, deny, clear, or its TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_… variables
    Tvm ///< ToMixedPrecision's tables: always, follow, never, names of Relay or Relax
};
inline constexpr std::array kListOrigins{ListOrigin::OnnxConverter, ListOrigin::ModelOpt,
                                         ListOrigin::TensorFlow, ListOrigin::Tvm};

std::string_view nameOf(ListOrigin origin); ///< "onnxconverter", "modelopt", "tensorflow", "tvm"

struct ImportedLists
{
    Policy policy;
    std::vector<std::string> unmatched; ///< names that no operator here answers to
    std::vector<std::string>
        notes; ///< what a policy cannot say, and where names that mean one operator disagree
};

/// The policy that asks of operators what those arguments ask of theirs. Each is read as JSON, as Python (a dictionary, assignments, a call with
/// keywords) or as a command line.
/// - onnxconverter, modelopt: everything computes in the target type but what they name, and what their programs never lower
/// - tensorflow: allow is the target list, deny fp32; infer and clear follow their inputs (widest, where the built-in list has the operator
///   there). A list that is not given is grappler's own; what stands in none of them stays float32
/// - tvm: always is the target list, never fp32, follow as above; what stands in none of them follows, too
/// Operators without a counterpart stay in the built-in lists' place.
///
/// dialect  whose operators these are: ONNX's
/// fails    BadInput for text without any of the arguments, and for what is no list of names (where: "line N")
Result<ImportedLists> importLists(ListOrigin origin, std::string_view text, const dialect::Dialect &dialect);

} // namespace halftone::policy
