#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::io {

/// What a model file says of itself. Formats fill in what their files have.
struct FileFacts
{
    /// An input or output.
    struct Value
    {
        std::string name;
        std::optional<std::vector<std::string>> shape; ///< names and numbers; "?" for neither
        std::string dtype;
    };

    std::int64_t formatVersion = 0; ///< of the file's structure: ONNX's IR version
    std::map<std::string, std::int64_t> operatorSets; ///< versions by domain; ONNX's main one is "ai.onnx"
    std::string producer;
    std::vector<std::pair<std::string, std::string>> metadata;
    std::vector<std::string> functions;
    std::vector<Value> inputs; ///< without those that have an initializer
    std::vector<std::string>
        replaceable; ///< initializers in whose place a caller may feed other values: inputs of IR 4 or newer
    std::vector<Value> outputs;
    std::vector<std::string> externalFiles; ///< with values of the model
    std::size_t externalBytes = 0;
};

} // namespace halftone::io
