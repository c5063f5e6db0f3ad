#pragma once

#include "core/ops/type_rule.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The parts of an OpInfo that depend on a node's attributes, compiled from the texts of
/// resources/mxnet/operators.json.
namespace halftone::dialect {
struct AttributeSpec;
}

namespace halftone::dialect::mxnet {

/// A test on one attribute's value, written or default: "no_bias=False", "mode=lstm|gru", "pool_type!=avg",
/// "min_calib_range>=0".
struct Condition
{
    enum class Test : std::uint8_t
    {
        Equal,
        Differs,
        AtLeast
    };

    std::size_t attribute = 0; ///< position in OpInfo::attributes
    Test test = Test::Equal;
    std::vector<std::string> values; ///< Equal, Differs: any of these
    double bound = 0; ///< AtLeast
};
/// All of them hold. Joined by "&".
using Conditions = std::vector<Condition>;

/// One input or output.
struct Slot
{
    std::string name; ///< a "#" in it is the number within the repetition; "#" alone: MXNet declares no name
    Conditions exists;
    bool isHidden = false; ///< an output that users don't see, unless `visible` is not empty and holds
    Conditions visible;
    bool isMutable = false; ///< an input that the operator writes
};

/// Slots that stand there once, or as often as an attribute says.
struct SlotGroup
{
    std::vector<std::size_t> counters; ///< attributes, first one with a positive count decides (a tuple
        ///< counts its elements); empty: once
    std::size_t minus = 0;
    std::size_t divide = 1;
    std::vector<Slot> slots;
};

/// Inputs or outputs in order.
struct Slots
{
    std::vector<SlotGroup> groups;
    bool isOpen = false; ///< any number of them ("...")
};

struct TypeVariant
{
    Conditions when;
    ops::TypeRule rule;
};

/// Reads "data, weight, bias?no_bias=False", "*num_args:arg#", "output, mean~output_mean_var=True", "...". An
/// item of the comma-separated text is `name`, then `~` or `~conditions` (hidden), then `?conditions`
/// (exists); or `*counter:item,item` where counter is an attribute with an optional -k or /k, or
/// `first|second`. Asserts on a malformed text (these are ours, never a user's).
Slots readSlots(std::string_view text, const std::vector<AttributeSpec> &attributes);

/// Reads "conditions: rule; conditions: rule; rule".
std::vector<TypeVariant> readTypeVariants(std::string_view text,
                                          const std::vector<AttributeSpec> &attributes);

} // namespace halftone::dialect::mxnet
