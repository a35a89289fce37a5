// Every change of a document has one row:
//
//   OP( name, list it works on, what it does there (apply_… in ops.c), help, parameters … )
//
// A parameter is NEED or MAY ( key, type, field it sets or NULL, help ). Parsing, applying, undoing, logging,
// replaying and the listing of `troupe ops` all come from the row. A new row needs a sample in tests/test_ops.c.

#define FILE_PARAMS( object )                                                                                \
    MAY( skeleton, TEXT, object ".skeleton", "skeleton of a glTF or FBX file, name or number" ),             \
        MAY( take, TEXT, object ".take", "take of such a file, name or number" ),                            \
        MAY( unit, NUMBER, object ".unit", "metres per unit of the file, 0 = guess" ),                       \
        MAY( up, TEXT, object ".up", "y or z" ),                                                             \
        MAY( rate, NUMBER, object ".rate", "frames a second of a file that does not say" ),                  \
        MAY( first, INT, object ".first", "first frame to take" ),                                           \
        MAY( last, INT, object ".last", "last frame to take, -1 = to the end" )
#define PLACEMENT_PARAMS                                                                                     \
    MAY( position, VEC3, "placement.position", "where the file's origin goes, metres" ),                     \
        MAY( heading, NUMBER, "placement.heading", "turn about the vertical, degrees" ),                     \
        MAY( start, INT, "placement.start", "scene frame at which the file begins" )
#define SHAPE_PARAMS                                                                                         \
    MAY( shape, TEXT, "shape", "box, sphere, polyline or mesh" ),                                            \
        MAY( size, VEC3, "size", "edge lengths, metres (box; sphere: three times its diameter)" ),           \
        MAY( points, TEXT, "points", "x,y,z;x,y,z;… (polyline)" ),                                           \
        MAY( thickness, NUMBER, "thickness", "metres (polyline, mesh that is not closed)" ),                 \
        MAY( mesh, TEXT, "mesh.file", "OBJ, glTF or FBX file, seen from the scene's folder" ),              \
        MAY( mesh_unit, NUMBER, "mesh.unit", "metres per unit of that file (mesh)" ),                        \
        MAY( mesh_up, TEXT, "mesh.up", "y or z (mesh)" )
#define PROP_PARAMS                                                                                          \
    SHAPE_PARAMS, MAY( scale, NUMBER, "scale", "factor of the target's" ),                                   \
        MAY( file, TEXT, "track.file", "motion file of its middle" ), PLACEMENT_PARAMS,                      \
        MAY( colour, TEXT, "colour", "#rrggbb" )
#define OBSTACLE_PARAMS                                                                                      \
    SHAPE_PARAMS, MAY( position, VEC3, "position", "of the centre, or of the points' origin, metres" ),      \
        MAY( heading, NUMBER, "heading", "turn about the vertical, degrees" ),                               \
        MAY( scale, NUMBER, "scale", "factor of the target's" ),                                             \
        MAY( move, VEC3, "move", "from the source's position to the target's, metres" ),                     \
        MAY( colour, TEXT, "colour", "#rrggbb" )
#define CONSTRAINT_PARAMS                                                                                    \
    MAY( b, TEXT, "b", "second point (length, relative)" ),                                                  \
        MAY( surface, ID, "surface", "ground, a prop or an obstacle (contact)" ),                            \
        MAY( range, PAIR, "range", "first and last frame of full strength; default always" ),                \
        MAY( ease, PAIR, "ease", "frames before and after the range over which it fades" ),                  \
        MAY( hard, BOOL, "hard", "true: must be met; false: as well as its weight allows" ),                 \
        MAY( weight, NUMBER, "weight", "when it is not hard" ),                                              \
        MAY( priority, INT, "priority", "of hard ones: 1 gives way first, 4 last; 0 by its kind" ),          \
        MAY( axes, TEXT, "axes", "letters of x, y, z it acts on" ),                                          \
        MAY( target, VEC3, "target", "place, offset or direction; default the source's" ),                   \
        MAY( keys, TEXT, "keys", "frame,x,y,z;frame,x,y,z;… a trajectory (absolute)" ),                      \
        MAY( direction, BOOL, "direction", "target is the direction of a path (absolute)" ),                 \
        MAY( partners, BOOL, "partners", "close members follow (absolute)" ),                            \
        MAY( rotation, QUAT, "rotation", "world rotation x,y,z,w; default the source's (orientation)" ),     \
        MAY( flat, BOOL, "flat", "only the tilt against the ground counts (orientation)" ),                  \
        MAY( length, NUMBER, "length", "metres; default the body's own (length)" ),                          \
        MAY( partner_space, BOOL, "partner_space", "the offset turns with b (relative)" )

