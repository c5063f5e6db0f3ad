#include "core/policy/int8_forms.h"

#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/dialect/quantized_forms.h"

namespace halftone::policy {

bool hasInt8Form(const dialect::Dialect &dialect, std::string_view op)
{
    const dialect::QuantizedForms *const forms = dialect.quantizedForms();
    if (forms != nullptr)
        return forms->kindOf(op) != dialect::Int8Kind::None;
    const dialect::CodedPairs *const pairs = dialect::codedPairsOf(dialect);
    return pairs != nullptr && pairs->hasForm(op);
}

} // namespace halftone::policy
