#include "core/base/guarded.h"

#include "core/base/memory.h"
#include "core/base/text.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

namespace halftone {
namespace {

Error describe()
{
    try {
        throw;
    } catch (const OutOfMemory &error) {
        return outOfMemory(error.bytes());
    } catch (const std::bad_alloc &) {
        return noMemory("out of memory: " + humanBytes(availableMemory()) + " left");
    } catch (const std::length_error &) {
        return noMemory("out of memory: the request exceeds the address space");
    } catch (const std::system_error &error) { // a thread that cannot be started, above all
        return noMemory(std::string("system error: ") + error.what());
    } catch (const std::exception &error) {
        return unsupported({}, error.what());
    } catch (...) {
        return unsupported({}, "unknown error");
    }
}

} // namespace

Error currentFailure() noexcept
{
    releaseReserve();
    try {
        return describe();
    } catch (...) { // not even the words could be had
        return noMemory("out of memory"); // so short a text needs none
    }
}

} // namespace halftone
