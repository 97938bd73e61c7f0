// The heap: how much of what was freed glibc keeps for the next turn of the loop.
#pragma once

namespace instantstart::base {

// Call once, first in main(). By default glibc gives memory at the heap's end back as soon as 128 KiB of it
// are free: an answer of AWS read into JSON takes more than that, so each call would fault its memory in anew
// and give it back again. Up to 4 MiB are kept instead. Does nothing where the C library is another.
void keep_freed_memory();

}  // namespace instantstart::base
