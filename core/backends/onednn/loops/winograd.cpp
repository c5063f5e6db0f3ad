#include "core/backends/onednn/loops/winograd.h"

#include "core/backends/onednn/dnnl_common.h"
#include "core/backends/onednn/loops/word_products.h"
#include "core/backends/onednn/scratch.h"
#include "core/base/memory.h"
#include "core/kernels/buffer.h"
#include "core/tensor/convert.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace halftone::backends::onednn {
namespace {

constexpr std::int64_t kMostTiles = 6; ///< tiles at a time in the products
constexpr std::int64_t kFewestTiles = 4;
constexpr double kTransform = 18; ///< products in whose time a number goes through a transformation
constexpr double kByte = 4; ///< products in whose time a byte of weights comes from memory
constexpr std::size_t kCached = std::size_t{1}
    << 20; ///< bytes that a thread works on between transformations

struct Geometry
{
    std::int64_t side; ///< of a transformed tile
    std::int64_t positions; ///< side²
    std::int64_t rows; ///< of tiles in a picture
    std::int64_t columns;
    std::int64_t tiles; ///< in all
    std::int64_t group; ///< output channels that are computed together

    explicit Geometry(const WinogradConv &shape)
        : side(shape.tile + 2)
        , positions(side * side)
        , rows((shape.to[0] + shape.tile - 1) / shape.tile)
        , columns((shape.to[1] + shape.tile - 1) / shape.tile)
        , tiles(shape.pictures * rows * columns)
        , group(shape.outputs % 64 == 0       ? 64
                    : shape.outputs % 32 == 0 ? 32
                                              : 16)
    {
    }
};

/// Tiles at a time, of so many in all, so that the last time is as full as can be.
std::int64_t rowsAtOnce(std::int64_t tiles)
{
    std::int64_t best = kMostTiles;
    const auto computed = [tiles](std::int64_t rows) { return (tiles + rows - 1) / rows * rows; };
    for (std::int64_t rows = kMostTiles; rows >= kFewestTiles; --rows)
        if (computed(rows) < computed(best))
            best = rows;
    return best;
}

/// Elements from one picture, row, pixel and block of 16 channels to the next.
struct Strides
{
    std::int64_t picture;
    std::int64_t row;
    std::int64_t pixel;
    std::int64_t block;

    Strides(bool isBlocked, std::int64_t channels, const std::int64_t (&extent)[2])
        : picture(channels * extent[0] * extent[1])
        , row(isBlocked ? 16 * extent[1] : channels * extent[1])
        , pixel(isBlocked ? 16 : channels)
        , block(isBlocked ? 16 * extent[0] * extent[1] : 16)
    {
    }
};

/// G of F(m, 3).
std::array<double, 3> filterRow(int tile, std::int64_t k)
{
    static constexpr std::array<std::array<double, 3>, 4> kTwo{
        {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}}};
    static constexpr std::array<std::array<double, 3>, 6> kFour{{{1.0 / 4, 0, 0},
                                                                 {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                                                 {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                                                 {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                                                 {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                                                 {0, 0, 1}}};
    return tile == 2 ? kTwo[static_cast<std::size_t>(k)] : kFour[static_cast<std::size_t>(k)];
}

/// G g Gᵀ at one position.
double transformedFilter(int tile, std::int64_t position, const float *filter)
{
    const std::int64_t side = tile + 2;
    const auto down = filterRow(tile, position / side);
    const auto along = filterRow(tile, position % side);
    double sum = 0;
    for (std::size_t y = 0; y < 3; ++y)
        for (std::size_t x = 0; x < 3; ++x)
            sum += down[y] * static_cast<double>(filter[3 * y + x]) * along[x];
    return sum;
}

#ifdef __x86_64__

using Vector = __m512;

template <tensor::DType kType>
HALFTONE_WIDE inline Vector load(const std::byte *base, std::int64_t at)
{
    if constexpr (kType == tensor::DType::F32)
        return _mm512_loadu_ps(reinterpret_cast<const float *>(base) + at);
    else
        return _mm512_castsi512_ps(
            _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(
                                  reinterpret_cast<const std::uint16_t *>(base) + at))),
                              16));
}

template <tensor::DType kType>
HALFTONE_WIDE inline void store(std::byte *base, std::int64_t at, Vector value)
{
    if constexpr (kType == tensor::DType::F32)
        _mm512_storeu_ps(reinterpret_cast<float *>(base) + at, value);
    else
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(reinterpret_cast<std::uint16_t *>(base) + at),
                            reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value)));
}

