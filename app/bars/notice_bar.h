#pragma once

#include <QFrame>

class QLabel;
class QPushButton;

namespace halftone::app {

/// A line across the window: something to know, perhaps with a button that mends it. Stays until closed or replaced.
class NoticeBar : public QFrame
{
    Q_OBJECT

public:
    enum class Kind
    {
        Warning,
        Information
    };
    explicit NoticeBar(QWidget *parent = nullptr);

    /// action  text of the button; empty: none
    void showNotice(const QString &text, const QString &action = {}, Kind kind = Kind::Warning);
    /// A second button beside that of showNotice(), which takes it away.
    void offerOther(const QString &action);
    Kind kind() const { return m_kind; }
    QString text() const;

Q_SIGNALS:
    void actionTriggered();
    void otherTriggered(); ///< the second button
    void dismissed();

private:
    void setAction(QPushButton *button, const QString &action);

    QLabel *m_icon = nullptr;
    QLabel *m_text = nullptr;
    QPushButton *m_action = nullptr;
    QPushButton *m_other = nullptr;
    Kind m_kind = Kind::Warning;
};

} // namespace halftone::app
