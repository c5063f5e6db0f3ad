#include "widgets/common/number_field.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QRegularExpression>
#include <QWheelEvent>

namespace halftone::widgets {
namespace {

constexpr int kDecimals = 60; ///< so that nothing is rounded away: the box keeps numbers as decimals
constexpr int kDigits = 6;

QString normal(const QString &text)
{
    return text.trimmed().replace(QLatin1Char(','), QLatin1Char('.'));
}

} // namespace

NumberField::NumberField(QWidget *parent)
    : QDoubleSpinBox(parent)
{
    setDecimals(kDecimals);
    setRange(0, 1e38);
    connect(this, &QAbstractSpinBox::editingFinished, lineEdit(), [this] { lineEdit()->setModified(false); });
}

QValidator::State NumberField::validate(QString &text, int &) const
{
    bool isNumber = false;
    const double number = normal(text).toDouble(&isNumber);
    if (isNumber)
        return number >= minimum() && number <= maximum() ? QValidator::Acceptable : QValidator::Intermediate;
    static const QRegularExpression beginning(QStringLiteral("^[0-9]*[.]?[0-9]*([eE][+-]?[0-9]*)?$"));
    return beginning.match(normal(text)).hasMatch() ? QValidator::Intermediate : QValidator::Invalid;
}

double NumberField::valueFromText(const QString &text) const
{
    return normal(text).toDouble();
}

QString NumberField::textFromValue(double value) const
{
    return QString::number(value, 'g', kDigits);
}

bool NumberField::event(QEvent *event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        const auto &key = *static_cast<QKeyEvent *>(event);
        const bool isHistory = key.matches(QKeySequence::Undo) || key.matches(QKeySequence::Redo);
        if (isHistory && !lineEdit()->isModified()) {
            event->ignore(); // the line edit would claim it and do nothing
            return true;
        }
    }
    return QDoubleSpinBox::event(event);
}

void NumberField::wheelEvent(QWheelEvent *event)
{
    event->ignore();
}

} // namespace halftone::widgets
