#pragma once

#include "core/base/result.h"

#include <functional>
#include <stop_token>
#include <string_view>

namespace halftone {

/// What a long call gets from its caller: a way to be stopped and a place to report to. Cheap to copy; the
/// default neither stops nor reports.
struct Progress
{
    std::stop_token stop;
    /// Called with a share done in [0, 1] and what is being done; may be called often, the receiver thins it
    /// out.
    std::function<void(double, std::string_view)> report;

    bool stopped() const { return stop.stop_requested(); }
    /// fails: Cancelled, once stopped. What every long loop asks.
    Result<void> checkStop() const { return stopped() ? Result<void>(cancelled()) : Result<void>(); }
    void tell(double share, std::string_view what) const
    {
        if (report)
            report(share, what);
    }
};

} // namespace halftone