OP( scene_set, SCENE, set, "Sets rate, range and floor of the scene, and whether closeness is kept.",
    MAY( fps, NUMBER, "fps", "frames per second" ), MAY( range, PAIR, "range", "first and last frame" ),
    MAY( ground, NUMBER, "environment.ground", "height of the floor, metres" ),
    MAY( imesh, BOOL, "imesh", "the default method keeps close pairs close" ) )

OP( cast_add, CAST, add, "Adds a cast member with a motion file.", NEED( id, ID, "id", "new id" ),
    NEED( file, TEXT, "source.file", "motion file, seen from the scene's folder" ), FILE_PARAMS( "source" ),
    MAY( scale, NUMBER, "target.scale", "size of the target body" ), PLACEMENT_PARAMS,
    MAY( colour, TEXT, "colour", "#rrggbb; default one that is not in use" ) )
OP( cast_remove, CAST, remove, "Removes a cast member and everything that holds on to it.",
    NEED( id, ID, NULL, "cast member" ) )
OP( cast_rename, CAST, rename, "Gives a cast member another id, wherever it is named.",
    NEED( id, ID, NULL, "cast member" ), NEED( to, ID, "id", "new id" ) )
OP( cast_copy, CAST, copy, "Adds a second cast member like the first, with its clips, without its constraints.",
    NEED( id, ID, NULL, "cast member" ), NEED( to, ID, "id", "id of the copy" ), PLACEMENT_PARAMS,
    MAY( colour, TEXT, "colour", "#rrggbb" ) )
OP( cast_source, CAST, set, "Sets the motion file of a cast member.", NEED( id, ID, NULL, "cast member" ),
    MAY( file, TEXT, "source.file", "motion file, seen from the scene's folder" ), FILE_PARAMS( "source" ) )
OP( cast_scale, CAST, set, "Sets the size of a cast member's target body.",
    NEED( id, ID, NULL, "cast member" ), MAY( scale, NUMBER, "target.scale", "whole body" ),
    MAY( path_scale, NUMBER, "target.path_scale", "of the way it goes, 0 = automatic" ) )
OP( cast_limb, CAST, limb, "Sets the length factor of a limb; an empty value takes it out.",
    NEED( id, ID, NULL, "cast member" ),
    NEED( limb, ID, "target.limbs", "left_arm, tail, … or arms, legs, left, right, all" ),
    NEED( value, NUMBER, NULL, "factor on top of the scale" ) )
OP( cast_girth, CAST, limb, "Sets the thickness factor of a limb; an empty value takes it out.",
    NEED( id, ID, NULL, "cast member" ),
    NEED( limb, ID, "target.girth", "left_arm, tail, … or arms, legs, left, right, all" ),
    NEED( value, NUMBER, NULL, "factor" ) )
OP( cast_skeleton, CAST, set, "Takes the target's skeleton from a file.", NEED( id, ID, NULL, "cast member" ),
    MAY( file, TEXT, "target.skeleton.file", "motion file; empty = the source's skeleton" ),
    FILE_PARAMS( "target.skeleton" ),
    MAY( examples, BOOL, "target.examples", "false: examples move only the joints of parts" ),
    MAY( animation, BOOL, "target.animation", "joints that nothing drives move as in the file" ) )
OP( cast_look, CAST, set, "Takes the meshes that GLB files show from a file.", NEED( id, ID, NULL, "cast member" ),
    MAY( file, TEXT, "target.look.file", "glTF or FBX file with this skeleton; empty = the file of the skeleton" ),
    MAY( skeleton, TEXT, "target.look.skeleton", "skeleton of it, name or number" ),
    MAY( unit, NUMBER, "target.look.unit", "metres per unit, 0 = as the file says" ),
    MAY( up, TEXT, "target.look.up", "y or z" ) )
