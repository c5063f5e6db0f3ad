#pragma once

#include <QComboBox>

namespace halftone::widgets {

/// A choice that nobody makes by accident: neither the wheel over it nor an arrow key that was meant for the graph changes it.
/// Both need the opened list.
class ChoiceBox : public QComboBox
{
public:
    explicit ChoiceBox(QWidget *parent = nullptr);

protected:
    void wheelEvent(QWheelEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
};

} // namespace halftone::widgets
