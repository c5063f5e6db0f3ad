#pragma once

#include "core/base/result.h"

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::layout {

/// What a program may use before it is killed.
struct ChildLimits
{
    std::chrono::milliseconds computing{}; ///< of processor time: what others take from it is not counted
    std::chrono::milliseconds waiting{}; ///< of the clock on the wall
    std::size_t output = 0; ///< bytes that it writes
};

/// How a program that was given text and asked for text ended.
struct ChildOutcome
{
    std::string output; ///< all of it, or what came until the end
    std::string exceeded; ///< the limit for which it was killed, as "1200 ms of computing"; empty: none
    int exitCode = 0; ///< 128 + signal when a signal ended it
};

/// Runs a program (looked up in PATH) with `input` on its standard input. It is killed at once when stop is requested
/// and when it goes beyond a limit; it is gone when the call returns, whatever happens.
/// fails: Unsupported when there is no such program or it cannot be started (where = its name); Cancelled
Result<ChildOutcome> runChild(const std::vector<std::string> &command, std::string_view input,
                              const ChildLimits &limits, const std::stop_token &stop);

} // namespace halftone::layout
