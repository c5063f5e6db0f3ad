#include "widgets/common/formatters.h"

#include "core/base/text.h"
#include "core/tensor/short_name.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace halftone::widgets {

QString shortType(tensor::DType type)
{
    const std::string_view name = tensor::shortNameOf(type);
    return QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()));
}

QString shapeText(const tensor::Shape &shape)
{
    if (!shape.hasRank())
        return QStringLiteral("?");
    if (shape.rank() == 0)
        return QStringLiteral("scalar");
    QStringList extents;
    for (std::size_t i = 0; i < shape.rank(); ++i)
        extents << (shape[i] < 0 ? QStringLiteral("?") : QString::number(shape[i]));
    return extents.join(QChar(0xd7));
}

QString bytesText(std::size_t bytes)
{
    return QLocale::c()
        .formattedDataSize(static_cast<qint64>(bytes), 1, QLocale::DataSizeIecFormat)
        .replace(QLatin1Char(' '), QChar(0xa0)); // a number and its unit stay on one line
}

QString decibels(double value)
{
    if (std::isnan(value))
        return QStringLiteral("failed");
    if (std::isinf(value))
        return value > 0 ? QString(QChar(0x221e)) : QStringLiteral("failed");
    return QString::number(std::abs(value) < 0.05 ? 0.0 : value, 'f', 1); // no "-0.0"
}

QString microseconds(double value)
{
    return significant(value);
}

QString counted(std::size_t number, const char *one, const char *many)
{
    return QString::number(number) + QLatin1Char(' ') + QLatin1String(number == 1 ? one : many);
}

QString significant(double value, int digits)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return value > 0 ? QString(QChar(0x221e)) : QChar(0x2212) + QString(QChar(0x221e));
    if (value == 0)
        return QStringLiteral("0");
    const double size = std::abs(value);
    if (size < 1e-4 || size >= 1e7)
        return QString::number(value, 'e', digits - 1);
    const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
    return QString::number(value, 'f', std::max(0, digits - before));
}

QString largestText(tensor::DType type)
{
    const double largest = tensor::rangeOf(type).largest;
    return largest < 1e7 ? QLocale(QLocale::English).toString(largest, 'f', 0) : significant(largest);
}

QString plain(const std::string &text)
{
    return exact(withoutMarks(text));
}

QString exact(const std::string &text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

} // namespace halftone::widgets
