#include "app/cli/format_texts.h"

#include "core/dialect/registry.h"
#include "core/io/formats.h"

namespace halftone::cli {
namespace {

void addText(std::string &all, std::string_view separator, std::string_view text)
{
    all.append(all.empty() ? "" : separator).append(text);
}

} // namespace

std::string modelHelp()
{
    std::string help;
    for (const io::ModelFormat *const format : io::formats())
        addText(help, ", or ", format->readHelp);
    return help;
}

std::string outputHelp()
{
    std::string help;
    for (const io::ModelFormat *const format : io::formats()) {
        addText(help, ", or for ", help.empty() ? "" : std::string(format->model) + ' ');
        help += format->writeHelp;
    }
    return help;
}

std::string titlesWith(const HasProperty &property)
{
    std::string titles;
    for (const dialect::Dialect *const dialect : dialect::allDialects()) {
        if (property(*dialect))
            addText(titles, ", ", dialect->title());
    }
    return titles;
}

std::string onlyWith(const HasProperty &property)
{
    const std::string titles = titlesWith(property);
    return titles.empty() ? "No format of this build: " : titles + " only: ";
}

std::string defaultWith(const HasProperty &property)
{
    const std::string titles = titlesWith(property);
    return titles.empty() ? std::string() : " (default for " + titles + ')';
}

bool hasListVersions(const dialect::Dialect &dialect)
{
    return dialect.listVersions().size() > 1;
}

std::string listVersionsHelp()
{
    std::string versions;
    for (const dialect::Dialect *const dialect : dialect::allDialects()) {
        if (!hasListVersions(*dialect))
            continue;
        for (const std::string_view version : dialect->listVersions())
            addText(versions, version == dialect->listVersions().back() ? " or " : ", ", version);
    }
    return versions;
}

} // namespace halftone::cli
