// follow: a value that trails its goal like a weight on a spring. For tails, ears, abdomens: what hangs on a
// body moves a little later than the body and swings on when it stops.
#ifndef TROUPE_KIT_FOLLOW_H
#define TROUPE_KIT_FOLLOW_H

typedef struct tr_follow {
    double value, velocity;
} tr_follow;

// One step of  x″ = ω² (goal − x) − 2 ζ ω x′  with ω = 2π · hertz, exact for a goal that is constant over the
// step. damping ζ: 1 arrives without overshoot, 0.3 swings a few times. Stable for any step.
void tr_follow_step( tr_follow *follow, double goal, double hertz, double damping, double seconds );

#endif
