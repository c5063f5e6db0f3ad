#include "core/io/arrays/npy.h"

#include "core/base/byte_reader.h"
#include "core/base/checked_math.h"
#include "core/base/text.h"
#include "core/io/arrays/npz.h"

#include <algorithm>
#include <optional>

namespace halftone::io {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = std::size_t{1} << 16;
constexpr std::size_t kHighestRank = 32;

struct TypeCode
{
    std::string_view code; ///< without the byte order
    DType type;
};

constexpr std::array<TypeCode, 12> kTypes{{{"f4", DType::F32},
                                           {"f8", DType::F64},
                                           {"f2", DType::F16},
                                           {"i1", DType::I8},
                                           {"u1", DType::U8},
                                           {"i2", DType::I16},
                                           {"u2", DType::U16},
                                           {"i4", DType::I32},
                                           {"u4", DType::U32},
                                           {"i8", DType::I64},
                                           {"u8", DType::U64},
                                           {"b1", DType::Bool}}};

struct Header
{
    DType type = DType::Unknown;
    bool isBigEndian = false;
    bool isColumnMajor = false;
    Shape shape;
};

/// The header is the text of a Python dictionary; these are the few forms that NumPy gives it.
class HeaderParser
{
public:
    explicit HeaderParser(std::string_view text)
        : m_rest(text)
    {
    }

    /// Nothing for a text that is no such dictionary or lacks a key.
    std::optional<Header> parse(std::string &typeText);

private:
    void skipBlanks()
    {
        m_rest = m_rest.substr(std::min(m_rest.find_first_not_of(" \t\r\n"), m_rest.size()));
    }
    bool take(std::string_view token);
    std::optional<std::string_view> takeText();
    std::optional<bool> takeBool();
    std::optional<Shape> takeShape();

    std::string_view m_rest;
};

bool HeaderParser::take(std::string_view token)
{
    skipBlanks();
    if (!m_rest.starts_with(token))
        return false;
    m_rest.remove_prefix(token.size());
    return true;
}

std::optional<std::string_view> HeaderParser::takeText()
{
    skipBlanks();
    if (m_rest.empty() || (m_rest.front() != '\'' && m_rest.front() != '"'))
        return std::nullopt;
    const std::size_t end = m_rest.find(m_rest.front(), 1);
    if (end == std::string_view::npos)
        return std::nullopt;
    const std::string_view text = m_rest.substr(1, end - 1);
    m_rest.remove_prefix(end + 1);
    return text;
}

std::optional<bool> HeaderParser::takeBool()
{
    if (take("True"))
        return true;
    return take("False") ? std::optional(false) : std::nullopt;
}

std::optional<Shape> HeaderParser::takeShape()
{
    if (!take("("))
        return std::nullopt;
    std::vector<std::int64_t> dims;
    while (!take(")")) {
        skipBlanks();
        const std::size_t length = std::min(m_rest.find_first_not_of("0123456789"), m_rest.size());
        const auto dim = parseInteger(m_rest.substr(0, length));
        if (!dim || dims.size() == kHighestRank)
            return std::nullopt;
        dims.push_back(*dim);
        m_rest.remove_prefix(length);
        take("L"); // Python 2 wrote long integers so
        if (!take(",") && !m_rest.starts_with(')'))
            return std::nullopt;
    }
    return Shape(std::move(dims));
}

std::optional<Header> HeaderParser::parse(std::string &typeText)
{
    Header header;
    std::optional<std::string_view> type;
    std::optional<bool> isColumnMajor;
    std::optional<Shape> shape;
    if (!take("{"))
        return std::nullopt;
    while (!take("}")) {
        const auto key = takeText();
        if (!key || !take(":"))
            return std::nullopt;
        const bool isRead = *key == "descr" ? (type = takeText()).has_value()
            : *key == "fortran_order"       ? (isColumnMajor = takeBool()).has_value()
            : *key == "shape"               ? (shape = takeShape()).has_value()
                                            : false;
        if (!isRead || (!take(",") && !m_rest.starts_with('}')))
            return std::nullopt;
    }
    if (!type || !isColumnMajor || !shape)
        return std::nullopt;
    typeText = *type;
    header.isBigEndian = type->starts_with('>');
    header.isColumnMajor = *isColumnMajor;
    header.shape = std::move(*shape);
    const std::string_view code = type->substr(type->find_first_not_of("<>|=") == 1 ? 1 : 0);
    const auto *const known = std::ranges::find(kTypes, code, &TypeCode::code);
    header.type = known == kTypes.end() ? DType::Unknown : known->type;
    return header;
}

Result<Header> readHeader(ByteReader &in)
{
    HALFTONE_TRY(const auto magic, in.take(kMagic.size(), "the magic text"));
    if (!std::ranges::equal(magic, std::as_bytes(std::span(kMagic))))
        return ByteReader::errorAt(0, "not an .npy array");
    HALFTONE_TRY(const auto major, in.read<std::uint8_t>("the version"));
    HALFTONE_TRY(const auto minor, in.read<std::uint8_t>("the version"));
    if (major < 1 || major > 3)
        return ByteReader::errorAt(
            kMagic.size(), "version " + std::to_string(major) + "." + std::to_string(minor), "1 to 3");
    std::uint32_t length = 0;
    if (major == 1) {
        HALFTONE_TRY(length, in.read<std::uint16_t>("the header's length"));
    } else {
        HALFTONE_TRY(length, in.read<std::uint32_t>("the header's length"));
    }
    if (length > kLongestHeader)
        return ByteReader::errorAt(in.offset(), "a header of " + std::to_string(length) + " bytes",
                                   "at most " + std::to_string(kLongestHeader));
    const std::size_t at = in.offset();
    HALFTONE_TRY(const auto bytes, in.take(length, "the header"));
    std::string typeText;
    const auto header
        = HeaderParser({reinterpret_cast<const char *>(bytes.data()), bytes.size()}).parse(typeText);
    if (!header)
        return ByteReader::errorAt(at, "an invalid header",
                                   "{'descr': …, 'fortran_order': …, 'shape': (…)} with a number type");
    if (header->type == DType::Unknown)
        return ByteReader::errorAt(at, "elements of type \"" + printable(typeText, 40) + "\"",
                                   "numbers or bool");
    return *header;
}

/// Element by element into row-major order: `from` walks the column-major bytes while the index counts up
/// like an odometer.
void copyColumnMajor(std::span<const std::byte> from, std::span<std::byte> to, const Shape &shape,
                     std::size_t size)
{
    const auto dims = shape.dims();
    std::vector<std::int64_t> strides(dims.size(), 1);
    for (std::size_t axis = 1; axis < dims.size(); ++axis)
        strides[axis] = strides[axis - 1] * dims[axis - 1];
    std::vector<std::int64_t> index(dims.size(), 0);
    std::int64_t source = 0;
    for (std::size_t offset = 0; offset < to.size(); offset += size) {
        std::copy_n(from.begin() + source * static_cast<std::int64_t>(size), size,
                    to.begin() + static_cast<std::ptrdiff_t>(offset));
        for (std::size_t axis = dims.size(); axis-- > 0;) {
            source += strides[axis];
            if (++index[axis] < dims[axis])
                break;
            source -= strides[axis] * dims[axis];
            index[axis] = 0;
        }
    }
}

} // namespace

