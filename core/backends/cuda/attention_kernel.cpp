#include "core/backends/cuda/attention_kernel.h"

#include "core/backends/cuda/kernel_parts.h"

#include <algorithm>
#include <numbers>

namespace halftone::backends::cuda {
namespace {

using tensor::DType;

constexpr std::int64_t kLongest = 512; ///< keys: beyond, libraries are ahead
constexpr std::int64_t kLargestHead = 128;
constexpr std::int64_t kQueries = 16; ///< of a warp
constexpr int kFirstWithFragments = 80; ///< with m16n8k16 and copies behind the threads' backs

// Fragments as the PTX ISA has them (9.7.15, mma.m16n8k16, ldmatrix): lane 4g + t holds, of 16 × 16 of the first matrix, rows g and g + 8
// at columns 2t, 2t + 1 and those 8 further; of 16 × 8 of the second, column g at rows 2t, 2t + 1 and those 8 further; of 16 × 8 of the
// sums, rows g and g + 8 at columns 2t, 2t + 1.
constexpr std::string_view kTensorCores = R"cuda(
#ifndef HALFTONE_HOST
__device__ inline unsigned @_shared(const void *at)
{
    unsigned address;
    asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(address) : "l"(at));
    return address;
}
// 16 bytes; zeros where the source is not to be read.
__device__ inline void @_copy(void *to, const void *from, bool reads)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(@_shared(to)), "l"(from), "r"(reads ? 16 : 0) : "memory");
}
__device__ inline void @_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ inline void @_wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }
// Four matrices of 8 × 8, whose rows the lanes point to, eight lanes a matrix.
__device__ inline void @_load(unsigned (&to)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(@_shared(row)) : "memory");
}
__device__ inline void @_load_turned(unsigned (&to)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(@_shared(row)) : "memory");
}
__device__ inline void @_multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, half_t)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void @_multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, bhalf_t)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#else
#define @_copy host_copy
#define @_commit host_commit
#define @_wait host_wait
#define @_load host_load
#define @_load_turned host_load_turned
#define @_multiply host_multiply
#endif
// The next rows, of which `left` are there: zeros behind them; a group of copies, also of none.
template <int SIZE, int THREADS, class T, int ROWS, int PITCH>
__device__ inline void @_rows(T (&to)[ROWS][PITCH], const T *from, long long pitch, int left)
{
    for (int i = threadIdx.x; left > 0 && i < ROWS * (SIZE / 8); i += THREADS) {
        const int row = i / (SIZE / 8), at = i % (SIZE / 8) * 8;
        @_copy(&to[row][at], from + (row < left ? row : 0) * pitch + at, row < left);
    }
    @_commit();
}
template <class T> __device__ inline unsigned @_pair(float low, float high)
{
    return (unsigned)pack<T>::of(low).bits | (unsigned)pack<T>::of(high).bits << 16;
}
)cuda";

// What stands before it: the type T; KEYS_AT_ONCE, WARPS; QUERIES, KEYS, HEADS, SIZE, VALUE_SIZE; strides of each view (batch, head, place)
// and offsets; SCALE, that of scores as powers of 2.
constexpr std::string_view kBody = R"cuda(
    constexpr int PITCH = (SIZE > VALUE_SIZE ? SIZE : VALUE_SIZE) + 8; // rows of a matrix in different banks
    alignas(16) __shared__ T keys[KEYS_AT_ONCE][PITCH];
    alignas(16) __shared__ T values[KEYS_AT_ONCE][PITCH];
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int tile = blockIdx.x % TILES;
    const long long head = blockIdx.x / TILES % HEADS, batch = blockIdx.x / TILES / HEADS;
    const T *const q0 = p0 + Q_OFFSET + batch * Q_BATCH + head * Q_HEAD;
    const T *const k0 = p1 + K_OFFSET + batch * K_BATCH + head * K_HEAD;
    const T *const v0 = p2 + V_OFFSET + batch * V_BATCH + head * V_HEAD;
    T *const r0 = q + R_OFFSET + batch * R_BATCH + head * R_HEAD;
    const int first = tile * (WARPS * 16) + threadIdx.x / 32 * 16; // query of the warp
    const int row[2] = {first + g, first + g + 8};
    const int read[2] = {row[0] < QUERIES ? row[0] : QUERIES - 1, row[1] < QUERIES ? row[1] : QUERIES - 1};
    unsigned query[SIZE / 16][4];
