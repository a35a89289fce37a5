// Words for a rule that gave way: the member, and what it does not do.
#include "ui/shared/shared.h"

#include <stdio.h>

// "p03.LeftHand", "box01", "the ground". Tips of limbs have no names of their own in files.
static void name_end( char *out, size_t size, const tr_stage *stage, int member, int joint )
{
    const char *id = member >= 0 ? tr_stage_member_id( stage, member ) : "the ground";
    bool part = joint >= 0 && member >= 0 && member < stage->actor_count;
    const tr_joint *joints = part ? stage->actors[member].target.joints : NULL;
    if ( part && joints[joint].end_site && joints[joint].parent >= 0 )
        joint = joints[joint].parent;
    snprintf( out, size, "%s%s%s", id, part ? "." : "", part ? joints[joint].name : "" );
}

static void name_rule( char *out, size_t size, const tr_stage *stage, const tr_loss *loss, const char *other )
{
    const tr_rule *rule = &stage->rules[loss->index];
    switch ( rule->kind ) {
    case TR_CONSTRAINT_ABSOLUTE:
        snprintf( out, size, "%s",
                  rule->direction ? "does not go the way it should"
                  : rule->stands  ? "does not stand where one clip goes on with the next"
                                  : "is not where it is pinned" );
        break;
    case TR_CONSTRAINT_CONTACT: snprintf( out, size, "does not rest on %s", other ); break;
    case TR_CONSTRAINT_ORIENTATION:
        snprintf( out, size, "%s", rule->flat ? "is not flat on the ground" : "is turned another way" );
        break;
    case TR_CONSTRAINT_LENGTH:
        if ( loss->members[1] >= 0 )
            snprintf( out, size, "does not keep its distance from %s", other );
        else
            snprintf( out, size, "does not keep the length of its bone" );
        break;
    case TR_CONSTRAINT_CENTRE_OF_MASS: snprintf( out, size, "is out of balance" ); break;
    case TR_CONSTRAINT_RELATIVE: snprintf( out, size, "does not stay with %s", other ); break;
    case TR_CONSTRAINT_KINDS: break;
    }
}

static void name_handle( char *who, char *what, size_t size, const tr_stage *stage, const tr_loss *loss )
{
    const tr_handle *handle = &stage->scene->handles[loss->index];
    bool pin = v3_length( handle->move ) == 0 && v3_length( handle->turn ) == 0;
    if ( loss->members[0] < 0 )
        snprintf( who, size, "%s of %s", handle->vertex >= 0 ? "a corner" : "a section", handle->layer );
    snprintf( what, size, pin ? "is not where %s pins it" : "does not come as far as %s pulls it",
              handle->layer );
}

void tr_loss_name( const tr_stage *stage, const tr_loss *loss, tr_loss_words *out )
{
    char other[TR_ID_MAX + TR_JOINT_MAX + 2];
    const size_t size = sizeof out->who;
    name_end( out->who, size, stage, loss->members[0], loss->joints[0] );
    name_end( other, sizeof other, stage, loss->members[1], loss->joints[1] );
    snprintf( out->amount, sizeof out->amount, "%.1f cm", 100 * loss->metres );
    switch ( loss->kind ) {
    case TR_LOSS_RULE:
        name_rule( out->what, size, stage, loss, other );
        if ( tr_rule_turns( &stage->rules[loss->index] ) )
            snprintf( out->amount, sizeof out->amount, "%.1f°", tr_chord_degrees( stage, loss->metres ) );
        break;
    case TR_LOSS_HANDLE: name_handle( out->who, out->what, size, stage, loss ); break;
    case TR_LOSS_NO_ROOM: snprintf( out->what, size, "is in %s: there is no room", other ); break;
    case TR_LOSS_TOUCH: snprintf( out->what, size, "does not touch %s any more", other ); break;
    }
}
