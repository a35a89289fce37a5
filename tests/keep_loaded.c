// Linked into every program of a sanitizer build: graphics drivers stay loaded. The sanitizers look up the
// module of a finding when the program ends, and can only match it with lsan.supp and tsan.supp if it is
// still there.
#include <dlfcn.h>

int dlclose( void *handle )
{
    (void)handle;
    return 0;
}