/// Bᵀ d, for one column or row.
template <int kSide>
HALFTONE_WIDE inline void transformData(const Vector (&d)[kSide], Vector (&o)[kSide])
{
    if constexpr (kSide == 4) {
        o[0] = d[0] - d[2];
        o[1] = d[1] + d[2];
        o[2] = d[2] - d[1];
        o[3] = d[1] - d[3];
    } else {
        const Vector four = _mm512_set1_ps(4);
        const Vector five = _mm512_set1_ps(5);
        const Vector even = _mm512_fnmadd_ps(four, d[2], d[4]);
        const Vector odd = _mm512_fnmadd_ps(four, d[1], d[3]);
        const Vector outer = d[4] - d[2];
        const Vector inner = (d[3] - d[1]) + (d[3] - d[1]);
        o[0] = _mm512_fmadd_ps(four, d[0], _mm512_fnmadd_ps(five, d[2], d[4]));
        o[1] = even + odd;
        o[2] = even - odd;
        o[3] = outer + inner;
        o[4] = outer - inner;
        o[5] = _mm512_fmadd_ps(four, d[1], _mm512_fnmadd_ps(five, d[3], d[5]));
    }
}

/// Aᵀ m, for one column or row.
template <int kSide>
HALFTONE_WIDE inline void transformSums(const Vector (&m)[kSide], Vector (&o)[kSide - 2])
{
    if constexpr (kSide == 4) {
        o[0] = m[0] + m[1] + m[2];
        o[1] = m[1] - m[2] - m[3];
    } else {
        const Vector even = m[1] + m[2];
        const Vector odd = m[1] - m[2];
        const Vector farEven = m[3] + m[4];
        const Vector farOdd = m[3] - m[4];
        o[0] = m[0] + even + farEven;
        o[1] = _mm512_fmadd_ps(_mm512_set1_ps(2), farOdd, odd);
        o[2] = _mm512_fmadd_ps(_mm512_set1_ps(4), farEven, even);
        o[3] = _mm512_fmadd_ps(_mm512_set1_ps(8), farOdd, odd) + m[5];
    }
}

/// A tile's place: its picture and the first row and column of its results.
struct Corner
{
    std::int64_t picture;
    std::int64_t y;
    std::int64_t x;
};

Corner cornerOf(const Geometry &geometry, int tile, std::int64_t index)
{
    const std::int64_t each = geometry.rows * geometry.columns;
    return {index / each, index % each / geometry.columns * tile, index % geometry.columns * tile};
}

/// One tile of data, transformed.
/// to  channel 0 of position 0; positions are `stride` apart
template <int kSide, tensor::DType kType>
HALFTONE_WIDE void gather(const WinogradConv &shape, const Strides &steps, const std::byte *data,
                          const Corner &corner, float *to, std::int64_t stride)
{
    const std::int64_t y0 = corner.y - shape.pad[0];
    const std::int64_t x0 = corner.x - shape.pad[1];
    const bool isInside = y0 >= 0 && x0 >= 0 && y0 + kSide <= shape.from[0] && x0 + kSide <= shape.from[1];
    for (std::int64_t c = 0; c < shape.channels; c += 16) {
        const std::int64_t base = corner.picture * steps.picture + c / 16 * steps.block;
        Vector half[kSide][kSide];
#pragma GCC unroll 6
        for (int x = 0; x < kSide; ++x) {
            Vector column[kSide];
#pragma GCC unroll 6
            for (int y = 0; y < kSide; ++y) {
                const bool isThere = isInside
                    || (y0 + y >= 0 && y0 + y < shape.from[0] && x0 + x >= 0 && x0 + x < shape.from[1]);
                column[y] = isThere ? load<kType>(data, base + (y0 + y) * steps.row + (x0 + x) * steps.pixel)
                                    : _mm512_setzero_ps();
            }
            Vector done[kSide];
            transformData<kSide>(column, done);
#pragma GCC unroll 6
            for (int y = 0; y < kSide; ++y)
                half[y][x] = done[y];
        }
#pragma GCC unroll 6
        for (int y = 0; y < kSide; ++y) {
            Vector done[kSide];
            transformData<kSide>(half[y], done);
#pragma GCC unroll 6
            for (int x = 0; x < kSide; ++x)
                _mm512_store_ps(to + (y * kSide + x) * stride + c, done[x]);
        }
    }
}

