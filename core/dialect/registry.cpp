#include "core/dialect/registry.h"

#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"
#include "core/dialect/tflite/tflite_dialect.h"
#ifndef HALFTONE_WITHOUT_MXNET
#include "core/dialect/mxnet/mxnet_dialect.h"
#endif

#include <algorithm>
#include <array>

namespace halftone::dialect {

std::span<const Dialect *const> allDialects()
{
    static const std::array kDialects{
        &onnx::onnxDialect(onnx::kNewestOpset),
#ifndef HALFTONE_WITHOUT_MXNET
        &mxnet::mxnetDialect(),
#endif
        &tflite::tfliteDialect(),
    };
    return kDialects;
}

const Dialect &defaultDialect()
{
    return *allDialects().front();
}

const Dialect *dialectNamed(std::string_view name)
{
    const auto found = std::ranges::find(allDialects(), name, &Dialect::name);
    return found == allDialects().end() ? nullptr : *found;
}

} // namespace halftone::dialect
