#include "tests/support/malformed.h"

#include "tests/support/files.h"

#include <pthread.h>
#include <sys/resource.h>

#include <chrono>
#include <sstream>

namespace halftone::test {
namespace {

constexpr double kLongestSeconds = 1;
constexpr std::size_t kSmallStack = std::size_t{512} << 10;

std::string problemWith(const MalformedCase &one, const Result<void> &outcome)
{
    if (outcome.ok())
        return one.expected == "*" ? "" : "was read without an error";
    const std::string message = outcome.error().message();
    if (message.find('\n') != std::string::npos)
        return "more than one line: " + message;
    if (one.expected != "*" && message.find(one.expected) == std::string::npos)
        return "\"" + message + "\" lacks \"" + one.expected + "\"";
    return message.empty() ? "an error without a text" : "";
}

void *runWork(void *work)
{
    (*static_cast<const std::function<void()> *>(work))();
    return nullptr;
}

} // namespace

std::vector<MalformedCase> malformedCases(const std::string &kind)
{
    const std::string folder = std::string(HALFTONE_TEST_DATA) + "/malformed/";
    const std::string corpus = readFile(folder + "corpus.bin");
    std::istringstream manifest(readFile(folder + "manifest.tsv"));
    std::vector<MalformedCase> cases;
    for (std::string line; std::getline(manifest, line);) {
        std::istringstream fields(line);
        MalformedCase one;
        std::string ofKind;
        std::size_t offset = 0;
        std::size_t length = 0;
        std::getline(fields, one.name, '\t');
        std::getline(fields, ofKind, '\t');
        fields >> offset >> length;
        fields.get();
        std::getline(fields, one.expected);
        const auto bytes = std::as_bytes(std::span(corpus)).subspan(offset, length);
        one.bytes = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
        if (ofKind == kind)
            cases.push_back(std::move(one));
    }
    return cases;
}

std::string checkMalformed(const std::string &kind,
                           const std::function<Result<void>(const MalformedCase &)> &read)
{
    const std::vector<MalformedCase> cases = malformedCases(kind);
    std::string problems = cases.empty() ? "no cases of kind " + kind : "";
    for (const MalformedCase &one : cases) {
        const auto start = std::chrono::steady_clock::now();
        std::string problem = problemWith(one, read(one));
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        if (problem.empty() && taken.count() > kLongestSeconds)
            problem = "took " + std::to_string(taken.count()) + " s";
        if (!problem.empty())
            problems += one.name + ": " + problem + "\n";
    }
    return problems;
}

std::size_t peakMemory()
{
    rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

void onSmallStack(const std::function<void()> &work)
{
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, kSmallStack);
    pthread_t thread = {};
    auto *const argument = const_cast<std::function<void()> *>(&work);
    ::pthread_create(&thread, &attributes, runWork, argument);
    ::pthread_attr_destroy(&attributes);
    ::pthread_join(thread, nullptr);
}

} // namespace halftone::test