OP( cast_mapping, CAST, set, "Sets which joints drive which.", NEED( id, ID, NULL, "cast member" ),
    MAY( file, TEXT, "mapping", "map file; empty = by name and part of the body" ),
    MAY( reference, INT, "target.reference",
         "frame of the source's file in which it stands as the target does at rest, -1 = found" ) )
OP( cast_place, CAST, set, "Places a cast member in space and time.", NEED( id, ID, NULL, "cast member" ),
    PLACEMENT_PARAMS )
OP( cast_colour, CAST, set, "Sets the colour of a cast member.", NEED( id, ID, NULL, "cast member" ),
    NEED( colour, TEXT, "colour", "#rrggbb" ) )
OP( cast_automatic, CAST, set, "Switches the automatic constraints of a cast member.",
    NEED( id, ID, NULL, "cast member" ),
    MAY( contacts, BOOL, "automatic.contacts", "feet and hands stay where they rest" ),
    MAY( soles, BOOL, "automatic.soles", "soles stay flat in stance" ),
    MAY( balance, BOOL, "automatic.balance", "the centre of mass stays over the support" ) )

OP( prop_add, PROP, add, "Adds a thing that moves or stands, a box where no shape is named.", NEED( id, ID, "id", "new id" ), PROP_PARAMS )
OP( prop_set, PROP, set, "Changes a prop.", NEED( id, ID, NULL, "prop" ), PROP_PARAMS )
OP( prop_track, PROP, set, "Sets the motion file of a prop and how to read it.",
    NEED( id, ID, NULL, "prop" ),
    MAY( file, TEXT, "track.file", "motion file with one joint; empty = stands still" ),
    FILE_PARAMS( "track" ) )
OP( prop_remove, PROP, remove, "Removes a prop and everything that holds on to it.", NEED( id, ID, NULL, "prop" ) )
OP( prop_rename, PROP, rename, "Gives a prop another id, wherever it is named.",
    NEED( id, ID, NULL, "prop" ), NEED( to, ID, "id", "new id" ) )
OP( prop_copy, PROP, copy, "Adds a second prop like the first, without its constraints.",
    NEED( id, ID, NULL, "prop" ), NEED( to, ID, "id", "id of the copy" ), PROP_PARAMS )

OP( obstacle_add, OBSTACLE, add, "Adds something static to the environment, a box where no shape is named.", NEED( id, ID, "id", "new id" ),
    OBSTACLE_PARAMS )
OP( obstacle_set, OBSTACLE, set, "Changes an obstacle.", NEED( id, ID, NULL, "obstacle" ), OBSTACLE_PARAMS )
OP( obstacle_scale, OBSTACLE, scale, "Makes the target's environment larger or smaller, all of it together.",
    NEED( scale, NUMBER, "scale", "factor" ),
    MAY( members, TEXT, NULL, "which: seat, door* with commas between; default all" ),
    MAY( about, VEC3, NULL, "what stays in place; default the middle of them on the floor" ) )
OP( obstacle_remove, OBSTACLE, remove, "Removes an obstacle and every contact with it.",
    NEED( id, ID, NULL, "obstacle" ) )
OP( obstacle_rename, OBSTACLE, rename, "Gives an obstacle another id, in its contacts too.",
    NEED( id, ID, NULL, "obstacle" ), NEED( to, ID, "id", "new id" ) )
OP( obstacle_copy, OBSTACLE, copy, "Adds a second obstacle like the first.",
    NEED( id, ID, NULL, "obstacle" ), NEED( to, ID, "id", "id of the copy" ), OBSTACLE_PARAMS )

OP( constraint_add, CONSTRAINT, add, "Adds a constraint.", NEED( id, ID, "id", "new id" ),
    NEED( kind, TEXT, "kind", "absolute, contact, orientation, length, centre_of_mass or relative" ),
    NEED( a, TEXT, "a", "point: p03.LeftHand, p03.A*0.5+B*0.5@0,0.1,0, box01@0,0.1,0" ), CONSTRAINT_PARAMS )
OP( constraint_set, CONSTRAINT, set, "Changes a constraint; a new kind keeps what both kinds have.",
    NEED( id, ID, NULL, "constraint" ), MAY( kind, TEXT, "kind", "new kind" ),
    MAY( a, TEXT, "a", "first point" ), CONSTRAINT_PARAMS )
