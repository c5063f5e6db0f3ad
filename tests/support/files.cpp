#include "tests/support/files.h"

#include <QtGlobal>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace halftone::test {

std::string readFile(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        qFatal("no file %s", path.c_str());
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

nlohmann::json readJson(const std::string &path)
{
    return nlohmann::json::parse(readFile(path));
}

std::vector<std::string> foldersIn(const std::string &path)
{
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(path)) {
        if (entry.is_directory())
            names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace halftone::test
