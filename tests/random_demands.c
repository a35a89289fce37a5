// Random demands that are hard to meet or cannot be met, from seeds: places for hands, feet, tips, heads,
// hips and boxes of people, spiders and wolves, all the time or for a while, of bodies that are free or hold
// each other. Prints what became of each, then how many are not fine:
//
//   random_demands [--first SEED] [--count N] [--method NAME] [--quiet]
#include "take.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct kind_of_demand {
    const char *scene, *point;
    int cast;
    bool alone; // without the scene's own constraints
    vec3 centre;
    double size; // places are so far around the centre
} kind_of_demand;

static const kind_of_demand kinds[] = {
    { "wolf", "LeftFrontPaw", 1, true, { 0, 0.8, 0.5 }, 0.7 },
    { "wolf", "Head", 1, true, { 0, 0.8, 0.5 }, 0.7 },
    { "spider", "L2Tip_End", 1, true, { 0, 0.4, 0.3 }, 0.4 },
    { "squat_chain", "LeftHand", 2, false, { -0.3, 1.1, 0 }, 0.8 },
    { "squat_chain", "LeftHand", 2, true, { -0.3, 1.1, 0 }, 1.0 },
    { "squat_chain", "RightHand", 2, false, { 0, 1.5, 0 }, 1.2 },
    { "squat_chain", "LeftFoot", 2, true, { -0.3, 0.8, 0 }, 0.7 },
    { "squat_chain", "Hips", 2, false, { 0, 0.9, 0 }, 0.5 },
    { "box_relay", "box1", 3, false, { 0, 1.2, 0 }, 1.5 },
    { "box_relay", "Head", 3, false, { 0, 1.2, 0 }, 0.8 },
    { "dance_pair", "RightHand", 2, false, { 0, 1.2, 0 }, 0.9 },
};

typedef struct totals {
    int count, turns, pops, own, links, contacts, ground, given_count;
    double given, worst_turn, worst_pop, log_pop, log_jerk;
} totals;

static double random_share( uint64_t *seed ) // 0 … 1
{
    return 0.5 + 0.5 * random_vector( seed, 1 ).x;
}

// The first prop of a scene where the point names none of its joints.
static void make_demand( take *x, const kind_of_demand *kind, uint64_t *seed )
{
    tr_constraint c = tr_default_constraint( "demand", TR_CONSTRAINT_ABSOLUTE );
    bool box = strncmp( kind->point, "box", 3 ) == 0;
    c.a = box ? tr_point_prop( x->scene.props[0].id, v3_zero )
              : tr_point_joint( x->scene.cast[0].id, kind->point );
    c.given = true;
    c.target = v3_add( kind->centre, random_vector( seed, kind->size ) );
    c.target.y = fabs( c.target.y );
    x->scene.last = x->scene.first + 99;
    double draw = random_share( seed );
    if ( draw < 0.6 ) {
        c.first = x->scene.first + 35;
        c.last = x->scene.first + 60;
        c.ease_in = c.ease_out = draw < 0.2 ? 8 : 15;
    }
    assert_non_null( tr_scene_add_constraint( &x->scene, &c ) );
}

static void run( uint64_t number, const char *method, bool quiet, totals *t )
{
    uint64_t seed = number * 0x9e3779b97f4a7c15u + 1;
    for ( int i = 0; i < 8; ++i )
        random_share( &seed );
    const kind_of_demand *kind = &kinds[number % ( sizeof kinds / sizeof *kinds )];
    take x;
    open_scene( &x, kind->scene, kind->cast );
    if ( kind->alone )
        x.scene.constraint_count = 0;
    make_demand( &x, kind, &seed );
    tr_constraint demand = x.scene.constraints[x.scene.constraint_count - 1];
    solve( &x, method );
    double turn = figure( &x, "rotation_spike_deg", "value" ), jerk = figure( &x, "jerk_ratio", "value" ),
           pop = figure( &x, "acceleration_spike", "value" ), own = figure( &x, "acceleration_spike", "own" ),
           contact = figure( &x, "contact_error_mm", "max" ), link = figure( &x, "relative_error_mm", "max" ),
           ground = figure( &x, "ground_penetration_mm", "max" ), given = 0;
    for ( int r = 0; r < x.stage.rule_count; ++r )
        if ( strcmp( x.stage.rules[r].id, "demand" ) == 0 )
            given = x.result.reports[r].max_mm;
    if ( !quiet )
        printf( "%llu %s %s %s %.2f,%.2f,%.2f: %.1f deg, jerk %.2f, acceleration %.2f own %.2f, contact "
                "%.3f, link "
                "%.3f, ground %.2f, given way %.0f mm; %s at %d\n",
                (unsigned long long)number, kind->scene, kind->point, demand.ease_in > 0 ? "fades" : "stays",
                demand.target.x, demand.target.y, demand.target.z, turn, jerk, pop, own, contact, link,
                ground, given, tr_measures_find( &x.measures, "acceleration_spike" )->out_place.name,
                tr_measures_find( &x.measures, "acceleration_spike" )->out_place.frame );
    t->count++;
    t->turns += turn > 20;
    t->pops += pop > 3;
    t->own += own > 3;
    t->links += link > 1;
    t->contacts += contact > 0.01;
    t->ground += ground > 5;
    t->given += given * 1e-3;
    t->given_count += given > 1;
    t->worst_turn = fmax( t->worst_turn, turn );
    t->worst_pop = fmax( t->worst_pop, pop );
    t->log_pop += log( fmax( pop, 1e-3 ) );
    t->log_jerk += log( fmax( jerk, 1e-3 ) );
    close_scene( &x );
}

int main( int count, char **arguments )
{
    uint64_t first = 1, number = 44;
    const char *method = NULL;
    bool quiet = false;
    for ( int i = 1; i < count; ++i )
        if ( strcmp( arguments[i], "--quiet" ) == 0 )
            quiet = true;
        else if ( i + 1 < count && strcmp( arguments[i], "--first" ) == 0 )
            first = strtoull( arguments[++i], NULL, 10 );
        else if ( i + 1 < count && strcmp( arguments[i], "--count" ) == 0 )
            number = strtoull( arguments[++i], NULL, 10 );
        else if ( i + 1 < count && strcmp( arguments[i], "--method" ) == 0 &&
                  tr_method_find( arguments[i + 1] ) != NULL )
            method = arguments[++i];
        else {
            fprintf( stderr, "random_demands: cannot read \"%s\"\n", arguments[i] );
            return 2;
        }
    totals t = { 0 };
    for ( uint64_t n = first; n < first + number; ++n )
        run( n, method, quiet, &t );
    printf( "%d demands: %d turn by more than 20 deg (%.1f), acceleration above 3: %d (%.2f, mean %.2f), own "
            "above "
            "3: %d, jerk %.2f, links > 1 mm: %d, contacts > 0.01 mm: %d, ground > 5 mm: %d, given way %.1f m "
            "in %d\n",
            t.count, t.turns, t.worst_turn, t.pops, t.worst_pop, exp( t.log_pop / t.count ), t.own,
            exp( t.log_jerk / t.count ), t.links, t.contacts, t.ground, t.given, t.given_count );
    return 0;
}
