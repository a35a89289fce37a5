// The one place where ufbx is compiled.
#ifdef TROUPE_HAS_UFBX
#include <ufbx.c>
#else
typedef int ufbx_is_missing;
#endif
