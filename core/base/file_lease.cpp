#include "core/base/file_lease.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <future>
#include <thread>

namespace halftone::leases {
namespace {

std::atomic<pid_t> s_keeper = 0; ///< the thread that is told; 0: none yet

/// One that nothing else of the program uses: it is directed at the thread that waits for it, and blocked there.
int noticeSignal()
{
    return SIGRTMIN + 5;
}

/// Where others write without this system being asked, a lease says nothing.
bool isLocal(int file)
{
    constexpr std::array<long, 6> kShared{NFS_SUPER_MAGIC, FUSE_SUPER_MAGIC, SMB_SUPER_MAGIC,
                                          V9FS_MAGIC,      CEPH_SUPER_MAGIC, AFS_SUPER_MAGIC};
    struct statfs system = {};
    return ::fstatfs(file, &system) == 0 && std::ranges::find(kShared, system.f_type) == kShared.end();
}

[[noreturn]] void keep(void (*onWriter)(), std::promise<void> &isReady)
{
    sigset_t others; // which are for other threads
    sigfillset(&others);
    for (const int ownFault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT})
        sigdelset(&others, ownFault);
    pthread_sigmask(SIG_SETMASK, &others, nullptr);
    sigset_t notice;
    sigemptyset(&notice);
    sigaddset(&notice, noticeSignal());
    s_keeper = ::gettid();
    isReady.set_value();
    for (;;) {
        if (sigwaitinfo(&notice, nullptr) == noticeSignal())
            onWriter();
    }
}

} // namespace

void begin(void (*onWriter)())
{
    if (s_keeper != 0)
        return;
    std::signal(SIGIO, SIG_IGN); // what the system sends in place of a notice that it cannot queue
    std::promise<void> isReady;
    std::thread([onWriter, &isReady] { keep(onWriter, isReady); }).detach();
    isReady.get_future().wait();
}

bool take(int file)
{
    const pid_t keeper = s_keeper;
    if (keeper == 0 || !isLocal(file))
        return false;
    const f_owner_ex owner{F_OWNER_TID, keeper};
    return ::fcntl(file, F_SETOWN_EX, &owner) == 0 && ::fcntl(file, F_SETSIG, noticeSignal()) == 0
        && ::fcntl(file, F_SETLEASE, F_RDLCK) == 0;
}

/// While somebody waits, the system tells what the lease is to become.
bool isWanted(int file)
{
    return ::fcntl(file, F_GETLEASE) != F_RDLCK;
}

void giveBack(int file)
{
    ::fcntl(file, F_SETLEASE, F_UNLCK);
}

} // namespace halftone::leases
