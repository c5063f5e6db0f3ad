#pragma once

#include <span>
#include <string_view>

namespace halftone::runtimes {

/// A runtime that models are deployed in: what it is called, and where it is found.
struct RuntimeKind
{
    std::string_view name; ///< for `--backend`, and of the part of halftone-runtime that calls it
    std::string_view title; ///< "ONNX Runtime"
    std::string_view package; ///< for `pip install`
    std::string_view variable; ///< of the environment: a file or folder that is the only one looked at
    std::string_view folder; ///< of the library, below a Python environment's packages
    std::string_view library; ///< how the name of its file begins; the version follows
    std::string_view provider; ///< that it computes with unless told otherwise
    bool takesPrecision = false; ///< chooses the type that it computes in, unless told
};

/// All of them.
std::span<const RuntimeKind> kinds();

/// The format of what is handed to them (io::ModelFormat::name).
extern const std::string_view kHandedFormat;

} // namespace halftone::runtimes