OP( constraint_remove, CONSTRAINT, remove, "Removes a constraint.", NEED( id, ID, NULL, "constraint" ) )
OP( constraint_rename, CONSTRAINT, rename, "Gives a constraint another id.",
    NEED( id, ID, NULL, "constraint" ), NEED( to, ID, "id", "new id" ) )
OP( constraint_copy, CONSTRAINT, copy, "Adds a second constraint like the first.",
    NEED( id, ID, NULL, "constraint" ), NEED( to, ID, "id", "id of the copy" ),
    MAY( a, TEXT, "a", "first point" ), CONSTRAINT_PARAMS )

#define LAYER_PARAMS                                                                                         \
    MAY( range, PAIR, "range", "first and last frame of its window; default the whole scene" ),              \
        MAY( ease, PAIR, "ease", "frames before and after the window over which it fades" ),                 \
        MAY( padding, NUMBER, "padding", "metres between the grabbed points and the cage" ),                 \
        MAY( falloff, NUMBER, "falloff", "frames beyond which a drag does not reach; 0 = the window (cage)" ), \
        MAY( turn, BOOL, "turn", "bodies re-orient along an edited path (cage)" ),                           \
        MAY( firm, BOOL, "firm", "handles stay where they are put, even if a body jolts (cage)" ),         \
        MAY( ripple, BOOL, "ripple", "what comes after keeps the last delay (retime)" ),                     \
        MAY( muted, BOOL, "muted", "it does nothing" ),                                                      \
        MAY( solo, BOOL, "solo", "layers that are not solo do nothing" )
#define SECTION_PARAMS MAY( delay, NUMBER, "delay", "frames by which the moment comes later (retime)" )
#define HANDLE_PARAMS                                                                                        \
    MAY( point, TEXT, "point", "point of a member it holds: p03.LeftHand; default the whole section" ),      \
        MAY( vertex, INT, "vertex", "vertex of the cage it holds" ),                                         \
        MAY( move, VEC3, "move", "metres from where it would be without this layer" ),                       \
        MAY( turn, VEC3, "turn", "of a whole section: axis times degrees" ),                                 \
        MAY( pinned, BOOL, "pinned", "false lets go: so an end of the window comes free" )

OP( layer_add, LAYER, add, "Adds an edit on top of all others.", NEED( id, ID, "id", "new id" ),
    NEED( kind, TEXT, "kind", "cage or retime" ),
    NEED( members, TEXT, "members", "what it grabs: p03, p04.left_arm, box* with commas between" ),
    LAYER_PARAMS )
OP( layer_set, LAYER, set, "Changes, mutes or solos a layer; a new kind keeps what both kinds have.",
    NEED( id, ID, NULL, "layer" ), MAY( kind, TEXT, "kind", "new kind" ),
    MAY( members, TEXT, "members", "what it grabs" ), LAYER_PARAMS )
OP( layer_remove, LAYER, remove, "Removes a layer with its sections and handles.",
    NEED( id, ID, NULL, "layer" ) )
OP( layer_rename, LAYER, rename, "Gives a layer another id, in its sections and handles too.",
    NEED( id, ID, NULL, "layer" ), NEED( to, ID, "id", "new id" ) )
OP( layer_copy, LAYER, copy, "Adds a second layer like the first, with sections and handles, on top of all.",
    NEED( id, ID, NULL, "layer" ), NEED( to, ID, "id", "id of the copy" ),
    MAY( members, TEXT, "members", "what it grabs" ), LAYER_PARAMS )
OP( layer_move, LAYER, move, "Moves a layer to another place in the order.", NEED( id, ID, NULL, "layer" ),
    MAY( before, ID, NULL, "layer it goes before; empty = on top of all" ) )

OP( section_add, SECTION, add, "Adds a key section to a cage, or a key to a retiming.",
    NEED( id, ID, "id", "new id" ), NEED( layer, ID, "layer", "its layer" ),
    NEED( frame, INT, "frame", "where it stands" ), SECTION_PARAMS )
OP( section_set, SECTION, set, "Moves a section.", NEED( id, ID, NULL, "section" ),
    MAY( frame, INT, "frame", "where it stands" ), SECTION_PARAMS )
