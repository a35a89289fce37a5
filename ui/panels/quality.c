// Every figure of the result beside the source's, under common names.
#include "ui/app.h"

#include <stdio.h>
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

// Three digits, at most two of them behind the point; four for metres.
static void print_figure( char out[64], bool none, double value, const char *unit )
{
    double finest = strcmp( unit, "m" ) == 0 ? 1e-4 : 1e-2, even = finest * round( value / finest );
    if ( none )
        snprintf( out, 64, "–" );
    else
        snprintf( out, 64, "%.3g%s%s", even == 0 ? 0.0 : even,
                  unit[0] == 0 || strcmp( unit, "°" ) == 0 ? "" : " ", unit );
}

static const float columns[] = { 0.46f, 0.27f, 0.27f };

static void figure( tr_ui *ui, const tr_figure_words *name, const tr_metric_field *f )
{
    const tr_theme *t = &tr_theme_dark;
    char text[64];
    nk_layout_row( ui->nk, NK_DYNAMIC, 19, 3, columns );
    struct nk_rect area = nk_widget_bounds( ui->nk );
    area.w = nk_window_get_content_region_size( ui->nk ).x;
    if ( nk_input_is_mouse_hovering_rect( &ui->nk->input, area ) )
        tr_ui_hint( ui, "%s: %s. %s than in the source", name->name, name->help,
                    f->worse ? "Worse" : "No worse" );
    nk_label_colored( ui->nk, name->name, NK_TEXT_LEFT, t->dim );
    print_figure( text, f->out_null, f->out, name->unit );
    nk_label_colored( ui->nk, text, NK_TEXT_RIGHT, f->worse ? t->warn : t->good );
    print_figure( text, f->source_null, f->source, "" );
    nk_label_colored( ui->nk, text, NK_TEXT_RIGHT, t->faint );
}

void tr_panel_quality( tr_ui *ui, const tr_shown *shown )
{
    tr_ui_heading( ui, shown->paint, "Quality" );
    if ( shown->measures == NULL ) {
        tr_ui_note( ui, "Measured as soon as the scene is solved." );
        return;
    }
    nk_style_push_font( ui->nk, &shown->paint->fonts.small->handle );
    nk_layout_row( ui->nk, NK_DYNAMIC, 18, 3, columns );
    nk_spacing( ui->nk, 1 );
    nk_label_colored( ui->nk, "result", NK_TEXT_RIGHT, tr_theme_dark.dim );
    nk_label_colored( ui->nk, "source", NK_TEXT_RIGHT, tr_theme_dark.dim );
    for ( int i = 0; i < shown->measures->count; ++i ) {
        const tr_metric *m = &shown->measures->metrics[i];
        const tr_figure_words *name = tr_figure_name( m->key );
        for ( int f = 0; name != NULL && f < m->field_count; ++f )
            if ( strcmp( m->fields[f].name, name->field ) == 0 )
                figure( ui, name, &m->fields[f] );
    }
    nk_style_pop_font( ui->nk );
}
