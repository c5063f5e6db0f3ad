#include "widgets/common/choice_box.h"

#include <QKeyEvent>

namespace halftone::widgets {

ChoiceBox::ChoiceBox(QWidget *parent)
    : QComboBox(parent)
{
}

/// Left to what scrolls around it.
void ChoiceBox::wheelEvent(QWheelEvent *event)
{
    event->ignore();
}

void ChoiceBox::keyPressEvent(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
    case Qt::Key_Home:
    case Qt::Key_End:
        showPopup();
        break;
    default:
        if (event->text().isEmpty() || !event->text().front().isPrint() || event->key() == Qt::Key_Space)
            QComboBox::keyPressEvent(event);
        else
            event->ignore(); // a letter may be a key of the window
    }
}

} // namespace halftone::widgets