struct Ends
{
    const float *bias = nullptr;
    const std::byte *addend = nullptr;
    std::byte *result = nullptr;
};

/// The results of one tile.
/// from  output channel 0 of position 0; positions are `stride` apart
template <int kSide, tensor::DType kType>
HALFTONE_WIDE void scatter(const WinogradConv &shape, const Strides &steps, const float *from,
                           std::int64_t stride, const Corner &corner, const Ends &ends)
{
    constexpr int kTile = kSide - 2;
    const Vector low = _mm512_set1_ps(shape.low);
    const Vector high = _mm512_set1_ps(shape.high);
    for (std::int64_t k = 0; k < shape.outputs; k += 16) {
        const std::int64_t base = corner.picture * steps.picture + k / 16 * steps.block;
        Vector half[kTile][kSide];
#pragma GCC unroll 6
        for (int x = 0; x < kSide; ++x) {
            Vector column[kSide];
#pragma GCC unroll 6
            for (int y = 0; y < kSide; ++y)
                column[y] = _mm512_load_ps(from + (y * kSide + x) * stride + k);
            Vector done[kTile];
            transformSums<kSide>(column, done);
#pragma GCC unroll 6
            for (int y = 0; y < kTile; ++y)
                half[y][x] = done[y];
        }
        const Vector bias = ends.bias == nullptr ? _mm512_setzero_ps() : _mm512_loadu_ps(ends.bias + k);
#pragma GCC unroll 4
        for (int y = 0; y < kTile; ++y) {
            Vector done[kTile];
            transformSums<kSide>(half[y], done);
            if (corner.y + y >= shape.to[0])
                break;
#pragma GCC unroll 4
            for (int x = 0; x < kTile; ++x) {
                if (corner.x + x >= shape.to[1])
                    break;
                const std::int64_t at = base + (corner.y + y) * steps.row + (corner.x + x) * steps.pixel;
                Vector value = done[x] + bias;
                if (ends.addend != nullptr)
                    value = value + load<kType>(ends.addend, at);
                // The value last: what is not a number passes, as it does through oneDNN's ReLU.
                store<kType>(ends.result, at, _mm512_min_ps(high, _mm512_max_ps(low, value)));
            }
        }
    }
}

/// Products of `rows` transformed tiles at one position with one group of outputs.
template <int kVectors, int kPixels>
HALFTONE_WIDE void multiply(const float *data, std::int64_t rows, std::int64_t channels,
                            const std::byte *weights, float *sums, std::int64_t outputs)
{
    const std::int32_t start = 0;
    const wide::Taps taps{&start, 1, static_cast<std::int32_t>(channels)};
    for (std::int64_t first = 0; first < rows; first += kPixels) {
        const std::byte *pixels[kPixels];
        for (int p = 0; p < kPixels; ++p)
            pixels[p] = reinterpret_cast<const std::byte *>(data + std::min(first + p, rows - 1) * channels);
        __m512i done[kPixels][kVectors];
        wide::sumProducts<wide::Word::F32, kVectors, kPixels>(pixels, taps, weights, done);
        for (std::int64_t p = 0; p < std::min<std::int64_t>(kPixels, rows - first); ++p)
            for (int b = 0; b < kVectors; ++b)
                _mm512_store_ps(sums + (first + p) * outputs + std::int64_t{16} * b,
                                _mm512_castsi512_ps(done[p][b]));
    }
}

