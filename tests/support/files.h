#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace halftone::test {

std::string readFile(const std::string &path); ///< the bytes; fails the program when there is no such file
nlohmann::json readJson(const std::string &path);
std::vector<std::string> foldersIn(const std::string &path); ///< names, sorted

} // namespace halftone::test
