#pragma once

#include "widgets/models/layer_table_model.h"

#include <QRegularExpression>
#include <QString>

#include <optional>
#include <vector>

namespace halftone::widgets {

/// What a filter box above layers asks for. Terms are separated by blanks and all of them must hold:
/// - `error > 0.01`, `sqnr<=30 dB`, `time > 100 us`, `casts >= 1`: compares a figure; a layer without it is left out
/// - `type = f16`, `op = Convolution`, `name = conv0`: the whole text, whatever the case
/// - `/stage[34]/`: a regular expression over name and operator
/// - anything else: part of name or operator, whatever the case
class LayerQuery
{
public:
    static LayerQuery parse(const QString &text);

    const QString &error() const { return m_error; } ///< what is wrong with it; empty if it is right
    bool matches(const LayerTableModel &model, int row) const; ///< a wrong query matches everything
    bool isEmpty() const
    {
        return m_comparisons.empty() && m_words.empty() && m_patterns.empty() && m_equals.empty();
    }

    static QString help(); ///< a line for the tool tip

private:
    struct Comparison
    {
        int column = 0;
        QString sign; ///< "<", "<=", ">", ">=", "="
        double bound = 0;
    };
    struct Equal
    {
        int column = 0;
        QString text;
    };

    bool addComparison(const QString &field, const QString &sign, const QString &value, const QString &unit);

    std::vector<Comparison> m_comparisons;
    std::vector<Equal> m_equals;
    std::vector<QRegularExpression> m_patterns;
    QStringList m_words;
    QString m_error;
};

} // namespace halftone::widgets
