#pragma once

#include "core/graph/graph.h"
#include "core/ops/operator.h"
#include "core/tensor/dtype.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// What the runtime that a format belongs to delivers where that is not what its operators say. A format without one
/// such runtime says nothing here: everything is computed as it says.
namespace halftone::dialect {

/// Where that runtime's result of an operator on bfloat16 comes from.
enum class Bfloat16Way : std::uint8_t
{
    Rounds, ///< to nearest; or values are only moved
    Cuts, ///< the lower half of a float32 is left out
    Refused ///< no kernel, or one that destroys memory
};

/// Codes that a result really gets.
struct CodeSpan
{
    int least = 0;
    int most = 0;
};

/// A node of an int8 graph that gives other numbers than it says, or none.
struct Int8Defect
{
    enum class Kind : std::uint8_t
    {
        Refused,
        OtherNumbers,
        OtherFunction, ///< that of a fused activation
        SumCutAbove, ///< uint8 codes of a sum end where those of its int8 addend end
        SumCutBelow ///< int8 codes of a sum begin where those of its uint8 addend begin
    };
    Kind kind = Kind::Refused;
    std::string text; ///< "adds to int8 codes: …"
};

class Arithmetic
{
public:
    virtual ~Arithmetic() = default;

    /// Whose arithmetic it is, for messages: "MXNet 1.9.1 on a CPU".
    virtual std::string_view title() const = 0;

    virtual Bfloat16Way bfloat16Way(const ops::Operator &op) const = 0;
    /// Of a fused int8 sum; nothing where all codes are used.
    virtual std::optional<CodeSpan> codesOfSum(tensor::DType addend, tensor::DType result) const = 0;
    /// Types of the inputs and outputs as far as they are known. What a parameter holds is not looked at.
    virtual std::optional<Int8Defect> int8Defect(const graph::NodeDef &node,
                                                 std::span<const tensor::DType> inputs,
                                                 std::span<const tensor::DType> outputs) const = 0;
    /// Why an int8 form of this operator with these parameters would not compute what it says; empty if it does.
    /// `isOne`: its scale (BatchNorm's gamma) is 1 everywhere.
    virtual std::string spoiltByScale(const ops::Operator &op, bool isOne) const = 0;
};

} // namespace halftone::dialect
