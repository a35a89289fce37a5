// Makes a generated scene smaller as long as something is still true of it.
#ifndef TROUPE_TESTS_SHRINK_H
#define TROUPE_TESTS_SHRINK_H

#include "generate.h"

typedef bool shrink_test( void *context, const generated *g );

// Takes out elements, fields, frames and joints, one after another, while `fails` holds of what is left.
// Elements and fields go by ops, so that whatever the document gains can be shrunk.
void shrink( generated *g, shrink_test *fails, void *context );

#endif
