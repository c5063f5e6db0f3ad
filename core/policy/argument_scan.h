#pragma once

#include "core/base/result.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Arguments of other converters, wherever people keep them: JSON, a dictionary or assignments of Python, a call with keywords, a command line, the
/// environment of one. Nothing is run: known keys are looked for, and what stands behind them is read as a literal.
namespace halftone::policy {

/// What stands behind a key.
struct ArgumentValue
{
    std::vector<std::string> names; ///< of a list; of a text one
    std::vector<std::string> variables; ///< names of Python that are part of a list: "DEFAULT_OP_BLOCK_LIST"
    std::string text; ///< as written, where it is no list: "True", "512", "fp16"
    bool isList = false;
    bool isNone = false;
    std::size_t line = 0; ///< from 1
};

/// A key as it is compared: lower case, without "_" and "-".
std::string plainKey(std::string_view key);

/// The values by plainKey(), of a key that is there twice the last. Keys that begin with a capital letter are variables of an environment,
/// whose values may stand without quotes.
/// fails: BadInput with "line N" for a list that is none of texts, a text without an end, and for text longer than a policy may be
Result<std::map<std::string, ArgumentValue>> scanArguments(std::string_view text,
                                                           std::span<const std::string_view> keys);

} // namespace halftone::policy
