// human: the built-in human body and the solver that poses it from where its parts shall be.
// 1.75 m tall, T-pose at rest: Y up, facing +Z, its left towards +X, soles on y = 0.
#ifndef TROUPE_KIT_HUMAN_H
#define TROUPE_KIT_HUMAN_H

#include "motion/motion.h"

typedef enum tr_human_joint {
    TR_HUMAN_HIPS,
    TR_HUMAN_SPINE,
    TR_HUMAN_SPINE1,
    TR_HUMAN_SPINE2,
    TR_HUMAN_CHEST,
    TR_HUMAN_NECK,
    TR_HUMAN_HEAD,
    TR_HUMAN_HEAD_END,
    TR_HUMAN_ARMS,                      // first of the left arm's seven joints; the right arm's follow
    TR_HUMAN_LEGS = TR_HUMAN_ARMS + 14, // first of the left leg's five joints; the right leg's follow
    TR_HUMAN_JOINTS = TR_HUMAN_LEGS + 10
} tr_human_joint;

enum { TR_HUMAN_LEFT, TR_HUMAN_RIGHT }; // index of hands and feet below

// Joints of an arm and of a leg, counted from the limb's first.
enum {
    TR_HUMAN_SHOULDER,
    TR_HUMAN_ARM,
    TR_HUMAN_FOREARM,
    TR_HUMAN_HAND,
    TR_HUMAN_THUMB,
    TR_HUMAN_THUMB_END,
    TR_HUMAN_HAND_END,
    TR_HUMAN_ARM_JOINTS
};
enum { TR_HUMAN_UP_LEG, TR_HUMAN_LEG, TR_HUMAN_FOOT, TR_HUMAN_TOE, TR_HUMAN_TOE_END, TR_HUMAN_LEG_JOINTS };

static inline int tr_human_arm( int side, int joint )
{
    return TR_HUMAN_ARMS + side * TR_HUMAN_ARM_JOINTS + joint;
}
static inline int tr_human_leg( int side, int joint )
{
    return TR_HUMAN_LEGS + side * TR_HUMAN_LEG_JOINTS + joint;
}

bool tr_human_skeleton( tr_skeleton *out, tr_error *error ); // classified

#define TR_HUMAN_HIP_HEIGHT  0.965 // height of joint Hips when standing straight
#define TR_HUMAN_ARM_LENGTH  0.56  // shoulder joint to wrist
#define TR_HUMAN_LEG_LENGTH  0.835 // hip joint to ankle
#define TR_HUMAN_PALM_DEPTH  0.024 // from the bones of the hand to the skin of the palm
#define TR_HUMAN_PALM_CENTRE 0.5   // share of the way from the wrist to the finger tips

// ---------------------------------------------------------------------------------------------- targets

// A hand is at rest with the body, holds something in the world, or is on its way between the two. `rest` and
// `hold` are the middle of the palm's skin and the hand's rotation, see tr_human_hand_rotation.
typedef struct tr_human_hand {
    rigid rest;  // in the chest's frame, see tr_human_hang
    rigid hold;  // in the world
    double grip; // 0 = rest … 1 = hold
    double firm; // 0 = the hand goes as near as the arm lets it … 1 = the body leans to bring it there
    vec3 elbow;  // direction the elbow points to, in the chest's frame; zero = out, down and back
} tr_human_hand;

typedef struct tr_human_foot {
    vec3
        position; // place of the sole below the ankle when the foot is flat; y is the height of a lifted foot
    double heading; // about +Y
    double roll;    // > 0: heel up about the ball with the toes on the ground; < 0: toes up about the heel
    double knee;    // turns the knee outwards from the direction of the toes
    vec3 knee_to;   // direction the knee points to instead, in the world; zero = with the toes
} tr_human_foot;

typedef struct tr_human_targets {
    vec3 pelvis; // place of joint Hips
    quat pelvis_rotation;
    vec3 spine;         // rotation vector of the chest against the pelvis, spread over the spine
    vec3 look;          // place the eyes are on
    double look_weight; // 0 = head straight on the shoulders
    double breath;      // -1 … 1
    tr_human_hand hands[2];
    tr_human_foot feet[2];
} tr_human_targets;

// Rest of a hanging arm: swung forward and out by these angles, elbow bent by `bend`, palm towards the body.
rigid tr_human_hang( int side, double swing, double out, double bend );
// World rotation of a hand whose fingers point along `fingers` and whose palm faces along `palm`.
quat tr_human_hand_rotation( int side, vec3 fingers, vec3 palm );
// World place of the palm's skin for a posed hand: the inverse of what the solver does.
vec3 tr_human_palm( int side, vec3 hand, quat rotation );

// Local rotations of all joints and the root's place. Hands out of reach pull pelvis and spine along, feet
// out of reach pull the pelvis down; every step is a smooth function of the targets, so smooth targets give a
// motion without pops. Returns how far the worst hand or foot stays from its target, in metres.
double tr_human_solve( const tr_skeleton *human, const tr_human_targets *targets,
                       quat *local /* [TR_HUMAN_JOINTS] */, vec3 *root );

// The chest of a person who moves by these targets: where partners put their hands. Firm hands, whose reach
// bends the spine, count as they stand in the targets.
rigid tr_human_chest( const tr_skeleton *human, const tr_human_targets *targets );

#endif