using Multiply = decltype(&multiply<1, 6>);

template <int kVectors>
Multiply multiplyFor(std::int64_t rows)
{
    switch (rowsAtOnce(rows)) {
    case 4:
        return &multiply<kVectors, 4>;
    case 5:
        return &multiply<kVectors, 5>;
    default:
        return &multiply<kVectors, 6>;
    }
}

template <int kSide, tensor::DType kType>
class Winograd final : public kernels::Kernel
{
public:
    Winograd(const WinogradConv &shape, int threads)
        : m_shape(shape)
        , m_geometry(shape)
        , m_from(shape.isBlocked, shape.channels, shape.from)
        , m_to(shape.isBlocked, shape.outputs, shape.to)
        , m_threads(threads)
    {
    }

    std::string name() const override
    {
        return "own winograd " + std::to_string(m_shape.tile) + "x" + std::to_string(m_shape.tile);
    }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const ThreadScope scope(m_threads);
        Ends ends;
        std::size_t next = 2;
        if (m_shape.hasBias)
            ends.bias = reinterpret_cast<const float *>(inputs[next++]);
        if (m_shape.hasAddend)
            ends.addend = inputs[next];
        ends.result = outputs[0];
        std::atomic<bool> lacksMemory = false;
#pragma omp parallel
        {
            const std::int64_t threads = omp_get_num_threads();
            const std::int64_t thread = omp_get_thread_num();
            const std::int64_t begin = m_geometry.tiles * thread / threads;
            const std::int64_t end = m_geometry.tiles * (thread + 1) / threads;
            if (!computeTiles(inputs[0], inputs[1], ends, begin, end))
                lacksMemory = true;
        }
        if (lacksMemory)
            return outOfMemory(bytesFor(chunkOf(m_geometry.tiles)), "a convolution");
        return {};
    }

private:
    std::int64_t bytesOfTile() const
    {
        return m_geometry.positions * (m_shape.channels + m_shape.outputs) * std::int64_t{sizeof(float)};
    }

    /// Tiles between two transformations, of so many in all.
    std::int64_t chunkOf(std::int64_t tiles) const
    {
        const std::int64_t most = std::max(static_cast<std::int64_t>(kCached) / bytesOfTile(), kMostTiles);
        const std::int64_t chunks = (tiles + most - 1) / most;
        return (tiles + chunks - 1) / chunks;
    }

    std::size_t bytesFor(std::int64_t chunk) const
    {
        return static_cast<std::size_t>(chunk * bytesOfTile() + 2 * m_geometry.positions * 64);
    }

    bool computeTiles(const std::byte *data, const std::byte *weights, const Ends &ends, std::int64_t begin,
                      std::int64_t end) const
    {
        if (begin == end)
            return true;
        const std::int64_t chunk = chunkOf(end - begin);
        const ScratchLease lease(bytesFor(chunk));
        if (lease.data() == nullptr)
            return false;
        // A vector more between positions, so that these do not all fall on the same lines of the cache.
        const std::int64_t inStride = chunk * m_shape.channels + 16;
        const std::int64_t outStride = chunk * m_shape.outputs + 16;
        auto *const transformed = reinterpret_cast<float *>(lease.data());
        float *const sums = transformed + m_geometry.positions * inStride;
        for (std::int64_t first = begin; first < end; first += chunk) {
            const std::int64_t count = std::min(chunk, end - first);
            for (std::int64_t k = 0; k < count; ++k)
                gather<kSide, kType>(m_shape, m_from, data, cornerOf(m_geometry, kSide - 2, first + k),
                                     transformed + k * m_shape.channels, inStride);
            multiplyAll(transformed, inStride, count, weights, sums, outStride);
            for (std::int64_t k = 0; k < count; ++k)
                scatter<kSide, kType>(m_shape, m_to, sums + k * m_shape.outputs, outStride,
                                      cornerOf(m_geometry, kSide - 2, first + k), ends);
        }
        return true;
    }

    void multiplyAll(const float *data, std::int64_t inStride, std::int64_t count, const std::byte *weights,
                     float *sums, std::int64_t outStride) const
    {
        const Multiply product = m_geometry.group == 64 ? multiplyFor<4>(count)
            : m_geometry.group == 32                    ? multiplyFor<2>(count)
                                                        : multiplyFor<1>(count);
        const std::int64_t bytes = m_shape.channels * m_geometry.group * std::int64_t{sizeof(float)};
        for (std::int64_t k = 0; k < m_shape.outputs; k += m_geometry.group)
            for (std::int64_t position = 0; position < m_geometry.positions; ++position) {
                product(data + position * inStride, count, m_shape.channels, weights,
                        sums + position * outStride + k, m_shape.outputs);
                weights += bytes;
            }
    }

    WinogradConv m_shape;
    Geometry m_geometry;
    Strides m_from;
    Strides m_to;
    int m_threads = 0;
};

