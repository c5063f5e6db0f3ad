#include "core/weights/matrix_codes.h"

#include "core/base/share_work.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

namespace halftone::weights {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::WeightFormat;

constexpr std::size_t kPanel = 32; ///< outputs that are encoded at a time

/// How a matrix is cut.
struct Extents
{
    Extents(const WeightMatrix &matrix, const WeightFormat &format)
        : inputs(static_cast<std::size_t>(matrix.inputs))
        , outputs(static_cast<std::size_t>(matrix.outputs))
        , blocks(static_cast<std::size_t>(blocksOf(format, matrix.inputs)))
        , block(format.isPerChannel() ? inputs : static_cast<std::size_t>(format.block))
        , filled(blocks * block)
    {
    }
    std::size_t inputs;
    std::size_t outputs;
    std::size_t blocks; ///< of an output
    std::size_t block; ///< weights of one
    std::size_t filled; ///< weights of an output in whole blocks
};

/// The weights of outputs first … first + count - 1, each one after the other, `stride` apart.
void readOutputs(const WeightMatrix &matrix, std::size_t first, std::size_t count, std::size_t stride,
                 float *to)
{
    const DType type = matrix.values.dtype();
    const std::byte *const bytes = matrix.values.bytes().data();
    const std::size_t size = tensor::sizeOf(type);
    const auto inputs = static_cast<std::size_t>(matrix.inputs);
    const auto outputs = static_cast<std::size_t>(matrix.outputs);
    if (matrix.outputsFirst) {
        for (std::size_t k = 0; k < count; ++k)
            tensor::widen(type, bytes + (first + k) * inputs * size, inputs, to + k * stride);
        return;
    }
    std::array<float, kPanel> row{};
    for (std::size_t i = 0; i < inputs; ++i) {
        tensor::widen(type, bytes + (i * outputs + first) * size, count, row.data());
        for (std::size_t k = 0; k < count; ++k)
            to[k * stride + i] = row[k];
    }
}

/// What a panel is encoded in.
struct PanelRoom
{
    explicit PanelRoom(const Extents &extents)
        : weights(kPanel * extents.filled)
        , codes(kPanel * extents.filled)
        , scales(kPanel * extents.blocks)
        , values(extents.block)
    {
    }
    std::vector<float> weights;
    std::vector<std::uint8_t> codes;
    std::vector<BlockScale> scales;
    std::vector<float> values;
};

/// Encodes the matrix panel by panel and hands each to `take(panel, first output)`, on any thread.
template <class Take>
void forPanels(const WeightMatrix &matrix, const EncodeSettings &settings, float matrixScale,
               const Take &take)
{
    const Extents extents(matrix, settings.format);
    const BlockCoder coder(settings.format, settings.searches, matrixScale);
    const std::size_t panels = (extents.outputs + kPanel - 1) / kPanel;
    const unsigned threads = threadsFor(settings.threads);
    std::vector<std::unique_ptr<PanelRoom>> rooms(threads);
    matrix.values.bytes(); // made now where they are deferred
    shareParts(threads, panels, [&](std::size_t part, unsigned thread) {
        if (!rooms[thread])
            rooms[thread] = std::make_unique<PanelRoom>(extents);
        PanelRoom &room = *rooms[thread];
        const std::size_t first = part * kPanel;
        const OutputPanel panel{std::min(kPanel, extents.outputs - first),
                                extents.filled,
                                extents.block,
                                room.weights.data(),
                                room.codes.data(),
                                room.scales.data()};
        readOutputs(matrix, first, panel.outputs, extents.filled, panel.weights);
        if (settings.encode)
            settings.encode(coder, panel);
        else
            for (std::size_t k = 0; k < panel.outputs * extents.blocks; ++k)
                panel.scales[k] = coder.encode(std::span(panel.weights + k * extents.block, extents.block),
                                               panel.codes + k * extents.block);
        if (settings.encode) // the weights may have been changed
            readOutputs(matrix, first, panel.outputs, extents.filled, panel.weights);
        take(coder, panel, first, room.values);
        return true;
    });
}

/// Sums over the weights of each output, so that the total does not depend on threads.
struct OutputErrors
{
    std::vector<double> signal;
    std::vector<double> noise;
};

void addErrors(const BlockCoder &coder, const OutputPanel &panel, std::size_t first,
               std::vector<float> &values, OutputErrors &errors)
{
    const std::size_t blocks = panel.inputs / panel.block;
    for (std::size_t k = 0; k < panel.outputs * blocks; ++k) {
        const std::size_t at = k * panel.block;
        coder.decode(std::span(panel.codes + at, panel.block), panel.scales[k], values.data());
        for (std::size_t i = 0; i < panel.block; ++i) {
            const double weight = panel.weights[at + i];
            const double difference = weight - double{values[i]};
            errors.signal[first + k / blocks] += weight * weight;
            errors.noise[first + k / blocks] += difference * difference;
        }
    }
}

double sumOf(const std::vector<double> &values)
{
    double sum = 0;
    for (const double value : values)
        sum += value;
    return sum;
}

/// Bytes that several codes are put into, the first in the lowest bits.
void pack(const std::uint8_t *codes, std::size_t count, int bits, std::byte *to)
{
    const auto inByte = static_cast<std::size_t>(8 / bits);
    for (std::size_t i = 0; i < count; i += inByte) {
        unsigned byte = 0;
        for (std::size_t k = 0; k < inByte && i + k < count; ++k)
            byte |= static_cast<unsigned>(codes[i + k]) << (k * static_cast<std::size_t>(bits));
        to[i / inByte] = static_cast<std::byte>(byte);
    }
}

std::size_t bytesOf(const Shape &shape, DType type)
{
    return static_cast<std::size_t>(shape.elementCount().value_or(0)) * tensor::sizeOf(type);
}

/// Places what panels hold into the bytes of tensors.
class CodeWriter
{
public:
    CodeWriter(const WeightMatrix &matrix, const EncodeSettings &settings)
        : m_extents(matrix, settings.format)
        , m_format(settings.format)
        , m_layout(settings.layout)
        , m_scaleType(scalesType(settings.format, settings.scaleType))
        , m_codes(bytesOf(codesShape(matrix, m_format, m_layout), codesType(m_format, m_layout)))
        , m_scales(bytesOf(scalesShape(matrix, m_format, m_layout), m_scaleType))
        , m_zeros(m_format.hasZeroPoints()
                      ? bytesOf(zeroPointsShape(matrix, m_format, m_layout), codesType(m_format, m_layout))
                      : 0)
        , m_subtracted(m_format.kind == WeightFormat::Kind::Int && m_layout != CodeLayout::Packed
                           ? 1U << (m_format.bits - 1)
                           : 0U)
    {
    }

