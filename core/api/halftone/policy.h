#pragma once

#include "halftone/open.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

enum class Mode : std::uint8_t
{
    Typed, ///< casts only where types differ
    Mxnet, ///< node for node what MXNet 1.9.1 gives, its defects mended
};

/// How the range of a tensor's int8 codes is chosen.
enum class ThresholdMethod : std::uint8_t
{
    MinMax,
    Entropy,
    Percentile,
    Mse,
};

/// Which operators compute in which type: the built-in lists, or those of a file, and what is to be otherwise. All operators
/// are those of the model's format.
struct Policy
{
    std::string file; ///< a policy file to begin with; empty: the built-in lists
    std::optional<Type> target; ///< Float16 or BFloat16; absent: the file's, else Float16
    std::optional<Mode> mode; ///< absent: the file's, else Typed
    std::vector<std::string> toTarget; ///< operators that move to the list of the target type
    std::vector<std::string> toFloat32;
    std::vector<std::string> toWidest; ///< compute in the widest type of their inputs
    std::vector<std::string> toNeutral; ///< compute as their inputs come
    std::vector<std::string> toInt8; ///< compute in int8 where they can
    std::vector<std::string> excluded; ///< nodes that stay in float32, by name or /pattern/
    std::map<std::string, Type> overrides; ///< single nodes: Float32, the target type or Int8
    std::map<std::string, Type> inputTypes; ///< by input
    std::optional<bool>
        castParameters; ///< store them in the target type where all readers want it; absent: the file's, else no
    std::optional<bool> shareNodes; ///< merge those that compute the same; absent: in mode typed
    std::optional<ThresholdMethod>
        thresholds; ///< for int8; absent: the file's, else Mse, or MinMax where it is better for the layers
};

/// The policy as the text of a policy file. fails: what the file's reader refuses; BadCall for a type that no policy may have
Result<std::string> policyText(const Policy &policy);

struct BuiltInLists
{
    std::vector<std::string> target;
    std::vector<std::string> float32;
    std::vector<std::string> widest;
    std::vector<std::string> neutral;
};
/// Of a target type. fails: BadInput for another one than Float16 and BFloat16
Result<BuiltInLists> builtInLists(Type target);

} // namespace halftone::api
