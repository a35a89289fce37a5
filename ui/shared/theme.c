// Colours, sizes and the style of Nuklear's widgets.
#include "ui/shared/theme.h"

const tr_theme tr_theme_dark = { .ground = { 22, 24, 28, 255 },
                                 .panel = { 32, 35, 40, 255 },
                                 .raised = { 46, 50, 57, 255 },
                                 .hover = { 58, 63, 72, 255 },
                                 .pressed = { 38, 41, 47, 255 },
                                 .well = { 24, 26, 30, 255 },
                                 .edge = { 18, 20, 23, 255 },
                                 .text = { 218, 222, 229, 255 },
                                 .dim = { 148, 155, 167, 255 },
                                 .faint = { 96, 102, 113, 255 },
                                 .accent = { 255, 176, 59, 255 },
                                 .accent_dark = { 122, 84, 30, 255 },
                                 .contact = { 47, 181, 128, 255 },
                                 .prop = { 222, 184, 60, 255 },
                                 .good = { 87, 190, 120, 255 },
                                 .warn = { 236, 164, 58, 255 },
                                 .bad = { 232, 88, 78, 255 },
                                 .cool = { 92, 154, 232, 255 } };

static struct nk_style_item fill( struct nk_color colour )
{
    return nk_style_item_color( colour );
}

static void dress_button( struct nk_style_button *button, struct nk_color normal, struct nk_color hover,
                          struct nk_color pressed )
{
    const tr_theme *t = &tr_theme_dark;
    button->normal = fill( normal );
    button->hover = fill( hover );
    button->active = fill( pressed );
    button->border = 0;
    button->rounding = 4;
    button->padding = nk_vec2( 6, 3 );
    button->text_background = t->panel;
    button->text_normal = button->text_hover = button->text_active = t->text;
}

static void dress_toggle( struct nk_style_toggle *toggle )
{
    const tr_theme *t = &tr_theme_dark;
    toggle->normal = fill( t->well );
    toggle->hover = toggle->active = fill( t->pressed );
    toggle->cursor_normal = toggle->cursor_hover = fill( t->accent );
    toggle->text_normal = toggle->text_hover = toggle->text_active = t->text;
    toggle->text_background = t->panel;
    toggle->padding = nk_vec2( 3, 3 );
    toggle->border = 1;
    toggle->border_color = t->faint;
    toggle->spacing = 6;
}

static void dress_edit( struct nk_style_edit *edit )
{
    const tr_theme *t = &tr_theme_dark;
    edit->normal = edit->hover = edit->active = fill( t->well );
    edit->border = 1;
    edit->border_color = t->edge;
    edit->rounding = 4;
    edit->padding = nk_vec2( 6, 3 );
    edit->cursor_normal = edit->cursor_hover = t->accent;
    edit->cursor_text_normal = edit->cursor_text_hover = t->ground;
    edit->text_normal = edit->text_hover = edit->text_active = t->text;
    edit->selected_normal = edit->selected_hover = t->accent_dark;
    edit->selected_text_normal = edit->selected_text_hover = t->text;
    edit->cursor_size = 2;
}

static void dress_property( struct nk_style_property *property )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_color clear = nk_rgba( 0, 0, 0, 0 );
    property->normal = fill( t->well );
    property->hover = fill( t->pressed );
    property->active = fill( t->pressed );
    property->border = 1;
    property->border_color = t->edge;
    property->rounding = 4;
    property->padding = nk_vec2( 4, 3 );
    property->label_normal = t->dim;
    property->label_hover = property->label_active = t->text;
    dress_edit( &property->edit );
    property->edit.normal = property->edit.hover = property->edit.active = fill( clear );
    property->edit.border = 0;
    property->edit.padding = nk_vec2( 0, 0 );
    dress_button( &property->inc_button, clear, clear, clear );
    property->inc_button.text_normal = t->faint;
    property->inc_button.text_hover = t->accent;
    property->inc_button.padding = nk_vec2( 0, 0 );
    property->dec_button = property->inc_button;
}

static void dress_slider( struct nk_style_slider *slider )
{
    const tr_theme *t = &tr_theme_dark;
    slider->bar_normal = slider->bar_hover = slider->bar_active = t->well;
    slider->bar_filled = t->accent_dark;
    slider->bar_height = 5;
    slider->cursor_normal = fill( t->dim );
    slider->cursor_hover = slider->cursor_active = fill( t->accent );
    slider->cursor_size = nk_vec2( 13, 13 );
    slider->rounding = 0;
}

