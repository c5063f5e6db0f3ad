#include "core/translate/translation.h"

namespace halftone::translate {

Translation translationTo(std::string_view format)
{
    return format == "onnx" ? toOnnx : nullptr;
}

} // namespace halftone::translate
