#include "core/kernels/latency_plan.h"

namespace halftone::kernels {

std::string_view nameOf(StepKind kind)
{
    switch (kind) {
    case StepKind::Cast:
        return "cast";
    case StepKind::Reorder:
        return "reorder";
    case StepKind::Runtime:
        return "runtime";
    case StepKind::Compute:
        break;
    }
    return "compute";
}

} // namespace halftone::kernels
