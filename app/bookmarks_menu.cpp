#include "app/bookmarks_menu.h"

#include "widgets/graphview/graph_view.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QInputDialog>
#include <QListWidget>
#include <QPushButton>
#include <QShortcut>
#include <QVBoxLayout>

#include <algorithm>

namespace halftone::app {
namespace {

constexpr int kWithKey = 9; ///< Alt+1 to Alt+9

/// Names are text, not mnemonics.
QString labelOf(const QString &name)
{
    return QString(name).replace(u'&', QStringLiteral("&&"));
}

/// The bookmarks as a list whose names can be written over.
class BookmarksDialog : public QDialog
{
public:
    BookmarksDialog(BookmarksMenu *menu, QWidget *parent)
        : QDialog(parent)
        , m_menu(menu)
        , m_list(new QListWidget(this))
    {
        setWindowTitle(QObject::tr("Bookmarks"));
        auto *const layout = new QVBoxLayout(this);
        m_list->setAccessibleName(QObject::tr("Bookmarks"));
        m_list->setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::SelectedClicked);
        layout->addWidget(m_list);
        auto *const buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
        m_go = buttons->addButton(QObject::tr("&Go To"), QDialogButtonBox::ActionRole);
        m_rename = buttons->addButton(QObject::tr("&Rename"), QDialogButtonBox::ActionRole);
        m_delete = buttons->addButton(QObject::tr("&Delete"), QDialogButtonBox::ActionRole);
        m_go->setDefault(true);
        layout->addWidget(buttons);
        connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
        connect(m_go, &QPushButton::clicked, this, &BookmarksDialog::go);
        connect(m_list, &QListWidget::itemDoubleClicked, this, &BookmarksDialog::go);
        connect(m_rename, &QPushButton::clicked, this, [this] { m_list->editItem(m_list->currentItem()); });
        connect(m_delete, &QPushButton::clicked, this, &BookmarksDialog::removeCurrent);
        connect(new QShortcut(Qt::Key_Delete, m_list, nullptr, nullptr, Qt::WidgetShortcut),
                &QShortcut::activated, this, &BookmarksDialog::removeCurrent);
        connect(m_list, &QListWidget::itemChanged, this, &BookmarksDialog::takeName);
        fill(0);
    }

private:
    void fill(int row)
    {
        const QSignalBlocker blocker(m_list);
        m_list->clear();
        for (const Bookmark &bookmark : m_menu->bookmarks()) {
            auto *const item = new QListWidgetItem(bookmark.name, m_list);
            item->setFlags(item->flags() | Qt::ItemIsEditable);
        }
        m_list->setCurrentRow(std::min(row, m_list->count() - 1));
        for (QPushButton *button : {m_go, m_rename, m_delete})
            button->setEnabled(m_list->count() > 0);
    }
    void go()
    {
        m_menu->goTo(static_cast<std::size_t>(m_list->currentRow()));
        accept();
    }
    void removeCurrent()
    {
        const int row = m_list->currentRow();
        if (row < 0)
            return;
        m_menu->remove(static_cast<std::size_t>(row));
        fill(row);
    }
    void takeName(QListWidgetItem *item)
    {
        const int row = m_list->row(item);
        m_menu->rename(static_cast<std::size_t>(row), item->text());
        fill(row);
    }

    BookmarksMenu *m_menu;
    QListWidget *m_list;
    QPushButton *m_go;
    QPushButton *m_rename;
    QPushButton *m_delete;
};

} // namespace

BookmarksMenu::BookmarksMenu(widgets::GraphView *graph, QWidget *parent)
    : QMenu(tr("Boo&kmarks"), parent)
    , m_graph(graph)
{
    m_add = addAction(tr("&Add Bookmark…"), this, &BookmarksMenu::askAndAdd);
    m_add->setShortcut(Qt::CTRL | Qt::Key_B);
    m_edit = addAction(tr("&Edit Bookmarks…"), this, &BookmarksMenu::edit);
    m_edit->setShortcut(Qt::CTRL | Qt::SHIFT | Qt::Key_B);
    addSeparator();
    refresh();
}

