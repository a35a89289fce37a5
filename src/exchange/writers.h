// What the writers of exchange files share.
#ifndef TROUPE_EXCHANGE_WRITERS_H
#define TROUPE_EXCHANGE_WRITERS_H

#include "exchange/exchange.h"
#include <stdint.h>

// Each writes a whole file. False: out of memory, or too large for the format.
bool tr_glb_print( const tr_exchange *x, const tr_exchange_def *def, tr_text *out, tr_error *error );
bool tr_usda_print( const tr_exchange *x, tr_text *out, tr_error *error );
bool tr_npz_print( const tr_exchange *x, tr_text *out, tr_error *error );

// Colours of files are linear.
double tr_linear_colour( float srgb );
// A track or a place at a frame.
rigid tr_thing_at( const tr_exchange_thing *thing, int frame );
// Where a joint is, seen from the one above it.
vec3 tr_exchange_offset( const tr_exchange_body *body, int frame, int joint );

#endif
