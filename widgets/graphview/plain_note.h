#pragma once

#include <QFrame>

class QLabel;

namespace halftone::widgets {

/// Says that a part of the graph is drawn without Graphviz, and why, and offers to try again.
class PlainNote : public QFrame
{
    Q_OBJECT

public:
    explicit PlainNote(QWidget *parent = nullptr);

    void showNote(const QString &why); ///< empty: hides it
    QString text() const;

Q_SIGNALS:
    void tryAgainWanted();

private:
    QLabel *m_text;
};

} // namespace halftone::widgets