#endif

} // namespace

double winogradCost(const WinogradConv &shape, int threads)
{
    const Geometry geometry(shape);
    const std::int64_t each = (geometry.tiles + threads - 1) / threads;
    const std::int64_t rows = rowsAtOnce(each);
    const std::int64_t computed = (each + rows - 1) / rows * rows * threads;
    const auto channels = static_cast<double>(shape.channels);
    const auto outputs = static_cast<double>(shape.outputs);
    return static_cast<double>(geometry.positions)
        * (static_cast<double>(computed) * channels * outputs
           + static_cast<double>(geometry.tiles) * kTransform * (channels + outputs)
           + kByte * sizeof(float) * channels * outputs);
}

double directCost(const WinogradConv &shape)
{
    const auto pixels = static_cast<double>(shape.pictures * shape.to[0] * shape.to[1]);
    const double pairs = 9.0 * static_cast<double>(shape.channels * shape.outputs);
    const double products = shape.type == tensor::DType::F32 ? 1 : 0.5;
    const double bytes = shape.type == tensor::DType::F32 ? 4 : 2;
    return std::max(pixels * products, kByte * bytes) * pairs;
}

Result<std::shared_ptr<const Packed>> winogradWeights(const WinogradConv &shape,
                                                      const tensor::Tensor &weights)
{
    const Geometry geometry(shape);
    HALFTONE_TRY(const tensor::Tensor wide, tensor::castTo(weights, tensor::DType::F32));
    HALFTONE_TRY(const tensor::Tensor readable, kernels::readable(wide));
    const auto *const filters = reinterpret_cast<const float *>(readable.bytes().data());
    auto packed = std::make_shared<Packed>();
    packed->bytes
        = static_cast<std::size_t>(geometry.positions * shape.channels * shape.outputs) * sizeof(float);
    packed->memory = allocateTogether(packed->bytes);
    if (!packed->memory)
        return outOfMemory(packed->bytes, "weights");
    auto *const to = reinterpret_cast<float *>(packed->memory.get());
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < shape.outputs; ++k) {
        for (std::int64_t position = 0; position < geometry.positions; ++position)
            for (std::int64_t c = 0; c < shape.channels; ++c)
                to[((k / geometry.group * geometry.positions + position) * shape.channels + c)
                       * geometry.group
                   + k % geometry.group]
                    = static_cast<float>(
                        transformedFilter(shape.tile, position, filters + 9 * (k * shape.channels + c)));
    }
    return std::shared_ptr<const Packed>(std::move(packed));
}

std::unique_ptr<kernels::Kernel> winogradKernel(const WinogradConv &shape, int threads)
{
#ifdef __x86_64__
    if (shape.tile == 2 && shape.type == tensor::DType::F32)
        return std::make_unique<Winograd<4, tensor::DType::F32>>(shape, threads);
    if (shape.tile == 2)
        return std::make_unique<Winograd<4, tensor::DType::BF16>>(shape, threads);
    if (shape.type == tensor::DType::F32)
        return std::make_unique<Winograd<6, tensor::DType::F32>>(shape, threads);
    return std::make_unique<Winograd<6, tensor::DType::BF16>>(shape, threads);
#else
    static_cast<void>(shape);
    static_cast<void>(threads);
    return nullptr;
#endif
}

} // namespace halftone::backends::onednn
