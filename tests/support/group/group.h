#pragma once

// In front of each test that shares its program with others (halftone_test in tests/CMakeLists.txt): what QTEST_MAIN and its kin would make
// the program's main() is kept under the name of the test's file instead, and the program's own main() calls the one it is told to.
#include <QCoreApplication>
#include <QTest>

#include <map>
#include <string>

namespace halftone::test {

using TestMain = int (*)(int argc, char **argv);

inline std::map<std::string, TestMain> &testsOfGroup()
{
    static std::map<std::string, TestMain> s_tests;
    return s_tests;
}

/// The test that a file holds: "…/tst_npz.cpp" is "tst_npz".
inline bool addToGroup(const std::string &file, TestMain testMain)
{
    const std::size_t begin = file.rfind('/') + 1;
    return testsOfGroup().emplace(file.substr(begin, file.rfind('.') - begin), testMain).second;
}

} // namespace halftone::test

#undef QTEST_APPLESS_MAIN
#undef QTEST_GUILESS_MAIN
#undef QTEST_MAIN

#define HALFTONE_TEST_IN_GROUP(Test, ...)                                                                    \
    static int mainOf##Test([[maybe_unused]] int argc, [[maybe_unused]] char **argv)                         \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
        Test test;                                                                                           \
        return QTest::qExec(&test, argc, argv);                                                              \
    }                                                                                                        \
    [[maybe_unused]] static const bool s_hasAdded##Test = halftone::test::addToGroup(__FILE__, mainOf##Test);

#define QTEST_APPLESS_MAIN(Test) HALFTONE_TEST_IN_GROUP(Test)
#define QTEST_GUILESS_MAIN(Test) HALFTONE_TEST_IN_GROUP(Test, QTEST_QAPP_SETUP(QCoreApplication))
#define QTEST_MAIN(Test) HALFTONE_TEST_IN_GROUP(Test, QTEST_MAIN_SETUP())
