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

bool isUnsupported(const Error &error)
{
    return error.code == Errc::Unsupported;
}

} // namespace

Result<Behind> behindProduct(Emitter &emitter, const std::optional<ValueId> &bias, const View &result,
                             const ResultAxes &axes)
{
    HALFTONE_TRY(auto epilogue, emitter.epilogueOf(emitter.node()));
    Behind behind{std::move(epilogue.first), std::move(epilogue.second)};
    for (View &operand : behind.text.operands) {
        const std::optional<View> view = axes.see(operand);
        if (!view)
            return refused("a post-operation whose operand does not fit the product");
        operand = *view;
    }
    if (bias) {
        HALFTONE_TRY(const Place place, emitter.read(*bias));
        prependBias(behind.text, place.view, result.dims, axes.ofBias);
        behind.buffers.push_back(place.buffer);
    }
    return behind;
}

double movingTime(const Gpu &gpu, double bytes)
{
    constexpr double kLaunch = 2.5;
    constexpr double kUsualBandwidth = 1000; // GB/s, where the chip does not say
    constexpr double kShare = 0.7; // of it, that a kernel reaches
    return kLaunch + bytes / (kShare * 1000 * gpu.info().bandwidth().value_or(kUsualBandwidth));
}

/// fails: Unsupported for post-operations that no library takes, too
Result<LibraryProduct> LibraryProduct::whole(Emitter &emitter, ProductDesc desc, const Operands &operands,
                                             const ResultAxes &axes)
{
    const auto fusion = fusionOf(emitter.graph(), emitter.node(), !desc.isConvolution && !operands.bias);
    if (!fusion)
        return refused("post-operations that no library takes");
    LibraryProduct made;
    made.m_buffers = {operands.a, operands.b};
    std::optional<ValueId> bias = operands.bias;
    if (fusion->bias != plan::kNoValue)
        bias = fusion->bias;
    desc.hasBias = bias.has_value();
    if (bias) {
        HALFTONE_TRY(const Place place, emitter.readIn(*bias, desc.c.dtype));
        made.m_buffers.push_back(place.buffer);
    }
    if (fusion->residual != plan::kNoValue) {
        HALFTONE_TRY(const Place residual, emitter.read(fusion->residual));
        desc.residual = axes.see(residual.view);
        if (!desc.residual)
            return refused("a residual in this layout");
        made.m_buffers.push_back(residual.buffer);
    }
    desc.activation = fusion->activation;
    desc.ceiling = fusion->ceiling;
    HALFTONE_TRY(made.m_product, emitter.program().gpu().prepare(desc));
    made.m_microseconds = made.m_product->microseconds();
    made.m_to = {operands.to.buffer, desc.c};
    made.m_work = workOf(desc);
    made.m_desc = std::move(desc);
    return made;
}

/// As the node itself rounds it before what stands behind.
Result<LibraryProduct> LibraryProduct::biased(Emitter &emitter, ProductDesc desc, const Operands &operands,
                                              const ResultAxes &axes)
{
    if (!operands.bias || emitter.node().post.empty() || !tensor::isHalf(desc.c.dtype)
        || desc.a.dtype != desc.c.dtype)
        return refused("a product without a bias, or with nothing else behind it");
    LibraryProduct made;
    HALFTONE_TRY(made.m_behind, behindProduct(emitter, std::nullopt, desc.c, axes));
    HALFTONE_TRY(const Place bias, emitter.readIn(*operands.bias, desc.c.dtype));
    made.m_buffers = {operands.a, operands.b, bias.buffer};
    made.m_to = {operands.to.buffer, desc.c};
    desc.c = denseLike(desc.c);
    desc.hasBias = true;
    HALFTONE_TRY(made.m_product, emitter.program().gpu().prepare(desc));
    made.m_work = workOf(desc);
    made.m_desc = std::move(desc);
    made.setPartsTime(emitter.program().gpu());
    return made;
}

