#include "app/bars/recovery_bar.h"

namespace halftone::app {

RecoveryBar::RecoveryBar(QWidget *parent)
    : NoticeBar(parent)
{
    connect(this, &NoticeBar::actionTriggered, this, [this] {
        hide();
        Q_EMIT recoverRequested(m_offered);
    });
    connect(this, &NoticeBar::dismissed, this, [this] { m_closed.insert(m_offered); });
}

QString RecoveryBar::unreadText(const RecoverableSession &work)
{
    return tr("Unsaved work from another version of Halftone was kept: %1").arg(work.text);
}

void RecoveryBar::offer(const QString &model)
{
    std::vector<RecoverableSession> left = recoverableSessions(model);
    std::erase_if(left, [this](const RecoverableSession &work) { return m_closed.contains(work.journal); });
    if (left.empty()) {
        hide();
        return;
    }
    m_offered = left.front().journal;
    if (!left.front().isReadable) {
        showNotice(unreadText(left.front()));
        return;
    }
    const std::size_t others = left.size() - 1;
    const QString more = others == 0 ? QString() : tr(" (%1 more on the start page)").arg(others);
    showNotice(tr("Unsaved work from an earlier session: %1%2").arg(left.front().text, more), tr("Recover"),
               Kind::Information);
}

} // namespace halftone::app
