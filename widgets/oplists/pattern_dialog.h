#pragma once

#include "core/policy/edits.h"
#include "core/session/snapshot.h"
#include "widgets/common/edit_effects.h"
#include "widgets/models/list_moves.h"

#include <QDialog>
#include <QTimer>

#include <memory>
#include <optional>

class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace halftone::widgets {

/// Edits many nodes by a pattern over their names, with the count and the names before it is done.
class PatternDialog : public QDialog
{
    Q_OBJECT

public:
    /// The effects of edits are those of `controller`, which has a document open.
    explicit PatternDialog(const DocumentController *controller, QWidget *parent = nullptr);

    /// What the person asks for; nothing while the pattern is wrong or matches nothing.
    std::optional<policy::Edit> edit() const;

    void setPattern(const QString &pattern); ///< with or without slashes around it

private:
    enum Action
    {
        Exclude,
        ToTarget,
        ToInt8,
        ToFp32,
        AsListsSay
    };
    std::string pattern() const;
    ListMove moveOfNodes() const;
    QString whyNot() const; ///< there is no edit although nodes match
    void match();
    void showEffect();

    std::shared_ptr<const session::Snapshot> m_snapshot;
    EditEffects m_effects;
    std::vector<std::string> m_matches;
    QLineEdit *m_pattern;
    QComboBox *m_action;
    QLabel *m_count;
    QListWidget *m_names;
    QLabel *m_effect;
    QPushButton *m_ok;
    QTimer m_later; ///< the effect is worked out once typing rests
};

} // namespace halftone::widgets