Result<Tensor> readNpy(std::span<const std::byte> bytes, const std::shared_ptr<const void> &owner)
{
    ByteReader in(bytes);
    HALFTONE_TRY(const Header header, readHeader(in));
    const std::size_t size = sizeOf(header.type);
    const auto count = header.shape.elementCount();
    const auto wanted = count ? checkedMultiply(*count, static_cast<std::int64_t>(size)) : std::nullopt;
    if (!wanted || static_cast<std::uint64_t>(*wanted) != in.left()) {
        return ByteReader::errorAt(in.offset(),
                                   "shape " + header.shape.toString() + " with " + std::to_string(in.left())
                                       + " bytes of values",
                                   wanted ? std::to_string(*wanted) : "fewer values");
    }
    HALFTONE_TRY(const auto values, in.take(in.left(), "the values"));
    if (!header.isBigEndian && !header.isColumnMajor)
        return Tensor(header.type, header.shape, values, owner);
    std::vector<std::byte> ordered(values.begin(), values.end());
    if (header.isColumnMajor)
        copyColumnMajor(values, ordered, header.shape, size);
    if (header.isBigEndian) {
        for (std::size_t offset = 0; offset < ordered.size(); offset += size)
            std::reverse(ordered.begin() + static_cast<std::ptrdiff_t>(offset),
                         ordered.begin() + static_cast<std::ptrdiff_t>(offset + size));
    }
    return Tensor::owning(header.type, header.shape, std::move(ordered));
}

std::string npyHeader(DType type, const Shape &shape)
{
    constexpr std::size_t kAlignment = 64;
    constexpr std::size_t kBeforeText = 10;
    const auto *const travels = std::ranges::find(kTravellingTypes, type, &TravellingType::type);
    const DType stored = travels == kTravellingTypes.end() ? type : travels->stored;
    const auto *const known = std::ranges::find(kTypes, stored, &TypeCode::type);
    std::string dims;
    for (const std::int64_t dim : shape.dims())
        dims += std::to_string(dim) + (shape.rank() == 1 ? "," : ", ");
    if (shape.rank() > 1)
        dims.resize(dims.size() - 2);
    std::string text = "{'descr': '" + std::string(tensor::sizeOf(stored) == 1 ? "|" : "<")
        + std::string(known->code) + "', 'fortran_order': False, 'shape': (" + dims + "), }";
    text.append(kAlignment - 1 - (kBeforeText + text.size()) % kAlignment, ' ');
    text += '\n';
    std::string header(kMagic);
    header += '\x01';
    header += '\0';
    header += static_cast<char>(text.size() & 0xFF);
    header += static_cast<char>(text.size() >> 8);
    return header + text;
}

} // namespace halftone::io