OP( section_remove, SECTION, remove, "Removes a section.", NEED( id, ID, NULL, "section" ) )
OP( section_rename, SECTION, rename, "Gives a section another id.", NEED( id, ID, NULL, "section" ),
    NEED( to, ID, "id", "new id" ) )

OP( handle_add, HANDLE, add, "Grabs a point, a vertex of the cage or a whole section, and drags or pins it.",
    NEED( id, ID, "id", "new id" ), NEED( layer, ID, "layer", "its layer, a cage" ),
    NEED( frame, INT, "frame", "where in time" ), HANDLE_PARAMS )
OP( handle_set, HANDLE, set, "Drags, turns, pins or lets go what is held.", NEED( id, ID, NULL, "handle" ),
    MAY( frame, INT, "frame", "where in time" ), HANDLE_PARAMS )
OP( handle_remove, HANDLE, remove, "Removes a handle.", NEED( id, ID, NULL, "handle" ) )
OP( handle_rename, HANDLE, rename, "Gives a handle another id.", NEED( id, ID, NULL, "handle" ),
    NEED( to, ID, "id", "new id" ) )
OP( handle_copy, HANDLE, copy, "Adds a second handle like the first.", NEED( id, ID, NULL, "handle" ),
    NEED( to, ID, "id", "id of the copy" ), MAY( layer, ID, "layer", "its layer" ),
    MAY( frame, INT, "frame", "where in time" ), HANDLE_PARAMS )

#define CLIP_PARAMS                                                                                          \
    FILE_PARAMS( "source" ),                                                                                 \
        MAY( blend, INT, "blend", "frames on either side of the seam that are changed; -1 = 0.3 seconds" )

OP( clip_add, CLIP, add, "Lets a cast member go on with another motion file after all it has.",
    NEED( id, ID, "id", "new id" ), NEED( cast, ID, "cast", "cast member" ),
    NEED( file, TEXT, "source.file", "motion file, seen from the scene's folder" ), CLIP_PARAMS )
OP( clip_set, CLIP, set, "Changes a clip.", NEED( id, ID, NULL, "clip" ),
    MAY( file, TEXT, "source.file", "motion file, seen from the scene's folder" ), CLIP_PARAMS )
OP( clip_remove, CLIP, remove, "Removes a clip; those after it move up.", NEED( id, ID, NULL, "clip" ) )
OP( clip_rename, CLIP, rename, "Gives a clip another id.", NEED( id, ID, NULL, "clip" ),
    NEED( to, ID, "id", "new id" ) )
OP( clip_copy, CLIP, copy, "Adds a second clip like the first, after all others.",
    NEED( id, ID, NULL, "clip" ), NEED( to, ID, "id", "id of the copy" ),
    MAY( cast, ID, "cast", "cast member" ), CLIP_PARAMS )
OP( clip_move, CLIP, move, "Moves a clip to another place in the order.", NEED( id, ID, NULL, "clip" ),
    MAY( before, ID, NULL, "clip it goes before; empty = after all others" ) )

#define PAIR_PARAMS                                                                                          \
    MAY( b, ID, "b", "the other one; empty = any" ),                                        \
        MAY( range, PAIR, "range", "first and last frame; default always" )

OP( pair_add, PAIR, add, "Says about two bodies whether they are close, or may go through each other.",
    NEED( id, ID, "id", "new id" ), NEED( kind, TEXT, "kind", "link, exclude, limit or pass" ),
    NEED( a, ID, "a", "cast member, prop or obstacle" ), PAIR_PARAMS )
OP( pair_set, PAIR, set, "Changes a pair.", NEED( id, ID, NULL, "pair" ),
    MAY( kind, TEXT, "kind", "link, exclude, limit or pass" ),
    MAY( a, ID, "a", "cast member, prop or obstacle" ), PAIR_PARAMS )
OP( pair_remove, PAIR, remove, "Removes a pair.", NEED( id, ID, NULL, "pair" ) )
OP( pair_rename, PAIR, rename, "Gives a pair another id.", NEED( id, ID, NULL, "pair" ),
    NEED( to, ID, "id", "new id" ) )
OP( pair_copy, PAIR, copy, "Adds a second pair like the first.", NEED( id, ID, NULL, "pair" ),
    NEED( to, ID, "id", "id of the copy" ), MAY( kind, TEXT, "kind", "link, exclude, limit or pass" ),
    MAY( a, ID, "a", "cast member, prop or obstacle" ), PAIR_PARAMS )