#pragma unroll
    for (int s = 0; s < SIZE / 16; ++s)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            query[s][i] = *(const unsigned *)(q0 + (long long)read[i % 2] * Q_PLACE + s * 16 + i / 2 * 8 + 2 * t);
    float sum[VALUE_SIZE / 8][4] = {};
    float most[2] = {-INFINITY, -INFINITY}, total[2] = {0, 0};
    @_rows<SIZE, WARPS * 32>(keys, k0, K_PLACE, KEYS);
    @_rows<VALUE_SIZE, WARPS * 32>(values, v0, V_PLACE, KEYS);
    for (int from = 0; from < KEYS; from += KEYS_AT_ONCE) { // the next keys come while the values are used, and the other way round
        @_wait<1>();
        __syncthreads();
        float score[KEYS_AT_ONCE / 8][4] = {};
#pragma unroll
        for (int s = 0; s < SIZE / 16; ++s)
#pragma unroll
            for (int n = 0; n < KEYS_AT_ONCE / 8; n += 2) { // two times eight keys
                unsigned b[4];
                @_load(b, &keys[n * 8 + lane / 16 * 8 + lane % 8][s * 16 + lane / 8 % 2 * 8]);
                @_multiply(score[n], query[s], b[0], b[1], T());
                @_multiply(score[n + 1], query[s], b[2], b[3], T());
            }
        __syncthreads(); // nobody reads these keys any more
        @_rows<SIZE, WARPS * 32>(keys, k0 + (from + KEYS_AT_ONCE) * K_PLACE, K_PLACE, KEYS - from - KEYS_AT_ONCE);
        float least[2] = {-INFINITY, -INFINITY}; // the largest of this turn
#pragma unroll
        for (int n = 0; n < KEYS_AT_ONCE / 8; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int key = from + n * 8 + 2 * t + i % 2;
                float x = score[n][i] * (float)SCALE;
                MASK
                x = key < KEYS ? x : -INFINITY;
                score[n][i] = x;
                least[i / 2] = larger(least[i / 2], x);
            }
        float lift[2], shift[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) { // the lanes of a row
            least[i] = larger(least[i], __shfl_xor_sync(0xffffffffu, least[i], 1));
            least[i] = larger(least[i], __shfl_xor_sync(0xffffffffu, least[i], 2));
            const float now = larger(most[i], least[i]);
            shift[i] = now == -INFINITY ? 0 : now; // a row of which nothing is seen so far
            lift[i] = quick_exp2(most[i] - shift[i]);
            most[i] = now;
            total[i] *= lift[i];
        }
#pragma unroll
        for (int n = 0; n < KEYS_AT_ONCE / 8; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                score[n][i] = quick_exp2(score[n][i] - shift[i / 2]);
                total[i / 2] += score[n][i];
            }
#pragma unroll
        for (int n = 0; n < VALUE_SIZE / 8; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                sum[n][i] *= lift[i / 2];
        @_wait<1>();
        __syncthreads();
#pragma unroll
        for (int s = 0; s < KEYS_AT_ONCE / 16; ++s) {
            const unsigned weight[4] = {@_pair<T>(score[2 * s][0], score[2 * s][1]), @_pair<T>(score[2 * s][2], score[2 * s][3]),
                                        @_pair<T>(score[2 * s + 1][0], score[2 * s + 1][1]),
                                        @_pair<T>(score[2 * s + 1][2], score[2 * s + 1][3])};
#pragma unroll
            for (int n = 0; n < VALUE_SIZE / 8; n += 2) {
                unsigned b[4];
                @_load_turned(b, &values[s * 16 + lane % 16][n * 8 + lane / 16 * 8]);
                @_multiply(sum[n], weight, b[0], b[1], T());
                @_multiply(sum[n + 1], weight, b[2], b[3], T());
            }
        }
        __syncthreads();
        @_rows<VALUE_SIZE, WARPS * 32>(values, v0 + (from + KEYS_AT_ONCE) * V_PLACE, V_PLACE, KEYS - from - KEYS_AT_ONCE);
    }
    @_wait<0>();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        total[i] += __shfl_xor_sync(0xffffffffu, total[i], 1);
        total[i] += __shfl_xor_sync(0xffffffffu, total[i], 2);
        if (row[i] < QUERIES)
#pragma unroll
            for (int n = 0; n < VALUE_SIZE / 8; ++n)
                *(unsigned *)(r0 + (long long)row[i] * R_PLACE + n * 8 + 2 * t)
                    = @_pair<T>(sum[n][2 * i] / total[i], sum[n][2 * i + 1] / total[i]);
    }
}
)cuda";

