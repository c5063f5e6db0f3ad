#pragma once

#include "core/base/result.h"
#include "core/io/arrays/npz.h"
#include "core/io/pictures/labels.h"

#include <string>
#include <vector>

namespace halftone::walks {

/// Labels of texts that a language model continues (core/quantize/RULES.md, Q-perplexity).
struct NextTokens
{
    io::Labels
        labels; ///< at each step the token that follows in the row; the last one is not judged, nor is what a mask leaves out
    std::string input; ///< the array of tokens
};

/// arrays  the inputs that are fed
/// name    of the integer array [examples, steps] of tokens; empty: the only one there is, apart from masks and positions
/// fails: BadCall where no array has this name, or none or several may be the tokens; BadInput for another shape or type, or for a single step
Result<NextTokens> nextTokens(const std::vector<io::NamedTensor> &arrays, const std::string &name);

} // namespace halftone::walks
