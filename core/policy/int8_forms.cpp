#include "core/policy/int8_forms.h"

#include "core/dialect/dialect.h"
#include "core/dialect/quantized_forms.h"

namespace halftone::policy {

bool hasInt8Form(const dialect::Dialect &dialect, std::string_view op)
{
    const dialect::QuantizedForms *const forms = dialect.quantizedForms();
    return forms != nullptr && forms->kindOf(op) != dialect::Int8Kind::None;
}

} // namespace halftone::policy
