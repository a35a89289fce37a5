// animator: pairs of poses for bodies that move by examples. The source is the built-in human; the poses of
// the target are made by code, as an animator would pose them.
#ifndef TROUPE_KIT_ANIMATOR_H
#define TROUPE_KIT_ANIMATOR_H

#include "scenes/kit/rig.h"
#include "troupe.h"

// What an animator sees of a person, in the frame that faces where the hips do: +Z ahead, +X to the left.
typedef struct tr_person_view {
    vec3 feet[2]; // shifts of the ankles from below the hips, where they are when the person stands, metres
    vec3 arms[2]; // unit vectors from shoulder to hand, left and right
    vec3 forearms[2]; // unit vectors from elbow to hand
    double elbows[2]; // radians by which they are bent
    vec3 back;        // unit vector from hips to neck
    vec3 look;        // unit vector ahead of the face
    double sink;      // metres by which the hips are lower than in standing, over the lower foot
    double twist;     // radians by which shoulders are turned to the left against the hips
    int frame;        // of the source's file
} tr_person_view;

tr_person_view tr_person_see( const tr_skeleton *human, tr_pose pose );

// Poses the rig, which is in its rest pose.
typedef void tr_animator_pose( const void *body, tr_rig *rig, const tr_person_view *view );

// Makes `count` pairs at the frames that tell most about the source of a cast member and of its parts, which
// are in the scene by now, and adds them as <cast>_01 … The rig has all of its joints and no frames; its
// motion goes into the library as the skeleton file of the cast member: the rest pose, then the pairs' poses.
bool tr_animator_add( tr_scene *scene, tr_library *library, int cast, tr_rig *rig, const void *body,
                      tr_animator_pose *pose, int count, tr_error *error );
// A chain of the human's arm drives a chain of the target, named by their first and last joints.
bool tr_animator_part( tr_scene *scene, const char *id, const char *cast, const char *const source[2],
                       const char *const target[2], double aim, tr_error *error );

#endif
