#pragma once

#include "halftone/open.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

enum class Mode : std::uint8_t
{
    Typed, ///< cast only where types differ
    Mxnet, ///< node for node as MXNet 1.9.1, with its defects fixed
};

/// How the int8 range of a tensor is chosen.
enum class ThresholdMethod : std::uint8_t
{
    MinMax,
    Entropy,
    Percentile,
    Mse,
};

/// Which operators compute in which type: the built-in lists or those of a file, and changes to them. Operators have the names
/// of the model's format.
struct Policy
{
    std::string file; ///< policy file to start from; empty: the built-in lists
    std::optional<Type> target; ///< Float16 or BFloat16; absent: as in the file, otherwise Float16
    std::optional<Mode> mode; ///< absent: as in the file, otherwise Typed
    std::vector<std::string> toTarget; ///< operators to move to the target list
    std::vector<std::string> toFloat32;
    std::vector<std::string> toWidest; ///< operators to compute in the widest type of their inputs
    std::vector<std::string> toNeutral; ///< operators to compute in the type of their inputs
    std::vector<std::string> toInt8; ///< operators to compute in int8 where supported
    std::vector<std::string> excluded; ///< nodes that stay in float32, by name or /pattern/
    std::map<std::string, Type> overrides; ///< types of single nodes: Float32, the target type or Int8
    std::map<std::string, Type> inputTypes; ///< by input name
    std::optional<bool>
        castParameters; ///< store parameters in the target type if all their readers use it; absent: as in the file, otherwise no
    std::optional<bool> shareNodes; ///< merge nodes that compute the same value; absent: only in mode Typed
    std::optional<ThresholdMethod>
        thresholds; ///< for int8; absent: as in the file, otherwise Mse, or MinMax where that gives smaller errors
};

/// The policy as the text of a policy file. fails: BadInput for an invalid file; BadCall for a type that policies do not support
Result<std::string> policyText(const Policy &policy);

struct BuiltInLists
{
    std::vector<std::string> target;
    std::vector<std::string> float32;
    std::vector<std::string> widest;
    std::vector<std::string> neutral;
};
/// The built-in lists of a target type for models of a format: "onnx" or "mxnet", if the build has it.
/// fails: BadInput unless the type is Float16 or BFloat16; BadCall for an unknown format
Result<BuiltInLists> builtInLists(Type target, const std::string &format = "onnx");

} // namespace halftone::api
