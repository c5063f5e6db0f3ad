#pragma once

#include "core/base/field.h"
#include "core/base/output_check.h"
#include "core/walks/examples.h"

#include <span>
#include <string_view>
#include <vector>

namespace halftone::cli {

/// What the command line calls a setting: "--inputs". The text lives as long as the program.
std::string_view optionOf(Field field);

/// Files as checkOutputs() wants them.
std::vector<NamedFile> namedFiles(std::span<const walks::FieldFile> files);

} // namespace halftone::cli
