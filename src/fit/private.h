// Private to fit: shared by the parts of the skeleton fit. See fit.h for the energy.
//
// Frames with the same kinds of goals on the same joints are solved together, four or eight at a time, one in
// each lane (math/lanes3.h). No lane depends on another.
//
//   fit.c           defs, memory, checks, the parallel loop over frames
//   limb.c          stiffness and hinges of the joints of a skeleton
//   slot.h          working memory of the kernel
//   kernel.h        solves a block of frames, from input to results; compiled once per kind of lanes
//   kernel_block.h  gathers frames into blocks, and the joints and rows of a block
//   kernel_aim.h    the centre: bones aimed along given positions; axes of the joints
//   kernel_pose.h   poses a trial and computes its energy
//   kernel_step.h   a Newton step
//   kernel_turns.h  a Newton step for frames with many goals
//   window.c        the fit over a window
#ifndef TROUPE_FIT_PRIVATE_H
#define TROUPE_FIT_PRIVATE_H

#include "fit/fit.h"

// -------------------------------------------------------------------------------------------- limb.c

#define TR_FIT_NO_CHILD ( -1 )
#define TR_FIT_SEVERAL  ( -2 )

// How a joint turns. Bones are unit vectors; zero if there is no bone or it has no length.
typedef struct tr_fit_limb {
    double stiffness; // per rad²; INFINITY: locked
    vec3 bone_in;     // knees and elbows: from the parent, in the parent's frame
    vec3 bone_out;    // long bones: to the next joint of the limb, in the joint's own frame
    vec3 bend;        // normal of the plane that the rest pose bends in, in the parent's frame, or zero
    double span;      // metres: length of both bones together
    int only_child;   // the only child with a bone of some length, or TR_FIT_NO_CHILD, TR_FIT_SEVERAL
    int first_child;  // first child of this joint, or -1
    int next_child;   // the next child of this joint's parent, or -1
} tr_fit_limb;

void tr_fit_limbs_build( tr_fit *fit, tr_pose rest );

// ------------------------------------------------------------------------------------------ kernel_*.c

// Turns of a frame of a window against x̂ (window.h). Rows hold all x, then all y, then all z, each of the
// root and every joint: [3 * ( joint_count + 1 )].
typedef struct tr_fit_turns {
    int joint_count;
    const quat *start, *local; // [joint_count] x̂, and the last pose
    // set_centre: in
    const float *z, *u;
    double share, older; // the centre turns by share ( z − older u )
    // set_centre: out
    quat *centre;   // [joint_count]
    float *against; // [3 * joint_count] turns from the centre to the last pose, joint by joint; NULL: not
    // read_turns
    const float *near; // in: row of turns that those of x are to be near; NULL: any
    float *x;          // out
} tr_fit_turns;

void tr_fit_set_centre( bool portable, const tr_fit_turns *turns );
void tr_fit_read_turns( bool portable, const tr_fit_turns *turns );

enum { TR_FIT_ALIGN = 64 }; // bytes: alignment of slots, for the widest lanes

// `slot` is memory of slot_bytes. Blocks of frames are solved one after the other.
#define TR_FIT_KERNELS( kind )                                                                               \
    size_t tr_fit_slot_bytes_##kind( const tr_fit_scratch *scratch );                                        \
    void tr_fit_solve_frames_##kind( const tr_fit *fit, const tr_fit_scratch *scratch, void *slot,           \
                                     const tr_fit_frame *frames, tr_fit_result *results, int count );        \
    void tr_fit_set_centre_##kind( const tr_fit_turns *turns );                                              \
    void tr_fit_read_turns_##kind( const tr_fit_turns *turns );                                              \
    tr_fit_axes tr_fit_axes_##kind( const tr_fit *fit, int joint, quat centre );

TR_FIT_KERNELS( double ) // four frames at a time, any processor
TR_FIT_KERNELS( avx2 )   // four frames, faster, the same bits
TR_FIT_KERNELS( avx512 ) // eight frames, the same bits

#endif
