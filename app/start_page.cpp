#include "app/start_page.h"

#include "app/bars/recovery_bar.h"
#include "app/icons.h"
#include "app/recoverable_session.h"
#include "app/settings.h"
#include "core/io/formats.h"
#include "widgets/common/path_text.h"

#include <QApplication>
#include <QClipboard>
#include <QCommandLinkButton>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

namespace halftone::app {
namespace {

constexpr int kColumnWidth = 520; // characters of a line that reads well, at the usual font

QLabel *heading(const QString &text, QWidget *parent)
{
    auto *const label = new QLabel(text, parent);
    QFont font = label->font();
    font.setBold(true);
    label->setFont(font);
    return label;
}

void clear(QLayout *layout)
{
    while (QLayoutItem *const item = layout->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

} // namespace

StartPage::StartPage(QWidget *parent)
    : QWidget(parent)
{
    setAccessibleName(tr("Start page"));
    auto *const column = new QWidget(this);
    column->setMaximumWidth(kColumnWidth * fontMetrics().averageCharWidth() / 7);
    column->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    auto *const layout = new QVBoxLayout(column);
    layout->setSpacing(8);

    auto *const title = new QLabel(QStringLiteral("Halftone"), column);
    QFont font = title->font();
    font.setPointSizeF(font.pointSizeF() * 1.8);
    title->setFont(font);
    layout->addWidget(title);
    auto *const purpose = new QLabel(tr("See which operators of a model compute in 16 or 8 bits, how much "
                                        "accuracy that costs and how much time it saves."),
                                     column);
    purpose->setWordWrap(true);
    layout->addWidget(purpose);
    layout->addSpacing(8);

    m_failure = new QFrame(column);
    static_cast<QFrame *>(m_failure)->setFrameShape(QFrame::StyledPanel);
    auto *const failure = new QHBoxLayout(m_failure);
    auto *const icon = new QLabel(m_failure);
    const int iconSize = style()->pixelMetric(QStyle::PM_LargeIconSize);
    icon->setPixmap(style()->standardIcon(QStyle::SP_MessageBoxWarning).pixmap(iconSize));
    failure->addWidget(icon, 0, Qt::AlignTop);
    auto *const texts = new QVBoxLayout;
    m_failureTitle = heading({}, m_failure);
    m_failureTitle->setWordWrap(true);
    m_failureText = new QLabel(m_failure);
    m_failureText->setWordWrap(true);
    m_failureText->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_failureText->setAccessibleName(tr("Why the file could not be opened"));
    texts->addWidget(m_failureTitle);
    texts->addWidget(m_failureText);
    failure->addLayout(texts, 1);
    auto *const copy = new QPushButton(tr("Copy"), m_failure);
    connect(copy, &QPushButton::clicked, this, [this] {
        QApplication::clipboard()->setText(m_failureTitle->text() + '\n' + m_failureText->text());
    });
    failure->addWidget(copy, 0, Qt::AlignTop);
    m_failure->hide();
    layout->addWidget(m_failure);

    m_journals = new QVBoxLayout;
    layout->addLayout(m_journals);

    auto *const open = new QCommandLinkButton(
        tr("Open Model…"),
        tr("%1 or a .halftone session").arg(QString::fromStdString(io::modelPlaceholders())), column);
    open->setIcon(lineIcon(Glyph::Open));
    connect(open, &QCommandLinkButton::clicked, this, &StartPage::openRequested);
    layout->addWidget(open);
    auto *const sample = new QCommandLinkButton(
        tr("Try the Sample"),
        tr("A small model with labelled data; one of its operators overflows in float16"), column);
    sample->setIcon(lineIcon(Glyph::Play));
    connect(sample, &QCommandLinkButton::clicked, this, &StartPage::sampleRequested);
    layout->addWidget(sample);
    layout->addSpacing(8);

    m_recent = new QVBoxLayout;
    m_recent->setSpacing(2);
    layout->addLayout(m_recent);
    layout->addSpacing(8);
    auto *const hint = new QLabel(tr("Or drop a file anywhere on this window."), column);
    hint->setForegroundRole(QPalette::PlaceholderText);
    layout->addWidget(hint);

    // Much unsaved work must not make the window higher than the screen.
    auto *const scrolled = new QWidget;
    auto *const area = new QScrollArea(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
    area->setWidgetResizable(true);
    area->setWidget(scrolled);
    auto *const whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(area);
    auto *const outer = new QVBoxLayout(scrolled);
    outer->addStretch(2);
    auto *const middle = new QHBoxLayout;
    middle->addStretch(1);
    middle->addWidget(column, 4);
    middle->addStretch(1);
    outer->addLayout(middle);
    outer->addStretch(3);
    refresh();
}

void StartPage::refresh()
{
    clear(m_journals);
    for (const RecoverableSession &work : recoverableSessions())
        addJournal(work);
    clear(m_recent);
    const QStringList files = recentFiles();
    m_recent->addWidget(heading(tr("Recent"), this));
    if (files.isEmpty()) {
        auto *const none = new QLabel(tr("Models you open are listed here."), this);
        none->setForegroundRole(QPalette::PlaceholderText);
        m_recent->addWidget(none);
    }
    for (int i = 0; i < files.size(); ++i)
        addRecent(files[i], i + 1);
}

/// What cannot be read is only thrown away after a question.
void StartPage::addJournal(const RecoverableSession &work)
{
    const QString path = work.journal;
    auto *const row = new QWidget(this);
    auto *const layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    // On two lines where it is long: when the work was done tells one from another.
    auto *const what = new QLabel(
        work.isReadable ? tr("Unsaved work: %1").arg(work.text) : RecoveryBar::unreadText(work), row);
    what->setWordWrap(true);
    what->setTextInteractionFlags(Qt::TextSelectableByMouse);
    layout->addWidget(what, 1);
    if (work.isReadable) {
        auto *const recover = new QPushButton(tr("Recover"), row);
        layout->addWidget(recover);
        connect(recover, &QPushButton::clicked, this, [this, path] { Q_EMIT recoverRequested(path); });
    }
    auto *const discard = new QPushButton(tr("Discard"), row);
    layout->addWidget(discard);
    connect(discard, &QPushButton::clicked, row, [this, row, path, isReadable = work.isReadable] {
        const auto question
            = tr("Discard unsaved work? Another version of Halftone may still be able to read it.");
        if (!isReadable
            && QMessageBox::question(this, QStringLiteral("Halftone"), question,
                                     QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Cancel)
                != QMessageBox::Discard)
            return;
        discardJournal(path);
        row->deleteLater();
    });
    m_journals->addWidget(row);
}

void StartPage::addRecent(const QString &path, int number)
{
    auto *const row = new QWidget(this);
    auto *const layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    auto *const open = new QToolButton(row);
    open->setToolButtonStyle(Qt::ToolButtonTextOnly);
    open->setAutoRaise(true);
    const bool isThere = widgets::pathExists(path);
    const QString shown = widgets::shownPath(path);
    open->setText(widgets::shownName(path));
    open->setToolTip(isThere ? tr("%1 (Ctrl+%2)").arg(shown).arg(number)
                             : tr("%1 no longer exists").arg(shown));
    open->setEnabled(isThere);
    connect(open, &QToolButton::clicked, this, [this, path] { Q_EMIT fileRequested(path); });
    layout->addWidget(open);
    auto *const folder = new QLabel(
        fontMetrics().elidedText(shown.left(shown.lastIndexOf(u'/')), Qt::ElideMiddle, kColumnWidth / 2),
        row);
    folder->setForegroundRole(QPalette::PlaceholderText);
    layout->addWidget(folder, 1);
    if (!isThere) {
        auto *const remove = new QPushButton(tr("Remove"), row);
        connect(remove, &QPushButton::clicked, row, [row, path] {
            removeRecentFile(path);
            row->deleteLater();
        });
        layout->addWidget(remove);
    }
    m_recent->addWidget(row);
}

void StartPage::showFailure(const QString &path, const QString &why)
{
    m_failureTitle->setText(tr("Could not open %1").arg(widgets::shownName(path)));
    m_failureText->setText(why);
    m_failure->show();
}

void StartPage::clearFailure()
{
    m_failure->hide();
}

} // namespace halftone::app