/// Rows that run, 16 bytes apart at least.
bool isInVectors(const View &view)
{
    constexpr std::int64_t kVector = 8;
    return view.dims.size() == 4 && view.dims[3] % 16 == 0 && view.dims[3] <= kLargestHead
        && isInSteps(view, 3, kVector);
}

std::string constants(const std::string &letter, const View &view)
{
    const auto constant = [&letter](const std::string &name, std::int64_t value) {
        return "    constexpr long long " + letter + '_' + name + " = " + number(value) + ";\n";
    };
    return constant("OFFSET", view.offset) + constant("BATCH", view.strides[0])
        + constant("HEAD", view.strides[1]) + constant("PLACE", view.strides[2]);
}

void replaceAll(std::string &text, std::string_view what, const std::string &with)
{
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

/// Adds the mask to `x`, of row[i / 2] and `key`, whichever of them there are.
std::string maskText(const View &mask)
{
    return "x += num(p3[" + number(mask.offset) + " + batch * " + number(mask.strides[0]) + " + head * "
        + number(mask.strides[1]) + " + (long long)read[i / 2] * " + number(mask.strides[2])
        + " + (long long)(key < KEYS ? key : 0) * " + number(mask.strides[3]) + "]) * (float)LOG2E;";
}

} // namespace

std::optional<KernelText> attentionKernel(const AttentionDesc &desc, double scale, int arch)
{
    const DType type = desc.queries.dtype;
    if (arch < kFirstWithFragments || !tensor::isHalf(type) || desc.keys.dims[2] > kLongest)
        return std::nullopt;
    for (const View *view : {&desc.queries, &desc.keys, &desc.values, &desc.result})
        if (view->dtype != type || !isInVectors(*view))
            return std::nullopt;
    const std::int64_t queries = desc.queries.dims[2];
    const std::int64_t matrices = desc.queries.dims[0] * desc.queries.dims[1];
    constexpr std::int64_t kEnoughBlocks = 128; // that all multiprocessors of a large chip have one
    std::int64_t warps = 4;
    const auto tiles = [&] { return (queries + warps * kQueries - 1) / (warps * kQueries); };
    while (warps > 1 && matrices * tiles() < kEnoughBlocks)
        warps /= 2;
    if (matrices * tiles() > 0x7fffffff)
        return std::nullopt;
    std::vector<DType> types{type, type, type};
    if (desc.mask)
        types.push_back(desc.mask->dtype);
    std::string body(kBody);
    replaceAll(body, "MASK", desc.mask ? maskText(*desc.mask) : "(void)read;");
    const auto integer = [](const std::string &name, std::int64_t value) {
        return "    constexpr int " + name + " = " + number(value) + ";\n";
    };
    std::string text(kTensorCores);
    text += head(types, type) + "    using T = " + std::string(typeName(type)) + ";\n"
        + integer("KEYS_AT_ONCE", 64) + integer("WARPS", warps) + integer("TILES", tiles())
        + integer("QUERIES", queries) + integer("KEYS", desc.keys.dims[2])
        + integer("HEADS", desc.queries.dims[1]) + integer("SIZE", desc.queries.dims[3])
        + integer("VALUE_SIZE", desc.values.dims[3]) + constants("Q", desc.queries)
        + constants("K", desc.keys) + constants("V", desc.values) + constants("R", desc.result)
        + "    constexpr double LOG2E = " + literal(std::numbers::log2e, "double")
        + ";\n    constexpr double SCALE = " + literal(scale, "double") + " * LOG2E;\n    (void)LOG2E;\n"
        + body;
    KernelText kernel = named(std::move(text), "attention");
    kernel.grid = static_cast<unsigned>(matrices * tiles());
    kernel.block = static_cast<unsigned>(32 * warps);
    kernel.isCooperative = true;
    return kernel;
}

} // namespace halftone::backends::cuda