    void take(const OutputPanel &panel, std::size_t first)
    {
        for (std::size_t k = 0; k < panel.outputs; ++k) {
            takeScales(panel.scales + k * m_extents.blocks, first + k);
            if (m_layout != CodeLayout::InputsFirst)
                takeCodes(panel.codes + k * m_extents.filled, first + k);
        }
        if (m_layout == CodeLayout::InputsFirst)
            for (std::size_t i = 0; i < m_extents.inputs; ++i)
                for (std::size_t k = 0; k < panel.outputs; ++k)
                    m_codes[i * m_extents.outputs + first + k]
                        = stored(panel.codes[k * m_extents.filled + i]);
    }

    WeightCodes finish(const WeightMatrix &matrix)
    {
        WeightCodes result;
        const DType type = codesType(m_format, m_layout);
        result.codes = Tensor::owning(type, codesShape(matrix, m_format, m_layout), std::move(m_codes));
        result.scales
            = Tensor::owning(m_scaleType, scalesShape(matrix, m_format, m_layout), std::move(m_scales));
        if (m_format.hasZeroPoints())
            result.zeroPoints
                = Tensor::owning(type, zeroPointsShape(matrix, m_format, m_layout), std::move(m_zeros));
        return result;
    }

private:
    std::byte stored(std::uint8_t code) const { return static_cast<std::byte>(code - m_subtracted); }

    void takeCodes(const std::uint8_t *codes, std::size_t output)
    {
        if (m_layout == CodeLayout::Packed) {
            const auto size = m_extents.block * static_cast<std::size_t>(m_format.bits) / 8;
            for (std::size_t b = 0; b < m_extents.blocks; ++b)
                pack(codes + b * m_extents.block, m_extents.block, m_format.bits,
                     m_codes.data() + (output * m_extents.blocks + b) * size);
            return;
        }
        for (std::size_t i = 0; i < m_extents.inputs; ++i)
            m_codes[output * m_extents.inputs + i] = stored(codes[i]);
    }

    void takeScales(const BlockScale *scales, std::size_t output)
    {
        const std::size_t blocks = m_extents.blocks;
        std::vector<std::uint8_t> zeros(blocks);
        for (std::size_t b = 0; b < blocks; ++b) {
            const std::size_t at
                = m_layout == CodeLayout::InputsFirst ? b * m_extents.outputs + output : output * blocks + b;
            if (m_format.scaleBits() == 8)
                m_scales[at] = static_cast<std::byte>(scales[b].code);
            else
                tensor::narrow(&scales[b].scale, 1, m_scaleType,
                               m_scales.data() + at * tensor::sizeOf(m_scaleType));
            if (m_format.hasZeroPoints() && m_layout != CodeLayout::Packed)
                m_zeros[at] = static_cast<std::byte>(scales[b].zero);
            zeros[b] = scales[b].zero;
        }
        if (m_format.hasZeroPoints() && m_layout == CodeLayout::Packed)
            pack(zeros.data(), blocks, m_format.bits,
                 m_zeros.data() + output * (m_zeros.size() / m_extents.outputs));
    }

    Extents m_extents;
    WeightFormat m_format;
    CodeLayout m_layout;
    DType m_scaleType;
    std::vector<std::byte> m_codes;
    std::vector<std::byte> m_scales;
    std::vector<std::byte> m_zeros;
    unsigned m_subtracted;
};

} // namespace

