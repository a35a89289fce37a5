// Parts: a chain of the source drives a chain of the target with any number of joints.
//
// A part has weights of its own, by the direction and extension of the source's chain. Directions of blended
// chains are not blends of directions, so a residual turn then brings the target's chain onto the direction
// it shall have: the one that the weights blend from the pairs' own, which is exact at the pairs (aim 0), the
// source's (aim 1), or one between.
#include "exemplar/private.h"

#include <string.h>

static bool is_chain( const tr_skeleton *skeleton, const int ends[2] )
{
    return ends[0] >= 0 && ends[1] >= 0 && ends[0] < skeleton->joint_count &&
           ends[1] < skeleton->joint_count && ends[0] != ends[1] &&
           tr_joint_is_above( skeleton, ends[0], ends[1] );
}

static bool check_chain( const tr_skeleton *skeleton, const int ends[2], const char *part, const char *whose,
                         tr_error *error )
{
    if ( !is_chain( skeleton, ends ) )
        return tr_error_set( error,
                             "part \"%s\": its %s joints are no chain; the second has to be below the first",
                             part, whose );
    return tr_limb_way( skeleton, ends[0], ends[1] ) > TR_SHORT_BONE ||
           tr_error_set( error, "part \"%s\": its %s chain has no length", part, whose );
}

// Checks and takes the joints of the chain.
bool tr_part_start( tr_exemplar *e, int index, const tr_exemplar_job *job, tr_error *error )
{
    tr_chain_part *part = &e->parts[index];
    const tr_exemplar_part *def = &job->parts[index];
    if ( !check_chain( e->source, def->source, def->name, "source", error ) ||
         !check_chain( e->target, def->target, def->name, "target", error ) )
        return false;
    if ( !( def->aim >= 0 && def->aim <= 1 ) )
        return tr_error_set( error, "part \"%s\": its aim has to be between 0 and 1", def->name );
    part->def = *def;
    part->def.name = NULL;
    part->length = tr_limb_way( e->source, def->source[0], def->source[1] );
    part->joint_count = 1;
    for ( int j = def->target[1]; j != def->target[0]; j = e->target->joints[j].parent )
        part->joint_count++;
    if ( part->joint_count > TR_EXEMPLAR_CHAIN )
        return tr_error_set( error, "part \"%s\": its target chain has %d joints; at most %d are possible",
                             def->name, part->joint_count, TR_EXEMPLAR_CHAIN );
    for ( int i = part->joint_count - 1, j = def->target[1]; i >= 0; --i, j = e->target->joints[j].parent ) {
        if ( e->part_of[j] >= 0 )
            return tr_error_set( error, "parts \"%s\" and \"%s\" share the joint \"%s\" of the target",
                                 job->parts[e->part_of[j]].name, def->name, e->target->joints[j].name );
        part->joints[i] = j;
        e->part_of[j] = index;
    }
    return true;
}

bool tr_part_build( tr_exemplar *e, int index, const tr_exemplar_job *job, tr_error *error )
{
    tr_chain_part *part = &e->parts[index];
    part->values = tr_alloc( 4 * (size_t)e->pair_count, sizeof( double ) );
    part->directions = tr_alloc( (size_t)e->pair_count, sizeof( vec3 ) );
    if ( part->values == NULL || part->directions == NULL )
        return tr_error_memory( error );
    mat3 moment = { v3_zero, v3_zero, v3_zero };
    for ( int i = 0; i < e->pair_count; ++i ) {
        double *values = part->values + 4 * (size_t)i;
        tr_part_values( part, job->pairs[i].source, tr_features_facing( &e->features, job->pairs[i].source ),
                        values );
        part->directions[i] =
            tr_part_direction( e, part, e->targets + (size_t)i * (size_t)e->target->joint_count );
        moment = m3_add_outer( moment, part->directions[i], v3( values[0], values[1], values[2] ) );
    }
    part->align = q_fit( moment );
    return true;
}

void tr_part_free( tr_chain_part *part )
{
    tr_free( part->values );
    tr_free( part->directions );
    tr_kriging_free( &part->kriging );
    *part = ( tr_chain_part ){ 0 };
}

