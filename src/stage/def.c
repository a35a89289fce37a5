// Defaults of the numbers of staging; stage.h has their meaning.
#include "cage/cage.h"
#include "stage/stage.h"

tr_stage_def tr_default_stage_def( void )
{
    return ( tr_stage_def ){
        .contacts = tr_default_contact_def(),
        .footings = { .one_stance = 0.1,
                      .longest_ease = 0.8,
                      .climb_time = 0.3,
                      .slide_ease = 0.13,
                      .slide_span = 0.1,
                      .still = 1e-3,
                      .most_drift = 0.1,
                      .heel_slack = 0.01,
                      .sole_margin = 6e-3,
                      .same_bone = 2e-3 },
        .sources = { .jump = 0.5 * M_PI, .least_fps = 15, .leap = 14, .own_leap = 8, .shift = 0.05 },
        .seams = tr_default_seam_def(),
        .ik = tr_default_ik_def(),
        .rules = { .touch = 0.05,
                   .off_surface = 0.3,
                   .contact_ease = 0.2,
                   .flesh = 0.01,
                   .weight_time = 0.3,
                   .support_time = 0.3,
                   .least_step = 1e-6,
                   .arm = 0.1,
                   .kept = 1e-3 },
        .surfaces = { .climb = 0.3, .pressed_in = 0.02, .top_below = 0.3 },
        .postures = tr_default_posture_def(),
        .exemplars = tr_default_exemplar_def(),
        .lead = tr_default_lead_def(),
        .memory = { .joint_bytes =
                        { [TR_MEMORY_FRAMES] = 640, [TR_MEMORY_MESHES] = 2400, [TR_MEMORY_WINDOW] = 1800 },
                    .goal_bytes = 2200,
                    .rule_bytes = 112e3,
                    .cage_bytes = 800,
                    .triangle_bytes = 420,
                    .fixed_bytes = 48.0 * ( 1 << 20 ),
                    .joints = 100 },
        .close = 0.6,
        .carried_path = 0.01,
        .steady = 0.1,
        .fine_detail = 4,
        .fine_weights = 16 << 20,
        .detail = tr_default_cage_def().detail,
    };
}
