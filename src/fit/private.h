// Private to fit: what the parts of the skeleton fit share. See fit.h for the energy.
//
// Frames that ask for the same things are solved four or eight at a time, one in each lane (math/lanes3.h).
// No lane ever sees another.
//
//   fit.c          outside: definition, memory, checks
//   limb.c         how the joints of a body turn
//   kernel.h       a block of frames from its input to its results, compiled once per kind of lanes
//   slot.h         what it works on
//   kernel_block.h which frames make a block; who moves and which rows there are
//   kernel_aim.h, kernel_pose.h, kernel_step.h  where it begins, a pose, a step
//   kernel_turns.h the step of frames with many goals
#ifndef TROUPE_FIT_PRIVATE_H
#define TROUPE_FIT_PRIVATE_H

#include "fit/fit.h"

// -------------------------------------------------------------------------------------------- limb.c

#define TR_FIT_NO_CHILD ( -1 )
#define TR_FIT_SEVERAL  ( -2 )

// How a joint may turn. Bones are unit vectors, zero when the joint has no bone there that tells a direction.
typedef struct tr_fit_limb {
    double stiffness; // per rad²; INFINITY for end sites
    vec3 bone_in;     // from the parent, in the parent's frame; of knees and elbows only
    vec3 bone_out;    // to the next joint of the limb, in the joint's own frame
    vec3 bend;        // normal of the plane the rest pose suggests to bend in, in the parent's frame, or zero
    double span;      // length of the two bones together
    int only_child;   // the joint's only child with a bone of its own, or one of the two above
    int first_child, next_child; // of the joint; of its parent after it; -1 when there is none
} tr_fit_limb;

void tr_fit_limbs_build( tr_fit *fit, tr_pose rest );

// ------------------------------------------------------------------------------------------ kernel_*.c

enum { TR_FIT_ALIGN = 64 }; // bytes, of slots: the widest lanes

// `slot` is memory for frames as large as the scratch is for; frames are solved one block after the other.
#define TR_FIT_KERNELS( kind )                                                                               \
    size_t tr_fit_slot_bytes_##kind( const tr_fit_scratch *scratch );                                        \
    void tr_fit_solve_frames_##kind( const tr_fit *fit, const tr_fit_scratch *scratch, void *slot,           \
                                     const tr_fit_frame *frames, tr_fit_result *results, int count );        \
    tr_fit_axes tr_fit_axes_##kind( const tr_fit *fit, int joint, quat centre );

TR_FIT_KERNELS( double ) // four frames, any processor
TR_FIT_KERNELS( avx2 )   // the same bits, sooner
TR_FIT_KERNELS( avx512 ) // eight frames, the same bits

#endif