static void dress_scrollbar( struct nk_style_scrollbar *bar )
{
    const tr_theme *t = &tr_theme_dark;
    bar->normal = bar->hover = bar->active = fill( t->panel );
    bar->cursor_normal = fill( t->raised );
    bar->cursor_hover = bar->cursor_active = fill( t->hover );
    bar->border = bar->border_cursor = 0;
    bar->rounding = bar->rounding_cursor = 4;
    bar->padding = nk_vec2( 2, 2 );
}

static void dress_combo( struct nk_style_combo *combo )
{
    const tr_theme *t = &tr_theme_dark;
    combo->normal = fill( t->raised );
    combo->hover = fill( t->hover );
    combo->active = fill( t->pressed );
    combo->border = 0;
    combo->rounding = 4;
    combo->label_normal = combo->label_hover = combo->label_active = t->text;
    dress_button( &combo->button, t->raised, t->hover, t->pressed );
    combo->button.text_normal = combo->button.text_hover = t->dim;
    combo->content_padding = nk_vec2( 8, 4 );
    combo->button_padding = nk_vec2( 2, 6 );
    combo->button.padding = nk_vec2( 2, 2 );
}

static void dress_selectable( struct nk_style_selectable *s )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_color clear = nk_rgba( 0, 0, 0, 0 );
    s->normal = fill( clear );
    s->hover = fill( t->raised );
    s->pressed = fill( t->pressed );
    s->normal_active = s->hover_active = s->pressed_active = fill( t->accent_dark );
    s->text_normal = s->text_hover = s->text_pressed = t->text;
    s->text_normal_active = s->text_hover_active = s->text_pressed_active = nk_rgb( 255, 236, 205 );
    s->text_background = t->panel;
    s->rounding = 4;
    s->padding = nk_vec2( 6, 2 );
}

static void dress_window( struct nk_style_window *window )
{
    const tr_theme *t = &tr_theme_dark;
    window->background = t->panel;
    window->fixed_background = fill( t->panel );
    window->border = 0;
    window->border_color = t->edge;
    window->combo_border = window->contextual_border = window->menu_border = window->tooltip_border = 1;
    window->combo_border_color = window->contextual_border_color = window->menu_border_color = t->faint;
    window->tooltip_border_color = window->popup_border_color = t->faint;
    window->popup_border = 1;
    window->group_border = 0;
    window->rounding = 0;
    window->spacing = nk_vec2( 6, 5 );
    window->padding = nk_vec2( TR_PAD, TR_PAD );
    window->group_padding = nk_vec2( 2, 2 );
    window->combo_padding = window->menu_padding = window->contextual_padding = nk_vec2( 5, 5 );
    window->popup_padding = nk_vec2( 14, 12 );
    window->tooltip_padding = nk_vec2( 8, 5 );
    window->scrollbar_size = nk_vec2( 10, 10 );
    window->min_row_height_padding = 6;
}

void tr_theme_apply( struct nk_context *nk )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_style *style = &nk->style;
    struct nk_color clear = nk_rgba( 0, 0, 0, 0 );
    style->text.color = t->text;
    style->text.padding = nk_vec2( 0, 0 );
    dress_button( &style->button, t->raised, t->hover, t->pressed );
    dress_button( &style->menu_button, clear, t->hover, t->pressed );
    dress_button( &style->contextual_button, clear, t->hover, t->pressed );
    style->contextual_button.text_alignment = NK_TEXT_LEFT;
    dress_toggle( &style->checkbox );
    dress_toggle( &style->option );
    dress_edit( &style->edit );
    dress_property( &style->property );
    dress_slider( &style->slider );
    dress_scrollbar( &style->scrollv );
    dress_scrollbar( &style->scrollh );
    dress_scrollbar( &style->edit.scrollbar );
    dress_combo( &style->combo );
    dress_selectable( &style->selectable );
    dress_window( &style->window );
    style->progress.normal = style->progress.hover = style->progress.active = fill( t->well );
    style->progress.cursor_normal = style->progress.cursor_hover = fill( t->accent );
    style->progress.cursor_active = fill( t->accent );
    style->progress.rounding = 3;
    style->progress.cursor_rounding = 0; // narrower than two of them it would be drawn inside out
    style->progress.padding = nk_vec2( 0, 0 );
    style->tab.background = fill( t->panel );
    style->tab.border = 0;
}