/// Sums of halves and of float8 are kept in float32 in between, where the library writes them so.
Result<LibraryProduct> LibraryProduct::bare(Emitter &emitter, ProductDesc desc, const Operands &operands,
                                            const ResultAxes &axes)
{
    if (!emitter.program().gpu().hasLibraries())
        return refused("a product without libraries");
    LibraryProduct made;
    HALFTONE_TRY(made.m_behind, behindProduct(emitter, operands.bias, desc.c, axes));
    const View result = desc.c;
    const bool isCoded = plan::isFloat8(desc.a.dtype);
    const DType narrow = isCoded ? result.dtype : desc.a.dtype;
    const bool isAll = made.m_behind->text.statements.empty() && made.m_behind->text.expression == "acc";
    desc.c = denseLike(result);
    Result<std::unique_ptr<Product>> product = refused("a product that no library takes");
    for (const DType type : {isCoded || tensor::isHalf(narrow) ? DType::F32 : narrow, narrow}) {
        if (product.ok() || !isUnsupported(product.error()))
            break;
        desc.c.dtype = type;
        if (!isAll || type != result.dtype) // that was asked already
            product = emitter.program().gpu().prepare(desc);
    }
    if (!product.ok())
        return product.error();
    made.m_product = std::move(product).value();
    made.m_buffers = {operands.a, operands.b};
    made.m_to = {operands.to.buffer, result};
    made.m_work = workOf(desc);
    made.m_desc = std::move(desc);
    made.setPartsTime(emitter.program().gpu());
    return made;
}

/// The product's, as measured, and what the kernel behind it takes by the chip's memory.
void LibraryProduct::setPartsTime(const Gpu &gpu)
{
    auto each = static_cast<double>(tensor::sizeOf(m_desc.c.dtype) + tensor::sizeOf(m_to.view.dtype));
    for (const View &operand : m_behind->text.operands)
        if (operand.strides == m_to.view.strides) // as many values as the result has
            each += static_cast<double>(tensor::sizeOf(operand.dtype));
    if (const auto time = m_product->microseconds())
        m_microseconds = *time + movingTime(gpu, each * static_cast<double>(countOf(m_desc.c.dims)));
}

Result<LibraryProduct> LibraryProduct::prepare(Emitter &emitter, const ProductDesc &desc,
                                               const Operands &operands, const ResultAxes &axes)
{
    Gpu &gpu = emitter.program().gpu();
    Result<LibraryProduct> best = whole(emitter, desc, operands, axes);
    // Libraries fuse whatever they are asked to, some of it at a tenth of their speed: float32 without TF32, a function that their
    // products know no end for. Halves between a convolution and what stands behind it would be rounded twice.
    const auto mayBeQuicker = [&](const LibraryProduct &known) {
        constexpr double kLeast = 2; // microseconds, of any product
        const ProductDesc &done = known.m_desc;
        const auto moved = static_cast<double>(2 * tensor::sizeOf(done.c.dtype))
            * static_cast<double>(countOf(done.c.dims));
        return (done.hasBias || done.residual || done.activation != Activation::None)
            && !(done.isConvolution && tensor::isHalf(done.a.dtype)) && known.m_microseconds
            && *known.m_microseconds > kLeast + movingTime(gpu, moved);
    };
    if (!best.ok() && !isUnsupported(best.error()))
        return best.error();
    if (best.ok() && !mayBeQuicker(best.value()))
        return best;
    for (const auto make : {&LibraryProduct::bare, &LibraryProduct::biased}) {
        if (make == &LibraryProduct::biased && best.ok() && !best.value().m_microseconds)
            break; // nothing to compare with
        Result<LibraryProduct> other = make(emitter, desc, operands, axes);
        if (!other.ok() && !isUnsupported(other.error()))
            return other.error();
        if (!best.ok()) {
            best = std::move(other);
            continue;
        }
        const auto time = other.ok() ? other.value().m_microseconds : std::nullopt;
        if (time && *time < best.value().m_microseconds.value_or(0))
            best = std::move(other);
    }
    return best;
}

void LibraryProduct::emit(Emitter &emitter, std::optional<BufferId> a) &&
{
    Program &program = emitter.program();
    if (a)
        m_buffers[0] = *a;
    const View sums = m_desc.c;
    const BufferId to = m_behind
        ? program.addBuffer(static_cast<std::size_t>(countOf(sums.dims)) * tensor::sizeOf(sums.dtype))
        : m_to.buffer;
    m_buffers.push_back(to);
    program.addProduct(withWork(emitter.stepOf(emitter.node()), m_work), std::move(m_product),
                       std::move(m_buffers));
    if (m_behind)
        finishSums(emitter, {to, sums}, m_to, m_behind->text, m_behind->buffers);
}

Result<void> emitLibraryProduct(Emitter &emitter, const ProductDesc &desc, const Operands &operands,
                                const ResultAxes &axes)
{
    HALFTONE_TRY(LibraryProduct product, LibraryProduct::prepare(emitter, desc, operands, axes));
    std::move(product).emit(emitter);
    return {};
}

} // namespace halftone::backends::cuda
