#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halftone::test {

/// A file of tests/data/malformed (made by make_malformed.py).
struct MalformedCase
{
    std::string name;
    std::string expected; ///< part of the error; "*": an error or a good reading, either will do
    std::shared_ptr<const std::vector<std::byte>>
        bytes; ///< a heap block of its own: reading past the end is seen by a sanitizer

    std::string_view text() const { return {reinterpret_cast<const char *>(bytes->data()), bytes->size()}; }
};

/// Those of one kind (symbol, params, policy, model), in the order of the manifest.
std::vector<MalformedCase> malformedCases(const std::string &kind);

/// Reads every case and says what is wrong with the outcome, a line each: no error where one is due, an error
/// without the expected text or on more than one line, more than a second. Empty when all is well.
std::string checkMalformed(const std::string &kind,
                           const std::function<Result<void>(const MalformedCase &)> &read);

/// Highest memory use of this process so far, in bytes.
std::size_t peakMemory();
/// Does that tell of the program alone? A sanitizer's shadow, and what it keeps of freed memory, would be counted.
#ifdef HALFTONE_SANITIZED
inline constexpr bool kIsMemoryOurs = false;
#else
inline constexpr bool kIsMemoryOurs = true;
#endif

/// Runs `work` on a thread whose stack is small enough that recursion over a million levels cannot pass
/// unseen.
void onSmallStack(const std::function<void()> &work);

} // namespace halftone::test
