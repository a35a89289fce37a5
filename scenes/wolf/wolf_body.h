// The wolf's skeleton; private to the scene.
#ifndef TROUPE_SCENES_WOLF_BODY_H
#define TROUPE_SCENES_WOLF_BODY_H

#include "scenes/kit/kit.h"

enum {
    WOLF_SPINE = 8,
    WOLF_NECK = 5,
    WOLF_EAR = 3,
    WOLF_TAIL = 13,
    WOLF_LEGS = 4, // left and right front, left and right hind
    WOLF_TOES = 4,
};

typedef struct wolf_leg {
    bool front;
    double side;            // 1 left, -1 right
    int scapula;            // front only
    int upper, lower;       // shoulder and elbow, hip and knee
    int ankle;              // wrist or hock: carries the middle foot
    int paw;                // the ball: carries the toes
    int toes[WOLF_TOES][2]; // two bones each
    vec3 home;              // place of the ball on the ground, rest pose
    double lean;            // angle from the vertical of the line from upper to paw in the rest pose
} wolf_leg;

typedef struct wolf_body {
    int hips, spine[WOLF_SPINE], chest, neck[WOLF_NECK], head, snout, jaw;
    int ears[2][WOLF_EAR], tail[WOLF_TAIL];
    wolf_leg legs[WOLF_LEGS];
} wolf_body;

// Where the toes begin, from the ground under the ball: a paw rolls about this line over its toes.
extern const vec3 wolf_knuckles;

// Adds the 108 joints, standing on y = 0, facing +Z.
void wolf_body_add( wolf_body *body, tr_rig *rig );

// Angle by which the line from a leg's root to its paw leans ahead, in the vertical plane of `heading`.
double wolf_leg_lean( vec3 upper, vec3 paw, double heading );

#endif