std::int64_t blocksOf(const WeightFormat &format, std::int64_t inputs)
{
    return format.isPerChannel() ? 1 : (inputs + format.block - 1) / format.block;
}

Shape codesShape(const WeightMatrix &matrix, const WeightFormat &format, CodeLayout layout)
{
    if (layout == CodeLayout::Packed)
        return {matrix.outputs, blocksOf(format, matrix.inputs), format.block * format.bits / 8};
    return matrix.outputsFirst == (layout == CodeLayout::OutputsFirst) ? matrix.values.shape()
                                                                       : Shape{matrix.inputs, matrix.outputs};
}

Shape scalesShape(const WeightMatrix &matrix, const WeightFormat &format, CodeLayout layout)
{
    if (format.isPerChannel())
        return {matrix.outputs};
    const std::int64_t blocks = blocksOf(format, matrix.inputs);
    return layout == CodeLayout::InputsFirst ? Shape{blocks, matrix.outputs} : Shape{matrix.outputs, blocks};
}

Shape zeroPointsShape(const WeightMatrix &matrix, const WeightFormat &format, CodeLayout layout)
{
    if (layout != CodeLayout::Packed)
        return scalesShape(matrix, format, layout);
    const std::int64_t bits = blocksOf(format, matrix.inputs) * format.bits;
    return {matrix.outputs, (bits + 7) / 8};
}

DType codesType(const WeightFormat &format, CodeLayout layout)
{
    return layout == CodeLayout::Packed ? DType::U8 : format.codeType();
}

DType scalesType(const WeightFormat &format, DType real)
{
    using Kind = WeightFormat::Kind;
    return format.kind == Kind::NvFp4                              ? DType::F8E4M3FN
        : format.kind == Kind::MxFp4 || format.kind == Kind::MxFp8 ? DType::F8E8M0
                                                                   : real;
}

float scaleOf(const WeightMatrix &matrix, const WeightFormat &format)
{
    return format.kind == WeightFormat::Kind::NvFp4 ? matrixScaleOf(format, largestOf(matrix)) : 1;
}

WeightCodes encodeMatrix(const WeightMatrix &matrix, const EncodeSettings &settings)
{
    const float matrixScale = scaleOf(matrix, settings.format);
    const auto outputs = static_cast<std::size_t>(matrix.outputs);
    OutputErrors errors{std::vector<double>(outputs), std::vector<double>(outputs)};
    CodeWriter writer(matrix, settings);
    forPanels(matrix, settings, matrixScale,
              [&](const BlockCoder &coder, const OutputPanel &panel, std::size_t first,
                  std::vector<float> &values) {
                  addErrors(coder, panel, first, values, errors);
                  writer.take(panel, first);
              });
    WeightCodes codes = writer.finish(matrix);
    codes.matrixScale = matrixScale;
    codes.signal = sumOf(errors.signal);
    codes.noise = sumOf(errors.noise);
    return codes;
}

Tensor roundedMatrix(const WeightMatrix &matrix, const EncodeSettings &settings)
{
    const Extents extents(matrix, settings.format);
    std::vector<std::byte> bytes(extents.inputs * extents.outputs * sizeof(float));
    const auto put = [&bytes](std::size_t at, const float *values, std::size_t count) {
        std::memcpy(bytes.data() + at * sizeof(float), values, count * sizeof(float));
    };
    forPanels(
        matrix, settings, scaleOf(matrix, settings.format),
        [&](const BlockCoder &coder, const OutputPanel &panel, std::size_t first, std::vector<float> &) {
            for (std::size_t k = 0; k < panel.outputs * extents.blocks; ++k)
                coder.decode(std::span(panel.codes + k * panel.block, panel.block), panel.scales[k],
                             panel.weights + k * panel.block);
            for (std::size_t k = 0; k < panel.outputs; ++k) {
                const float *const weights = panel.weights + k * panel.inputs;
                if (matrix.outputsFirst)
                    put((first + k) * extents.inputs, weights, extents.inputs);
                else
                    for (std::size_t i = 0; i < extents.inputs; ++i)
                        put(i * extents.outputs + first + k, weights + i, 1);
            }
        });
    return Tensor::owning(DType::F32, matrix.values.shape(), std::move(bytes));
}

float largestOf(const WeightMatrix &matrix)
{
    constexpr std::size_t kPiece = 4096;
    const DType type = matrix.values.dtype();
    const std::byte *const bytes = matrix.values.bytes().data();
    const std::size_t count = matrix.values.elementCount();
    std::array<float, kPiece> values{};
    float largest = 0;
    bool isFinite = true;
    for (std::size_t first = 0; first < count; first += kPiece) {
        const std::size_t size = std::min(kPiece, count - first);
        tensor::widen(type, bytes + first * tensor::sizeOf(type), size, values.data());
        for (std::size_t i = 0; i < size; ++i) {
            largest = std::max(largest, std::abs(values[i]));
            isFinite = isFinite && std::isfinite(values[i]);
        }
    }
    return isFinite ? largest : std::numeric_limits<float>::infinity();
}

} // namespace halftone::weights