OP( drive_add, DRIVE, add, "Lets a source joint drive a joint of the target, whatever the joint map says.",
    NEED( id, ID, "id", "new id" ), NEED( cast, ID, "cast", "cast member" ),
    NEED( joint, TEXT, "joint", "joint of the target" ),
    MAY( source, TEXT, "source", "joint of the source; empty = nothing drives it" ) )
OP( drive_set, DRIVE, set, "Changes what drives a joint.", NEED( id, ID, NULL, "drive" ),
    MAY( joint, TEXT, "joint", "joint of the target" ),
    MAY( source, TEXT, "source", "joint of the source; empty = nothing drives it" ) )
OP( drive_remove, DRIVE, remove, "Removes a drive: the joint map counts again.", NEED( id, ID, NULL, "drive" ) )
OP( drive_rename, DRIVE, rename, "Gives a drive another id.", NEED( id, ID, NULL, "drive" ),
    NEED( to, ID, "id", "new id" ) )

#define EXAMPLE_PARAMS                                                                                       \
    MAY( pose, TEXT, "pose", "joints turned from that frame: Joint@x,y,z;… degrees, in the joint's axes" ),    \
        MAY( mirrored, BOOL, "mirrored", "both poses are seen in a mirror" ),                                \
        MAY( muted, BOOL, "muted", "it does not count" )
OP( example_add, EXAMPLE, add, "Pairs a pose of the source with a pose of the target.",
    NEED( id, ID, "id", "new id" ), NEED( cast, ID, "cast", "cast member" ),
    NEED( source, INT, "source", "frame of the source's file" ),
    NEED( target, INT, "target", "frame of the file of the target's skeleton" ), EXAMPLE_PARAMS )
OP( example_set, EXAMPLE, set, "Changes an example.", NEED( id, ID, NULL, "example" ),
    MAY( source, INT, "source", "frame of the source's file" ),
    MAY( target, INT, "target", "frame of the file of the target's skeleton" ), EXAMPLE_PARAMS )
OP( example_remove, EXAMPLE, remove, "Removes an example.", NEED( id, ID, NULL, "example" ) )
OP( example_rename, EXAMPLE, rename, "Gives an example another id.", NEED( id, ID, NULL, "example" ),
    NEED( to, ID, "id", "new id" ) )

#define PART_PARAMS                                                                                          \
    MAY( aim, NUMBER, "aim", "0 = exact at the examples … 1 = exactly the source's direction" )
OP( part_add, PART, add, "Lets a chain of the source drive a chain of the target that moves by examples.",
    NEED( id, ID, "id", "new id" ), NEED( cast, ID, "cast", "cast member" ),
    NEED( source_first, TEXT, "source.first", "first joint of the source's chain" ),
    NEED( source_last, TEXT, "source.last", "its last joint" ),
    NEED( target_first, TEXT, "target.first", "first joint of the target's chain" ),
    NEED( target_last, TEXT, "target.last", "its last joint" ), PART_PARAMS )
OP( part_set, PART, set, "Changes a part.", NEED( id, ID, NULL, "part" ),
    MAY( source_first, TEXT, "source.first", "first joint of the source's chain" ),
    MAY( source_last, TEXT, "source.last", "its last joint" ),
    MAY( target_first, TEXT, "target.first", "first joint of the target's chain" ),
    MAY( target_last, TEXT, "target.last", "its last joint" ), PART_PARAMS )
OP( part_remove, PART, remove, "Removes a part: its joints go with the rest of the body.",
    NEED( id, ID, NULL, "part" ) )
OP( part_rename, PART, rename, "Gives a part another id.", NEED( id, ID, NULL, "part" ),
    NEED( to, ID, "id", "new id" ) )

#undef OP
#undef EXAMPLE_PARAMS
#undef PART_PARAMS
#undef FILE_PARAMS
#undef PLACEMENT_PARAMS
#undef SHAPE_PARAMS
#undef PROP_PARAMS
#undef OBSTACLE_PARAMS
#undef CONSTRAINT_PARAMS
#undef LAYER_PARAMS
#undef SECTION_PARAMS
#undef HANDLE_PARAMS
#undef CLIP_PARAMS
#undef PAIR_PARAMS
