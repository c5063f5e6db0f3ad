#pragma once

#include "core/dialect/dialect.h"

#include <functional>
#include <string>

/// What help texts say of formats, from the tables of formats and dialects.
namespace halftone::cli {

std::string modelHelp(); ///< of MODEL: "NAME.onnx, or P-symbol.json with P-NNNN.params beside it"
std::string outputHelp(); ///< of --out: "P.onnx, or for an MXNet model P-symbol.json and P-0000.params"

using HasProperty = std::function<bool(const dialect::Dialect &)>;

/// The titles of the formats that have a property: "ONNX, MXNet". Empty: none.
std::string titlesWith(const HasProperty &property);
std::string onlyWith(const HasProperty &property); ///< before a help text: "ONNX only: "
std::string defaultWith(const HasProperty &property); ///< behind one: " (default for ONNX)"

/// What has several versions of its built-in lists, and those: "1.9.1, 2.0.0b1 or master".
bool hasListVersions(const dialect::Dialect &dialect);
std::string listVersionsHelp();

} // namespace halftone::cli
