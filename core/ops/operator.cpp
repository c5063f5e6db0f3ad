#include "core/ops/operator.h"

namespace halftone::ops {

std::shared_ptr<const void> Operator::hold(const void *value, void (*discard)(const void *))
{
    return {value, discard};
}

} // namespace halftone::ops
