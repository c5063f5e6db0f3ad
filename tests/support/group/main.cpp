#include "tests/support/group/group.h"

#include <cstdio>

/// The first argument names the test, the others are its own.
int main(int argc, char **argv)
{
    const auto &tests = halftone::test::testsOfGroup();
    const auto found = argc > 1 ? tests.find(argv[1]) : tests.end();
    if (found == tests.end()) {
        std::fputs("the first argument is one of these tests:\n", stderr);
        for (const auto &[name, testMain] : tests)
            std::fprintf(stderr, "  %s\n", name.c_str());
        return 2;
    }
    argv[1] = argv[0];
    return found->second(argc - 1, argv + 1);
}
