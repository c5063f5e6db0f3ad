#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace halftone::widgets {
class ElidedLabel;
class WrapLayout;
} // namespace halftone::widgets

namespace halftone::app {

/// A bar across the window: something to know, perhaps with a button that mends it. Stays until closed or replaced. The text wraps; in a
/// low window it is one line.
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
    /// The same in a low window: a text that may be cut, and figures that are whole unless there is no room even without the text.
    void setOneLine(const QString &text, const QString &figures);
    /// A second button beside that of showNotice(), which takes it away.
    void offerOther(const QString &action);
    Kind kind() const { return m_kind; }
    QString text() const;

Q_SIGNALS:
    void actionTriggered();
    void otherTriggered(); ///< the second button
    void dismissed();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void arrange();
    void setAction(QPushButton *button, const QString &action);

    QLabel *m_icon = nullptr;
    QLabel *m_text = nullptr;
    widgets::ElidedLabel *m_line = nullptr; ///< in a low window, with the figures, in place of the text
    widgets::ElidedLabel *m_figures = nullptr;
    QHBoxLayout *m_row = nullptr;
    widgets::WrapLayout *m_wrapped = nullptr; ///< text and buttons
    QPushButton *m_action = nullptr;
    QPushButton *m_other = nullptr;
    Kind m_kind = Kind::Warning;
};

} // namespace halftone::app