void tr_part_values( const tr_chain_part *part, tr_pose source, quat facing, double *out )
{
    vec3 way = v3_sub( source.positions[part->def.source[1]], source.positions[part->def.source[0]] );
    vec3 direction = q_unrotate( facing, v3_unit( way ) );
    out[0] = direction.x;
    out[1] = direction.y;
    out[2] = direction.z;
    out[3] = v3_length( way ) / part->length;
}

// ------------------------------------------------------------------------------------------------ turning

// Rotation of the first joint's parent, seen from where the body faces.
static quat above_chain( const tr_exemplar *e, const tr_chain_part *part, const quat *local )
{
    quat above = q_identity;
    for ( int j = e->target->joints[part->joints[0]].parent; j >= 0; j = e->target->joints[j].parent )
        above = q_mul( local[j], above );
    return above;
}

// From the first to the last joint of the chain; `parents` [joint_count]: rotations of the joints' parents,
// may be NULL.
static vec3 chain_way( const tr_exemplar *e, const tr_chain_part *part, const quat *local, quat above,
                       quat *parents )
{
    vec3 way = v3_zero;
    quat rotation = above;
    for ( int i = 0; i < part->joint_count; ++i ) {
        int j = part->joints[i];
        if ( i > 0 )
            way = v3_add( way, q_rotate( rotation, e->target->joints[j].offset ) );
        if ( parents != NULL )
            parents[i] = rotation;
        rotation = q_mul( rotation, local[j] );
    }
    return way;
}

vec3 tr_part_direction( const tr_exemplar *e, const tr_chain_part *part, const quat *local )
{
    return v3_unit( chain_way( e, part, local, above_chain( e, part, local ), NULL ) );
}

static vec3 source_direction( const tr_chain_part *part, const double *values )
{
    return q_rotate( part->align, v3( values[0], values[1], values[2] ) );
}

// Zero where there is none.
static vec3 wanted_direction( const tr_exemplar *e, const tr_chain_part *part, const double *values,
                              const double *weights )
{
    vec3 sum = v3_zero;
    for ( int i = 0; i < e->pair_count; ++i )
        sum = v3_mad( sum, weights[i], part->directions[i] );
    vec3 examples = v3_unit( sum ), source = source_direction( part, values );
    if ( part->def.aim <= 0 || v3_length( source ) == 0 )
        return examples;
    if ( part->def.aim >= 1 || v3_length( examples ) == 0 )
        return source;
    vec3 turn = q_to_vector( q_between( examples, source ) );
    return q_rotate( q_from_vector( v3_scale( part->def.aim, turn ) ), examples );
}

void tr_part_turn( const tr_exemplar *e, int index, const double *values, const double *weights, quat *local )
{
    const tr_chain_part *part = &e->parts[index];
    vec3 wanted = wanted_direction( e, part, values, weights );
    quat above = above_chain( e, part, local ), parents[TR_EXEMPLAR_CHAIN];
    int most = part->joint_count - 1; // the last joint turns nothing of the chain
    for ( int pass = 0; pass <= e->def.turn_passes; ++pass ) {
        vec3 way = chain_way( e, part, local, above, parents );
        if ( v3_length( way ) <= TR_SHORT_BONE || v3_length( wanted ) == 0 )
            return;
        int sharers = pass < e->def.turn_passes ? e->def.turn_joints : 1;
        sharers = sharers < most ? sharers : most;
        vec3 turn = v3_scale( 1.0 / sharers, q_to_vector( q_between( v3_unit( way ), wanted ) ) );
        for ( int i = 0; i < sharers; ++i ) {
            int j = part->joints[i];
            local[j] = q_unit( q_mul( q_from_vector( q_unrotate( parents[i], turn ) ), local[j] ) );
        }
    }
}

double tr_exemplar_part_error( const tr_exemplar *exemplar, int part, tr_pose source, const quat *local )
{
    const tr_chain_part *p = &exemplar->parts[part];
    double values[4];
    tr_part_values( p, source, tr_features_facing( &exemplar->features, source ), values );
    vec3 wanted = source_direction( p, values ), own = tr_part_direction( exemplar, p, local );
    return v3_length( wanted ) > 0 && v3_length( own ) > 0
               ? atan2( v3_length( v3_cross( own, wanted ) ), v3_dot( own, wanted ) )
               : 0;
}
