#pragma once

#include "core/tensor/dtype.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::ops {

/// What came of applying a type rule (the three ends of MXNet's FInferType: true, false, exception).
enum class TypeOutcome {
    Complete, ///< the rule is content
    Incomplete, ///< the rule needs to know more; what it could fill in is filled in
    Refused, ///< a type is not allowed there, or one that must be given is open
};

/// How the element types of an operator's inputs and outputs hang together. A small value made once per operator (or per node where an
/// attribute names a type) and applied many times, so application does no parsing and no allocation.
///
/// (the grammar of the text form is documented here by its author)
class TypeRule
{
public:
    /// Reads the text form; asserts on a malformed one (rules are ours, never a user's). `attributeType` stands for D.
    static TypeRule parse(std::string_view text, tensor::DType attributeType = tensor::DType::Unknown);

    /// Completes `inputs` and `outputs` in place (DType::Unknown is open); a known type is never changed.
    /// Refused also when two known types contradict; `where` then gets the position (inputs first, then outputs), if not null.
    TypeOutcome apply(std::span<tensor::DType> inputs, std::span<tensor::DType> outputs, std::size_t *where = nullptr) const;
};

} // namespace halftone::ops
