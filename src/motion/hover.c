// How high above the floor a capture stands.
//
// A floor that was set up some centimetres too low leaves everybody hovering, and nothing in a file says so.
// Ankles do not tell: they are high above their soles. Toes do: the joint of a foot that is lowest when it
// rests is a finger's breadth above the floor, and hovers where it is more than twice as high.
#include "motion/motion.h"

static const double usual = 0.015, most = 0.033; // shares of the body's height

double tr_contacts_hover( const tr_skeleton *skeleton, const tr_world *world, const tr_contacts *contacts,
                          double ground, double *lower )
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
    bool hovers = low < HUGE_VAL && low > most * height;
    *lower = hovers ? low - usual * height : 0.0;
    return hovers ? low : 0.0;
}
