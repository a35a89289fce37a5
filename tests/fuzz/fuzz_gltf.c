// cmake --preset fuzz && cmake --build build-fuzz && build-fuzz/fuzz_gltf -timeout=10 tests/fuzz/corpus/gltf
#define FUZZ_NAME "fuzz.glb"
#include "fuzz/import.h"
