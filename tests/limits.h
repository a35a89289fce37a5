// What every exported motion is held to, shared by the tests of built-in scenes and of captures.
#ifndef TROUPE_TESTS_LIMITS_H
#define TROUPE_TESTS_LIMITS_H

#include "take.h"

typedef struct bounds {
    bound_name jerk, acceleration; // as ratios to the source
    bound_name pose;               // pose error as a ratio to that of copy-ik
    bound_name rougher;            // jerk as a ratio to that of copy-ik; none: it must be lower
    bool skates;                   // a known miss: feet slide more than the source's
} bounds;

static const bounds promised = { BOUND_JERK, BOUND_ACCELERATION, BOUND_POSE };

static inline double source_figure( const take *x, const char *key, const char *name )
{
    return field_of( x, key, name )->source;
}

static inline void check_most( const take *x, const char *name, const char *key, const char *field,
                               double most )
{
    if ( !( figure( x, key, field ) <= most ) )
        fail_msg( "%s: %s (%s) is %.9g, more than %.9g", name, key, field, figure( x, key, field ), most );
}

static inline void check_figure( const take *x, const char *name, const char *key, const char *field,
                                 bound_name row )
{
    double value = figure( x, key, field );
    if ( !( value <= bound_row_of( row )->limit ) )
        print_error( "%s: %s (%s)\n", name, key, field );
    check_bound_of( value, row );
}

// Bodies stay whole and move without pops.
static inline void check_whole( const take *x, const char *name, const bounds *most )
{
    print_message( "%s: jerk %.3f, acceleration %.2f, rotation %.1f°, skate %.2f of %.2f mm/s, soles %.2f°\n",
                   name, figure( x, "jerk_ratio", "value" ), figure( x, "acceleration_spike", "value" ),
                   figure( x, "rotation_spike_deg", "value" ), figure( x, "foot_skate_mm_s", "mean" ),
                   source_figure( x, "foot_skate_mm_s", "mean" ), figure( x, "sole_tilt_deg", "max" ) );
    check_figure( x, name, "bone_length_error_pct", "value", BOUND_BONE_PCT );
    check_figure( x, name, "acceleration_spike", "value", most->acceleration );
    check_figure( x, name, "rotation_spike_deg", "value", BOUND_ROTATION_DEG );
    check_figure( x, name, "contact_error_mm", "max", BOUND_CONTACT_MM );
    check_most( x, name, "contact_error_mm", "gave_way", 0 );
    double skate = fmax( ( 1 + 1e-6 ) * source_figure( x, "foot_skate_mm_s", "mean" ), bound( SKATE_MM_S ) );
    if ( most->skates )
        expect_miss( "the ankle of a larger foot that rolls is faster, and counts as sliding",
                     figure( x, "foot_skate_mm_s", "mean" ) <= skate );
    else
        check_most( x, name, "foot_skate_mm_s", "mean", skate );
    check_figure( x, name, "sole_tilt_deg", "max", BOUND_SOLE_TILT_DEG );
}

static inline tr_target body_with( const char *limb, double factor )
{
    tr_target target = tr_default_cast( "any" ).target;
    snprintf( target.limbs[0].limb, sizeof target.limbs[0].limb, "%s", limb );
    target.limbs[0].value = factor;
    target.limb_count = 1;
    return target;
}

#endif
