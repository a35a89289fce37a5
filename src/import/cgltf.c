// The one place where cgltf's implementation is compiled.
#ifdef TROUPE_HAS_CGLTF
#define CGLTF_IMPLEMENTATION
#include <cgltf.h>
#else
typedef int cgltf_is_missing;
#endif
