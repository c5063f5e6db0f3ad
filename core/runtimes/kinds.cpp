#include "core/runtimes/kinds.h"

#include <array>

namespace halftone::runtimes {

const std::string_view kHandedFormat = "onnx";

std::span<const RuntimeKind> kinds()
{
    static constexpr std::array kKinds{
        RuntimeKind{.name = "ort",
                    .title = "ONNX Runtime",
                    .package = "onnxruntime",
                    .variable = "HALFTONE_ORT",
                    .folder = "onnxruntime/capi",
                    .library = "libonnxruntime.so",
                    .provider = "CPUExecutionProvider"},
        RuntimeKind{.name = "openvino",
                    .title = "OpenVINO",
                    .package = "openvino",
                    .variable = "HALFTONE_OPENVINO",
                    .folder = "openvino/libs",
                    .library = "libopenvino_c.so",
                    .provider = "CPU",
                    .takesPrecision = true},
    };
    return kKinds;
}

} // namespace halftone::runtimes
