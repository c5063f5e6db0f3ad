#include "core/backends/reference/kernels.h"
#include "core/ops/tensor_list.h"

namespace halftone::backends::reference {

Result<void> move(const ops::TensorList &op, const RawArrays &arrays)
{
    std::vector<ops::TypedBytes> inputs;
    for (std::size_t k = 0; k < arrays.in.size(); ++k) {
        const kernels::TensorDesc &desc = arrays.operation.inputs[k];
        inputs.push_back(
            {desc.dtype, desc.shape, {arrays.in[k], arrays.inCount(k) * tensor::sizeOf(desc.dtype)}});
    }
    HALFTONE_TRY(const ops::ListResult result, ops::ListResult::of(op, inputs));
    const kernels::TensorDesc &output = arrays.operation.outputs[0];
    if (result.shape(output.dtype) != output.shape)
        return badInput("output 0", output.shape.toString(), result.shape(output.dtype).toString());
    if (arrays.outCount(0) > 0)
        result.write(arrays.out[0]);
    return {};
}

} // namespace halftone::backends::reference
