#pragma once

#include "core/base/result.h"

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::layout {

/// How a program that was given text and asked for text ended.
struct ChildOutcome
{
    std::string output; ///< all of it, or what came until the end
    bool timedOut = false;
    int exitCode = 0; ///< 128 + signal when a signal ended it
};

/// Runs a program (looked up in PATH) with `input` on its standard input. It is killed at once when stop is requested, at
/// the time limit, and when it writes more than `mostOutput` bytes; it is gone when the call returns, whatever happens.
/// fails: Unsupported when there is no such program or it cannot be started (where = its name); Cancelled
Result<ChildOutcome> runChild(const std::vector<std::string> &command, std::string_view input,
                              std::chrono::milliseconds timeLimit, std::size_t mostOutput,
                              const std::stop_token &stop);

} // namespace halftone::layout
