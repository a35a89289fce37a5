// Words for the figures of quality that the editor shows.
#include "ui/shared/state.h"

#include <string.h>

static const tr_figure_words words[] = {
    { "bone_length_error_pct", "value", "Bone lengths", "%", "the bone whose length is farthest off" },
    { "contact_error_mm", "max", "Contacts missed", "mm",
      "hand or foot that is farthest from where it rests" },
    { "foot_skate_mm_s", "mean", "Sliding feet", "mm/s", "mean speed of feet that ought to rest" },
    { "sole_tilt_deg", "max", "Tilted soles", "°", "the sole on the ground that is tilted most" },
    { "ground_penetration_mm", "max", "Under the ground", "mm", "the foot that is deepest" },
    { "relative_error_mm", "max", "Links missed", "mm", "the link that is farthest off" },
    { "inter_penetration", "frames_pct", "In each other", "%", "frames in which bodies overlap" },
    { "self_penetration", "frames_pct", "In oneself", "%", "frames in which a body overlaps with itself" },
    { "prop_penetration", "frames_pct", "In props", "%", "frames in which bodies overlap with props" },
    { "environment_penetration_mm", "max", "In the environment", "mm", "the part of a body that is deepest" },
    { "contact_f1", "f1", "Contacts alike", "",
      "share of the contacts that are the source's as well; 1 is all" },
    { "closeness", "mean_mm", "Closeness", "mm",
      "how much nearer or farther hands, feet and heads are to others" },
    { "laplacian_energy", "value", "Shape of the group", "",
      "how far neighbours are from where they were; 0 is alike" },
    { "writhe_deviation", "max", "Winding", "turns", "how much more or less limbs wind around each other" },
    { "pass_through", "count", "Pass-throughs", "",
      "bones of different bodies that went through each other" },
    { "jerk_ratio", "value", "Jerk", "×", "how jerky the motion is, in terms of the source" },
    { "acceleration_spike", "value", "Acceleration", "×", "the hardest jolt, in terms of the source" },
    { "prop_acceleration", "ratio", "Props thrown", "×",
      "the hardest jolt of a prop, in terms of its source" },
    { "rotation_spike_deg", "value", "Sudden turns", "°",
      "the largest turn of a joint from one frame to the next" },
    { "bend_deviation_deg", "max", "Backs", "°",
      "how far trunks, necks and heads are bent from the source's" },
    { "range_overshoot_deg", "max", "Joint ranges", "°",
      "how far joints are turned beyond what people or the source can" },
    { "balance", "p95_mm", "Balance", "mm", "how much farther out bodies lean than the source" },
    { "hip_height", "below_pct", "Crouching", "%", "frames in which hips are lower than the source's" },
    { "pose_error_deg", "value", "Poses", "°", "how far joints are turned from the source's" },
    { "identity_error_m", "value", "Equal bodies", "m",
      "how far equal bodies are from the source; 0 is alike" },
    { "example_error_deg", "max", "Examples", "°",
      "how far joints are turned from the examples in their own frames" },
    { "part_direction_deg", "max", "Parts", "°", "how far parts point from the chains that drive them" },
    { "unlike_pct", "value", "Unlike examples", "%", "frames in which the source is unlike any example" },
    { "edit_handle_mm", "value", "Handles missed", "mm",
      "the handle that is farthest from where it was pulled" },
    { "edit_leak_mm", "value", "Edits beyond reach", "mm",
      "how far edits moved anything outside their frames" },
};

const tr_figure_words *tr_figure_name( const char *key )
{
    for ( size_t i = 0; i < sizeof words / sizeof words[0]; ++i )
        if ( strcmp( key, words[i].key ) == 0 )
            return &words[i];
    return NULL;
}
