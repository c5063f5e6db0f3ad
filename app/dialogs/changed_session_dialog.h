#pragma once

#include "core/session/session_difference.h"

#include <QDialog>

#include <functional>
#include <vector>

class QTableWidget;
class QVBoxLayout;

namespace halftone::app {

/// Asks what is to become of a session file that somebody else has saved since it was opened.
class ChangedSessionDialog : public QDialog
{
    Q_OBJECT

public:
    enum class Choice
    {
        Cancel,
        Overwrite,
        SaveAs
    };
    using Differences = std::function<Result<std::vector<session::SessionDifference>>()>;

    /// differences  asked for when a person wants to see them
    ChangedSessionDialog(const QString &path, Differences differences, QWidget *parent);

    Choice choice() const { return m_choice; }

private:
    void choose(Choice choice);
    void showDifferences();
    QTableWidget *tableOf(const std::vector<session::SessionDifference> &differences);

    Differences m_differences;
    QVBoxLayout *m_layout;
    QWidget *m_shown = nullptr; ///< the differences; null before they were asked for
    Choice m_choice = Choice::Cancel;
};

} // namespace halftone::app
