// Pieces of building a stage: what is shared between its parts and the motions it takes from files.
#ifndef TROUPE_STAGE_BUILDER_H
#define TROUPE_STAGE_BUILDER_H

#include "stage/private.h"

typedef struct tr_stage_builder {
    tr_stage *stage;
    const char *file; // the scene's own path or NULL
    tr_library *library;
    tr_log *warnings;
    tr_error *error;
    const double *when;         // [frame_count] moments of the motion at hand, NULL: frame by frame
    const tr_cast_clip **clips; // [clip_count] the scene's, by cast member; see tr_stage_sort_clips
    int motion_end;             // scene frame at which the last motion ends; INT_MIN: none moves
    char field[96];             // field of the current element, for error messages; "" = the whole element
} tr_stage_builder;

// The whole motion of a file, from the library or from disk (and then kept in the library).
const tr_motion *tr_stage_fetch( tr_stage_builder *b, const tr_file_ref *ref, const char *field );
// The same, cut, aligned with the frames of the stage and placed in the world.
bool tr_stage_take( tr_stage_builder *b, tr_motion *out, const tr_motion *whole, const tr_file_ref *ref,
                    int start, rigid placement );
// Sorts the scene's clips by cast member, into `clips` of the builder, which the caller frees.
bool tr_stage_sort_clips( tr_stage_builder *b );
// The clips of a cast member, in the order of the document. [*count]
const tr_cast_clip **tr_stage_clips( const tr_stage_builder *b, const tr_cast *cast, int *count );
// The source of a cast member, with the clips that follow it joined to it.
bool tr_stage_take_source( tr_stage_builder *b, tr_actor *actor, const tr_cast *cast );
// Warns of sources that jump, and of a range that is longer than all motions.
void tr_stage_warn_of_sources( const tr_stage_builder *b );
// Removes joint translations of a file: the path of the whole body goes to the root, and bones get their mean
// length. least: metres that a root's only child travels if it carries the path.
void tr_carry_path_to_root( tr_motion *motion, double least );
bool tr_average_offsets( tr_motion *motion, const tr_skeleton *bones, tr_error *error );

// examples.c. Lets an actor that is otherwise ready move by its examples, where it has two or more.
bool tr_stage_exemplify( tr_stage_builder *b, tr_actor *actor, const tr_cast *cast );
void tr_actor_examples_free( tr_actor_examples *examples ); // NULL is fine

// Puts the scene and the path of the field at hand before an error, which may name another file and a place
// in it. One that has a path already stays. Always false.
bool tr_stage_blame( tr_stage_builder *b, const char *list, int index );
// memory.c. False, with an error, where the scene would take more memory than may be used.
bool tr_stage_check_memory( tr_stage_builder *b );
rigid tr_stage_place( vec3 position, double heading );
// Ground and environment and, unless a clip is not yet lined up with them, props. To be freed; NULL: out of
// memory.
tr_surface *tr_stage_surfaces( const tr_stage *stage, bool props, int *count );

// Layers of kind retime: results over whole clips are found on the time before retiming, see replay.c. The
// new stage takes labels, groups, places of contacts and stances from the old one.
bool tr_stage_replay_contacts( tr_stage *stage, const tr_stage *before, tr_error *error );
bool tr_stage_replay_groups( tr_stage *stage, const tr_stage *before, tr_error *error );
void tr_stage_replay( tr_stage *stage, const tr_stage *before );

#endif
