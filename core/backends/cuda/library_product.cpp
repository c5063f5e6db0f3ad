#include "core/backends/cuda/library_product.h"

#include "core/backends/cuda/lower.h"
#include "core/plan/coded_values.h"

namespace halftone::backends::cuda {
namespace {

using plan::ValueId;
using tensor::DType;

/// A bias in front of what follows: `axis` is that of the channels.
void prependBias(Epilogue &epilogue, const View &bias, const Dims &dims, std::size_t axis)
{
    View along{bias.dtype, dims, Dims(dims.size(), 0), bias.offset};
    along.strides[axis] = bias.strides[0];
    const std::string name = "e" + std::to_string(epilogue.operands.size());
    epilogue.operands.push_back(along);
    const std::string first = "biased";
    std::string statements = "    const auto biased = acc + " + name + ";\n";
    std::string rest = epilogue.statements;
    for (std::size_t at = rest.find("(acc)"); at != std::string::npos;
         at = rest.find("(acc)", at + first.size()))
        rest.replace(at, 5, "(biased)");
    epilogue.statements = statements + rest;
    if (epilogue.expression == "acc")
        epilogue.expression = first;
}

/// A library's product, not yet a step.
struct Prepared
{
    std::unique_ptr<Product> product;
    ProductDesc desc;
    std::vector<BufferId> buffers;
};

/// With all that stands behind it, where a library takes it so.
Result<Prepared> fused(Emitter &emitter, ProductDesc desc, const Operands &operands)
{
    const plan::PlanNode &node = emitter.node();
    const auto fusion = fusionOf(emitter.graph(), node, !desc.isConvolution && !operands.bias);
    if (!fusion)
        return refused("post-operations that no library takes");
    std::vector<BufferId> buffers{operands.a, operands.b};
    std::optional<ValueId> bias = operands.bias;
    if (fusion->bias != plan::kNoValue)
        bias = fusion->bias;
    desc.hasBias = bias.has_value();
    if (bias) {
        HALFTONE_TRY(const Place place, emitter.readIn(*bias, desc.c.dtype));
        buffers.push_back(place.buffer);
    }
    if (fusion->residual != plan::kNoValue) {
        HALFTONE_TRY(const Place residual, emitter.read(fusion->residual));
        desc.residual = desc.isConvolution ? residual.view : reshaped(residual.view, desc.c.dims);
        if (!desc.residual)
            return refused("a residual in this layout");
        buffers.push_back(residual.buffer);
    }
    desc.activation = fusion->activation;
    desc.ceiling = fusion->ceiling;
    HALFTONE_TRY(std::unique_ptr<Product> product, emitter.program().gpu().prepare(desc));
    buffers.push_back(operands.to.buffer);
    return Prepared{std::move(product), std::move(desc), std::move(buffers)};
}

/// Bare, before a kernel of our own. Sums of halves and of float8 are kept in float32 in between, where the library writes them so.
Result<Prepared> bare(Emitter &emitter, ProductDesc desc, const Behind &behind)
{
    if (!emitter.program().gpu().hasLibraries())
        return refused("a product without libraries");
    const View result = desc.c;
    const bool isCoded = plan::isFloat8(desc.a.dtype);
    const DType narrow = isCoded ? result.dtype : desc.a.dtype;
    const bool isAll = behind.text.statements.empty() && behind.text.expression == "acc";
    desc.c = denseLike(result);
    Result<std::unique_ptr<Product>> product = refused("a product that no library takes");
    for (const DType type : {isCoded || tensor::isHalf(narrow) ? DType::F32 : narrow, narrow}) {
        if (product.ok() || product.error().code != Errc::Unsupported)
            break;
        desc.c.dtype = type;
        if (!isAll || type != result.dtype) // that was asked already
            product = emitter.program().gpu().prepare(desc);
    }
    if (!product.ok())
        return product.error();
    return Prepared{std::move(product).value(), std::move(desc), {}};
}

/// What a kernel of our own behind bare sums takes at least, of this chip's memory alone, in microseconds.
double timeBehind(const Gpu &gpu, const ProductDesc &desc)
{
    constexpr double kLaunch = 2.5;
    constexpr double kUsualBandwidth = 1000; // GB/s, where the chip does not say
    constexpr double kShare = 0.8; // of it, that a kernel reaches
    const auto count = static_cast<double>(countOf(desc.c.dims));
    const double bytes = count
        * static_cast<double>(2 * tensor::sizeOf(desc.c.dtype)
                              + (desc.residual ? tensor::sizeOf(desc.residual->dtype) : 0));
    return kLaunch + bytes / (kShare * 1000 * gpu.info().bandwidth().value_or(kUsualBandwidth));
}

/// Could the parts take less than the whole? Libraries fuse whatever they are asked to, some of it at a tenth of their speed: float32
/// without TF32, a function that their products know no end for. Halves between a convolution and what stands behind it would be rounded
/// twice.
bool mayBeQuickerApart(const Gpu &gpu, const Prepared &whole)
{
    const ProductDesc &desc = whole.desc;
    const bool isFused = desc.hasBias || desc.residual || desc.activation != Activation::None;
    const auto time = whole.product->microseconds();
    if (!isFused || !time || (desc.isConvolution && tensor::isHalf(desc.a.dtype)))
        return false;
    constexpr double kLeast = 2; // of any product
    return *time > timeBehind(gpu, desc) + kLeast;
}

void addFused(Emitter &emitter, Prepared prepared)
{
    emitter.program().addProduct(withWork(emitter.stepOf(emitter.node()), workOf(prepared.desc)),
                                 std::move(prepared.product), std::move(prepared.buffers));
}

void addBare(Emitter &emitter, Prepared prepared, const Operands &operands, const View &result,
             const Behind &behind)
{
    const View sums = prepared.desc.c;
    const BufferId buffer = emitter.program().addBuffer(static_cast<std::size_t>(countOf(sums.dims))
                                                        * tensor::sizeOf(sums.dtype));
    emitter.program().addProduct(withWork(emitter.stepOf(emitter.node()), workOf(prepared.desc)),
                                 std::move(prepared.product), {operands.a, operands.b, buffer});
    finishSums(emitter, {buffer, sums}, {operands.to.buffer, result}, behind.text, behind.buffers);
}

} // namespace

Result<Behind> behindProduct(Emitter &emitter, const std::optional<ValueId> &bias, const View &result,
                             std::size_t biasAxis, const See &see)
{
    HALFTONE_TRY(auto epilogue, emitter.epilogueOf(emitter.node()));
    Behind behind{std::move(epilogue.first), std::move(epilogue.second)};
    for (View &operand : behind.text.operands) {
        const std::optional<View> view = see(operand);
        if (!view)
            return refused("a post-operation whose operand does not fit the product");
        operand = *view;
    }
    if (bias) {
        HALFTONE_TRY(const Place place, emitter.read(*bias));
        prependBias(behind.text, place.view, result.dims, biasAxis);
        behind.buffers.push_back(place.buffer);
    }
    return behind;
}

Result<void> emitLibraryProduct(Emitter &emitter, const ProductDesc &desc, const Operands &operands,
                                const std::function<Result<Behind>()> &behind)
{
    Gpu &gpu = emitter.program().gpu();
    Result<Prepared> whole = fused(emitter, desc, operands);
    if (!whole.ok() && whole.error().code != Errc::Unsupported)
        return whole.error();
    if (whole.ok() && !mayBeQuickerApart(gpu, whole.value())) {
        addFused(emitter, std::move(whole).value());
        return {};
    }
    HALFTONE_TRY(const Behind epilogue, behind());
    Result<Prepared> parts = bare(emitter, desc, epilogue);
    if (!parts.ok() && (parts.error().code != Errc::Unsupported || !whole.ok()))
        return parts.error();
    const auto timeOf = [](const Prepared &prepared) { return prepared.product->microseconds(); };
    const bool staysWhole = whole.ok()
        && (!parts.ok() || !timeOf(parts.value())
            || *timeOf(parts.value()) + timeBehind(gpu, whole.value().desc) >= *timeOf(whole.value()));
    if (staysWhole)
        addFused(emitter, std::move(whole).value());
    else
        addBare(emitter, std::move(parts).value(), operands, desc.c, epilogue);
    return {};
}

} // namespace halftone::backends::cuda
