#pragma once

#include <QDoubleSpinBox>

namespace halftone::widgets {

/// A positive number of any size, as a person writes it: "0.25", "1e9", "2,5e-3". Shown with the digits that tell it.
class NumberField : public QDoubleSpinBox
{
public:
    explicit NumberField(QWidget *parent = nullptr);

    QValidator::State validate(QString &text, int &place) const override;
    double valueFromText(const QString &text) const override;
    QString textFromValue(double value) const override;

protected:
    /// Undo and redo are the window's unless text is being typed.
    bool event(QEvent *event) override;
    void wheelEvent(QWheelEvent *event) override; ///< nothing: it is no choice of a person's
};

} // namespace halftone::widgets
