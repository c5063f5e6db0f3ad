#pragma once

#include "core/base/progress.h"

namespace halftone {

/// For one step of a longer call: what it has done of itself is told as `share` of the whole, which was at `from` before. `whole` has to live
/// as long.
inline Progress partOf(const Progress &whole, double from, double share)
{
    return {whole.stop, [&whole, from, share](double done, std::string_view what) {
                whole.tell(from + share * done, what);
            }};
}

} // namespace halftone
