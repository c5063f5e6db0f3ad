#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Protobuf's wire format, as far as it is read before protobuf itself sees the file.
namespace halftone::io::onnx {

/// A model without the values of its large initializers, which stay where they lie in the file.
struct StrippedModel
{
    struct Values
    {
        std::size_t initializer = 0; ///< position in the main graph
        std::span<const std::byte> bytes;
    };

    std::string message;
    std::vector<Values> values; ///< ascending
};

/// Values to be put into an initializer that has none.
struct JoinedValues
{
    std::size_t initializer = 0; ///< position in the main graph
    std::size_t bytes = 0;
};

/// The way back, where protobuf wrote `message`: values k are to stand between parts k and k + 1.
/// values  ascending
std::vector<std::string> joinModel(std::string_view message, std::span<const JoinedValues> values);

/// Checks the outer levels (model, main graph, initializers) byte by byte.
/// fails: BadInput, where = "byte N", for what is no message of that form.
Result<StrippedModel> stripModel(std::span<const std::byte> bytes);

} // namespace halftone::io::onnx
