#include "core/weights/coded_matrix.h"

#include "core/base/mapped_file.h"
#include "core/tensor/deferred.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace halftone::weights {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

const Tensor &partOf(const WeightCodes &codes, CodedMatrix::Part part)
{
    return part == CodedMatrix::Part::Codes ? codes.codes
        : part == CodedMatrix::Part::Scales ? codes.scales
                                            : codes.zeroPoints;
}

} // namespace

/// One tensor of the codes.
class CodedPart final : public tensor::DeferredElements
{
public:
    CodedPart(std::size_t bytes, std::shared_ptr<const CodedMatrix> matrix, CodedMatrix::Part part)
        : DeferredElements(bytes)
        , m_matrix(std::move(matrix))
        , m_part(part)
    {
    }

protected:
    void make(std::size_t first, std::size_t count, std::byte *to) const override
    {
        const auto codes = m_matrix->codes();
        std::memcpy(to, partOf(*codes, m_part).bytes().data() + first, count);
    }

private:
    std::shared_ptr<const CodedMatrix> m_matrix;
    CodedMatrix::Part m_part;
};

std::shared_ptr<const WeightCodes> LastCodes::of(const void *matrix, const Make &make)
{
    const std::scoped_lock lock(m_mutex);
    if (m_matrix != matrix) {
        m_codes.reset(); // before the next are made
        m_codes = std::make_shared<const WeightCodes>(make());
        m_matrix = matrix;
    }
    return m_codes;
}

CodedMatrix::CodedMatrix(WeightMatrix matrix, EncodeSettings settings, std::shared_ptr<LastCodes> last)
    : m_matrix(std::move(matrix))
    , m_settings(std::move(settings))
    , m_last(std::move(last))
{
}

CodedMatrix::CodedMatrix(WeightMatrix matrix, EncodeSettings settings)
    : m_matrix(std::move(matrix))
    , m_settings(std::move(settings))
    , m_kept(std::make_shared<const WeightCodes>(encoded()))
{
    m_settings.encode = {};
}

WeightCodes CodedMatrix::encoded() const
{
    WeightCodes made = encodeMatrix(m_matrix, m_settings);
    if (!m_matrix.values.isDeferred())
        MappedFile::release(m_matrix.values.bytes());
    return made;
}

std::shared_ptr<const WeightCodes> CodedMatrix::codes() const
{
    auto codes = m_kept ? m_kept : m_last->of(this, [this] { return encoded(); });
    const std::scoped_lock lock(m_mutex);
    m_sqnrDb = codes->noise > 0 ? 10 * std::log10(codes->signal / codes->noise)
                                : std::numeric_limits<double>::infinity();
    return codes;
}

Tensor CodedMatrix::tensorOf(Part part) const
{
    const tensor::WeightFormat &format = m_settings.format;
    const CodeLayout layout = m_settings.layout;
    if (part == Part::ZeroPoints && !format.hasZeroPoints())
        return {};
    const DType type
        = part == Part::Scales ? scalesType(format, m_settings.scaleType) : codesType(format, layout);
    Shape shape = part == Part::Codes ? codesShape(m_matrix, format, layout)
        : part == Part::Scales        ? scalesShape(m_matrix, format, layout)
                                      : zeroPointsShape(m_matrix, format, layout);
    const std::size_t bytes
        = static_cast<std::size_t>(shape.elementCount().value_or(0)) * tensor::sizeOf(type);
    return {type, std::move(shape), std::make_shared<const CodedPart>(bytes, shared_from_this(), part)};
}

float CodedMatrix::matrixScale() const
{
    return scaleOf(m_matrix, m_settings.format);
}

std::size_t CodedMatrix::storedBytes() const
{
    std::size_t bytes = 0;
    for (const Part part : {Part::Codes, Part::Scales, Part::ZeroPoints})
        bytes += tensorOf(part).storedBytes();
    return bytes + (m_settings.format.kind == tensor::WeightFormat::Kind::NvFp4 ? sizeof(float) : 0);
}

double CodedMatrix::sqnrDb() const
{
    {
        const std::scoped_lock lock(m_mutex);
        if (m_sqnrDb)
            return *m_sqnrDb;
    }
    codes();
    const std::scoped_lock lock(m_mutex);
    return m_sqnrDb.value_or(0);
}

} // namespace halftone::weights
