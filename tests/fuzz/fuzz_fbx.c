// cmake --preset fuzz && cmake --build build-fuzz && build-fuzz/fuzz_fbx -timeout=10 tests/fuzz/corpus/fbx
#define FUZZ_NAME "fuzz.fbx"
#include "fuzz/import.h"