void BookmarksMenu::setBookmarks(std::vector<Bookmark> bookmarks)
{
    m_bookmarks = std::move(bookmarks);
    refresh();
}

void BookmarksMenu::setDocumentOpen(bool isOpen)
{
    m_isDocumentOpen = isOpen;
    refresh();
}

void BookmarksMenu::refresh()
{
    while (m_going.size() < m_bookmarks.size()) {
        const std::size_t index = m_going.size();
        m_going.push_back(addAction(QString(), this, [this, index] { goTo(index); }));
        if (index < kWithKey)
            m_going.back()->setShortcut(Qt::ALT | Qt::Key(Qt::Key_1 + static_cast<int>(index)));
    }
    for (std::size_t index = 0; index < m_going.size(); ++index) {
        const bool isThere = index < m_bookmarks.size();
        m_going[index]->setVisible(isThere);
        m_going[index]->setEnabled(isThere && m_isDocumentOpen);
        m_going[index]->setText(isThere ? labelOf(m_bookmarks[index].name) : QString());
    }
    m_add->setEnabled(m_isDocumentOpen);
    m_edit->setEnabled(m_isDocumentOpen && !m_bookmarks.empty());
}

void BookmarksMenu::add(const QString &name)
{
    const QString text = name.trimmed().left(Bookmark::kMostCharacters);
    const auto view = m_graph->view();
    if (text.isEmpty() || !view)
        return;
    Bookmark bookmark{text, view->open, view->camera, m_graph->colourBy(), m_graph->sides()};
    const auto taken = std::ranges::find(m_bookmarks, text, &Bookmark::name);
    if (taken != m_bookmarks.end())
        *taken = std::move(bookmark);
    else
        m_bookmarks.push_back(std::move(bookmark));
    refresh();
    Q_EMIT changed();
}

void BookmarksMenu::goTo(std::size_t index)
{
    if (index >= m_bookmarks.size())
        return;
    const Bookmark bookmark = m_bookmarks[index];
    m_graph->setColourBy(bookmark.colourBy);
    m_graph->setSides(bookmark.sides);
    m_graph->showView({bookmark.open, bookmark.camera});
    m_graph->setFocus(Qt::OtherFocusReason);
}

void BookmarksMenu::rename(std::size_t index, const QString &name)
{
    const QString text = name.trimmed().left(Bookmark::kMostCharacters);
    if (index >= m_bookmarks.size() || text.isEmpty() || m_bookmarks[index].name == text)
        return;
    m_bookmarks[index].name = text;
    refresh();
    Q_EMIT changed();
}

void BookmarksMenu::remove(std::size_t index)
{
    if (index >= m_bookmarks.size())
        return;
    m_bookmarks.erase(m_bookmarks.begin() + static_cast<std::ptrdiff_t>(index));
    refresh();
    Q_EMIT changed();
}

QString BookmarksMenu::freeName() const
{
    for (std::size_t number = m_bookmarks.size() + 1;; ++number) {
        QString name = tr("View %1").arg(number);
        if (std::ranges::find(m_bookmarks, name, &Bookmark::name) == m_bookmarks.end())
            return name;
    }
}

void BookmarksMenu::askAndAdd()
{
    bool isGiven = false;
    const QString name
        = QInputDialog::getText(parentWidget(), tr("Add Bookmark"),
                                tr("&Name (the bookmark keeps unfolded blocks, position, zoom and colours):"),
                                QLineEdit::Normal, freeName(), &isGiven);
    if (isGiven)
        add(name);
}

void BookmarksMenu::edit()
{
    BookmarksDialog(this, parentWidget()).exec();
}

} // namespace halftone::app
