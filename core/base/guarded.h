#pragma once

#include "core/base/result.h"

#include <utility>

namespace halftone {

/// The Error that the exception being handled amounts to. Needs: a catch block.
Error currentFailure() noexcept;

/// Calls `work`, which gives a Result, and turns what it throws into an Error. Bad input is never an exception here; want of
/// memory and of threads is. Where a thread, a job or a program begins, it has to end.
template <class F>
auto guarded(F &&work) noexcept -> decltype(work())
{
    try {
        return std::forward<F>(work)();
    } catch (...) {
        return currentFailure();
    }
}

} // namespace halftone
