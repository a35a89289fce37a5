// Centres of mass in the fit. Moving the pelvis by s moves the centre of mass by a share of it: nearly all in
// the air, about two thirds over feet that stay. With e the error before and e′ after a step s, the next step
// is, on every axis, e′ s / (e − e′).
#include "cluster/private.h"

#define MET        3e-4 // metres
#define FIRST_GAIN 1.5
#define MOST_GAIN  4.0

bool tr_rule_lowers( const tr_rule *rule )
{
    vec3 acts = tr_rule_masked( rule, v3_one );
    return rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS && acts.y != 0 && acts.x == 0 && acts.z == 0;
}

const tr_rule *tr_lean_rule( const tr_stage *stage, const int *rules, int count, int frame )
{
    const tr_rule *strongest = NULL;
    double most = 0;
    for ( int i = 0; i < count; ++i ) {
        const tr_rule *rule = &stage->rules[rules[i]];
        bool mass = rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS && rule->hard;
        double strength = mass ? tr_rule_strength( rule, frame ) : 0;
        if ( strength > most ) {
            strongest = rule;
            most = strength;
        }
    }
    return strongest;
}

static double next_step( double step, double before, double error )
{
    double achieved = before - error;
    double gain = step != 0 && achieved * step > 0 ? step / achieved : FIRST_GAIN;
    return clampd( gain, 1.0 / MOST_GAIN, MOST_GAIN ) * error;
}

static vec3 limited( vec3 v, double most )
{
    double length = v3_length( v );
    return length > most ? v3_scale( most / length, v ) : v;
}

bool tr_lean_correct( tr_lean *lean, const tr_stage *stage, const tr_result *result, const tr_rule *rule,
                      int frame, tr_pose copied, vec3 moved )
{
    vec3 now = tr_actor_mass_centre( stage, result, rule->a.actor, frame );
    if ( !lean->begun )
        lean->free = now;
    lean->begun = true;
    vec3 target = rule->given ? tr_reach_mass( stage, result, rule, frame, copied )
                              : tr_rule_target( stage, result, rule, frame );
    vec3 wanted = v3_lerp( lean->free, target, tr_rule_strength( rule, frame ) );
    vec3 e = tr_rule_masked( rule, v3_sub( wanted, now ) );
    if ( v3_length( e ) <= MET )
        return false;
    vec3 step =
        v3( next_step( lean->step.x, lean->error.x, e.x ), next_step( lean->step.y, lean->error.y, e.y ),
            next_step( lean->step.z, lean->error.z, e.z ) );
    // no farther than the legs reach from where the body stands; in the air, as far as it takes
    double reach = tr_skeleton_leg_length( &stage->actors[rule->a.actor].target );
    vec3 shift = limited( v3_add( lean->shift, step ), fmax( reach, v3_distance( wanted, lean->free ) ) );
    if ( rule->given )
        shift = tr_reach_lean( stage, result, rule, frame, copied, moved, shift );
    lean->step = v3_sub( shift, lean->shift );
    lean->error = e;
    lean->shift = shift;
    return v3_length( lean->step ) > 1e-5;
}
