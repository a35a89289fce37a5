// Private to stage: what its files share.
#ifndef TROUPE_STAGE_PRIVATE_H
#define TROUPE_STAGE_PRIVATE_H

#include "stage/stage.h"

// Whether the body has every limb or group of limbs that the target scales. Otherwise `field` names one that
// is missing: "target.limbs.wing".
bool tr_target_check_limbs( const tr_target *target, const tr_skeleton *body, char *field, size_t size,
                            tr_error *error );

// Where the joints of an actor are when it copies the source's rotations; needs its group.
bool tr_copied_world( tr_world *out, const tr_stage *stage, int actor, tr_error *error );
// The steps of tr_stage_build after loading. Binding turns the document's constraints into rules; grouping
// needs those links; the automatic rules need the groups' scales.
bool tr_stage_bind( tr_stage *stage, const char *file, tr_log *warnings, tr_error *error );
bool tr_stage_group( tr_stage *stage, tr_error *error );
bool tr_stage_automate( tr_stage *stage, tr_error *error ); // ends with tr_stage_stand
// A contact of weight 0 removes the labels of the hand or foot in its frames.
bool tr_rule_is_lift( const tr_rule *rule );
bool tr_stage_lift( tr_stage *stage, const tr_rule *rule, tr_error *error );
// Fills `path` of rules that give a path its direction; see paths.c.
bool tr_stage_find_paths( tr_stage *stage, tr_error *error );
// Fills the actors' footings and the rules' index of theirs; see footing.c.
bool tr_stage_stand( tr_stage *stage, tr_error *error );
bool tr_stage_place_footings( tr_stage *stage, tr_error *error ); // fills `place`, once all else is known
void tr_footings_free( tr_actor *actor );

// The element of the document that is being bound, for messages.
typedef struct tr_binder {
    tr_stage *stage;
    const char *file;
    const char *list; // "constraints"
    int index;
    tr_log *warnings;
    tr_error *error;
} tr_binder;

// Finds the bodies and joints a point names. An error has the path of the element's field.
bool tr_point_bind( const tr_binder *binder, const char *field, const tr_point *point, tr_anchor *anchor );
// Binds the layers of kind cage that are active, and every handle: fills the stage's grabs and handles.
bool tr_stage_grab( tr_stage *stage, const char *file, tr_log *warnings, tr_error *error );
void tr_stage_release( tr_stage *stage ); // frees them

// surfaces.c. Height of the source's environment below p, which touches it; if nothing is below p, its top.
double tr_stage_source_top( const tr_stage *stage, int obstacle, vec3 p );
// The same of the target's below `to`, where a place on a surface of the source as high as `floor` has gone.
double tr_stage_target_top( const tr_stage *stage, int obstacle, double floor, vec3 to );
// The source's obstacle that something of that size touches from above, -1: none.
int tr_stage_obstacle_below( const tr_stage *stage, vec3 p, double size );
// Height of the surface under a foot in the source. `floor` is the labelled height, `lowest` the mean place
// of its lowest joint: a foot inside a box stands on something lower.
double tr_foot_source_floor( const tr_stage *stage, const tr_rule *on, double floor, vec3 lowest );
// Height above that floor at which a foot of the target stands with its middle there, on a surface it can
// step onto.
double tr_foot_climb( const tr_stage *stage, const tr_actor *actor, const tr_rule *on, double floor,
                      vec3 middle );
// The shift of a part other than a foot that brings it from inside an obstacle to its surface; zero if it is
// outside.
vec3 tr_hand_onto( const tr_stage *stage, const tr_actor *actor, const tr_rule *rule, vec3 place );

// The target's place for a place that the source touched, and the height of the surface there. An obstacle of
// another size moves the places on it.
void tr_rule_set_obstacle( const tr_stage *stage, tr_rule *rule, int obstacle );
vec3 tr_rule_landing( const tr_stage *stage, const tr_rule *rule, vec3 source );

#endif
