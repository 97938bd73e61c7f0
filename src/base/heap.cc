#include "base/heap.h"

#include <cstdlib>  // says which C library this is

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace instantstart::base {

void keep_freed_memory() {
#if defined(__GLIBC__)
    constexpr int kKept = 4 << 20;    // bytes
    constexpr int kOwnMap = 1 << 20;  // larger blocks are mapped on their own and given back at once
    mallopt(M_TRIM_THRESHOLD, kKept);
    mallopt(M_MMAP_THRESHOLD, kOwnMap);
#endif
}

}  // namespace instantstart::base
