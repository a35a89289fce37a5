// How high above the floor a capture stands.
//
// Where a floor was set up some centimetres too low, all bodies hover, without a hint in the file. Ankles
// do not show it, since they are high above their soles. Toes do: the joint of a foot that is lowest when it
// rests is a finger's breadth above the floor, and hovers where it is more than twice as high.
#include "motion/motion.h"

double tr_contacts_hover( const tr_skeleton *skeleton, const tr_world *world, const tr_contacts *contacts,
                          const tr_contact_def *def, double ground, double *lower )
{
    double low = HUGE_VAL;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        double sum = 0;
        int frames = 0;
        for ( int i = 0; i < contacts->count && skeleton->joints[j].role == TR_ROLE_TOE; ++i ) {
            const tr_contact *c = &contacts->items[i];
            for ( int f = c->first; c->joint == j && c->surface == TR_SURFACE_GROUND && f <= c->last; ++f ) {
                sum += tr_world_pose( world, f ).positions[j].y - ground;
                ++frames;
            }
        }
        if ( frames > 0 )
            low = fmin( low, sum / frames );
    }
    double height = tr_stature( skeleton ); // rest poses may lie down
    bool hovers = low < HUGE_VAL && low > def->highest_toe * height;
    *lower = hovers ? low - def->usual_toe * height : 0.0;
    return hovers ? low : 0.0;
}
