#include "core/session/in_format.h"

#include "core/dialect/dialect.h"
#include "core/translate/to_onnx.h"

namespace halftone::session {

Result<graph::Model> inFormatOf(const io::ModelOutput &output, const graph::Model &model,
                                const std::unordered_map<std::string, tensor::Shape> &shapes,
                                const std::map<std::string, tensor::DType> &types)
{
    if (!output.isOnnx() || dialect::of(model.graph).name() == "onnx")
        return model;
    return translate::toOnnx(model, {shapes, {types.begin(), types.end()}});
}

} // namespace halftone::session
