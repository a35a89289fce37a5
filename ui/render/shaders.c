// The shaders. Light is computed in linear colour; `display` at the end of every fragment shader applies the
// film curve and the sRGB encoding, so that the picture needs no further pass.
#include "ui/render/private.h"

// clang-format off

const char *const tr_shader_common =
    "layout(std140) uniform Frame {\n"
    "    mat4 view_projection;\n"
    "    mat4 light_matrix;\n"
    "    vec4 eye;\n"
    "    vec4 forward;\n"
    "    vec4 right;\n"
    "    vec4 up;\n"
    "    vec4 light;\n"
    "    vec4 fill;\n"
    "    vec4 ground;\n"
    "    vec4 fade;\n"
    "    vec4 grid;\n"
    "    vec4 viewport;\n"
    "    vec4 occlusion;\n"
    "    vec4 shadow;\n"
    "    vec4 room;\n"
    "};\n";

// Three lights: the key (a large warm lamp, casts the shadow), a cool fill from the viewer's other side and a
// rim that lifts silhouettes off the ground; around them a bright room: sky above, pale floor below.
const char *const tr_shader_shading =
    "uniform sampler2DShadow shadow_map;\n"
    "const vec3 horizon_colour = vec3(0.790, 0.835, 0.885);\n"
    "const vec3 zenith_colour = vec3(0.430, 0.545, 0.690);\n"
    "const vec3 dusk_horizon = vec3(0.068, 0.074, 0.084);\n" // of the dim room, in which panels are dark too
    "const vec3 dusk_zenith = vec3(0.026, 0.029, 0.035);\n"
    "const vec3 key_colour = vec3(1.00, 0.955, 0.89) * 0.84;\n"
    "const vec3 sky_light = vec3(0.50, 0.545, 0.61);\n"
    "const vec3 floor_light = vec3(0.36, 0.345, 0.335);\n"
    "const vec3 fill_colour = vec3(0.80, 0.90, 1.00) * 0.13;\n"
    "const vec2 spiral[8] = vec2[8](vec2(0.600, 0.000), vec2(-0.766, 0.702), vec2(0.117, -1.337), vec2(0.966, 1.260),\n"
    "    vec2(-1.772, -0.314), vec2(1.679, -1.068), vec2(-0.562, 2.089), vec2(-1.071, -2.062));\n" // texels
    "vec3 film(vec3 c) {\n" // straight in the darks and mid-tones, a soft shoulder below white
    "    vec3 c2 = c * c;\n"
    "    return c * inversesqrt(sqrt(1.0 + c2 * c2));\n"
    "}\n"
    "vec3 display(vec3 linear) {\n"
    "    vec2 off = gl_FragCoord.xy * viewport.zw - 0.5;\n"
    "    float far = dot(off, off);\n"
    "    vec3 c = film(linear * (1.06 - 0.22 * far * far));\n"
    // The sRGB curve as a sum of roots, within 0.4 of 255 steps, because powers are slow without a GPU.
    "    vec3 r1 = sqrt(c), r2 = sqrt(r1), r3 = sqrt(r2);\n"
    "    vec3 s = 0.662002687 * r1 + 0.684122060 * r2 - 0.323583601 * r3 - 0.0225411470 * c;\n"
    "    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));\n"
    "    return s + (noise - 0.5) / 255.0;\n" // hides the steps of 8 bits in the pale gradients
    "}\n"
    "vec3 to_eye(vec3 p) {\n"
    "    return eye.w > 0.5 ? normalize(eye.xyz - p) : -forward.xyz;\n"
    "}\n"
    "float key_visibility(vec3 p, vec3 n, float toward_key) {\n"
    "    if (fade.w < 0.5) return 1.0;\n" // nothing casts a shadow and there is no map
    "    vec3 q = (light_matrix * vec4(p + n * (4.0 - 2.5 * toward_key) * shadow.z, 1.0)).xyz;\n"
    "    q.z = clamp(q.z, 0.0, 1.0);\n"
    "    float sum = 0.0;\n"
    "    int step = int(fill.w);\n" // 2 where bodies are small in the picture: every other tap
    "    for (int i = 0; i < 8; i += step)\n"
    "        sum += textureLod(shadow_map, vec3(q.xy + spiral[i] * shadow.xy, q.z), 0.0);\n"
    "    return sum * 0.125 * fill.w;\n"
    "}\n"
    "vec3 shade(vec3 p, vec3 n, vec3 albedo) {\n"
    "    vec3 v = to_eye(p);\n"
    "    float toward_key = dot(n, light.xyz);\n"
    "    float key = max(0.0, toward_key * 0.88 + 0.12);\n"
    "    float lit = toward_key > -0.13 ? key_visibility(p, n, toward_key) : 0.0;\n"
    "    float low = clamp((p.y - ground.x) / ground.w, 0.0, 1.0);\n"
    "    float open = mix(0.45 + 0.40 * low, 1.0, 0.5 + 0.5 * n.y);\n" // what the floor takes of the room
    "    vec3 room = mix(floor_light, sky_light, 0.5 + 0.5 * n.y) * open;\n"
    "    float facing = clamp(dot(n, v), 0.0, 1.0);\n"
    "    float edge = 1.0 - facing;\n"
    "    float rim = edge * edge * edge * (0.55 + 0.45 * n.y);\n"
    "    vec3 h = normalize(v + light.xyz);\n"
    "    float g = max(dot(n, h), 0.0);\n"
    "    g *= g; g *= g; g *= g; g *= g; g *= g;\n" // to the 32nd
    "    float gloss = g * 0.10 * lit;\n"
    "    vec3 light_sum = room + key_colour * key * lit + fill_colour * max(dot(n, fill.xyz), 0.0);\n"
    "    return albedo * light_sum + sky_light * rim * 0.34 + key_colour * gloss;\n"
    "}\n";

const char *const tr_shader_cone_vertex =
    "layout(location = 0) in vec4 shape;\n"    // cosine and sine around the axis, sine of the latitude, end 0 or 1
    "layout(location = 1) in vec4 end_a;\n"    // centre and radius
    "layout(location = 2) in vec4 end_b;\n"
    "layout(location = 3) in vec4 paint;\n"
    "uniform float from_light;\n"
    "out vec3 place;\n"
    "out vec3 normal;\n"
    "flat out vec4 tint;\n"
    "void main() {\n"
    "    vec3 d = end_b.xyz - end_a.xyz;\n"
    "    float l = length(d);\n"
    "    vec3 axis = l > 1e-6 ? d / l : vec3(0.0, 1.0, 0.0);\n"
    "    vec3 hint = abs(axis.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0);\n"
    "    vec3 x = normalize(cross(hint, axis));\n"
    "    vec3 z = cross(x, axis);\n"
    // The tangent cone of two balls touches both where their normals lean by this angle against the axis.
    "    float lean = clamp((end_a.w - end_b.w) / max(l, 1e-6), -1.0, 1.0);\n" // its sine
    "    bool second = shape.w > 0.5;\n"
    "    float rise = second ? max(shape.z, lean) : min(shape.z, lean);\n"
    "    rise = shape.z == 0.0 ? lean : rise;\n"
    "    normal = sqrt(max(1.0 - rise * rise, 0.0)) * (shape.x * x + shape.y * z) + rise * axis;\n"
    "    place = second ? end_b.xyz + end_b.w * normal : end_a.xyz + end_a.w * normal;\n"
    "    tint = paint;\n"
    "    gl_Position = from_light > 0.5 ? vec4((light_matrix * vec4(place, 1.0)).xyz * 2.0 - 1.0, 1.0)\n"
    "                                   : view_projection * vec4(place, 1.0);\n"
    "}\n";

const char *const tr_shader_box_vertex =
    "layout(location = 0) in vec4 shape;\n"    // direction of the normal, octant as bits
    "layout(location = 1) in vec4 centre;\n"   // and radius of the rounded edges
    "layout(location = 2) in vec4 turn;\n"     // quaternion
    "layout(location = 3) in vec4 half_size;\n"
    "layout(location = 4) in vec4 paint;\n"
    "uniform float from_light;\n"
    "out vec3 place;\n"
    "out vec3 normal;\n"
    "flat out vec4 tint;\n"
    "vec3 turned(vec3 v) {\n"
    "    vec3 t = 2.0 * cross(turn.xyz, v);\n"
    "    return v + turn.w * t + cross(turn.xyz, t);\n"
    "}\n"
    "void main() {\n"
    "    int octant = int(shape.w + 0.5);\n"
    "    vec3 corner = vec3((octant & 1) != 0 ? 1.0 : -1.0, (octant & 2) != 0 ? 1.0 : -1.0,\n"
    "                       (octant & 4) != 0 ? 1.0 : -1.0);\n"
    "    vec3 n = normalize(shape.xyz);\n"
    "    normal = turned(n);\n"
    "    place = centre.xyz + turned(corner * (half_size.xyz - centre.w) + n * centre.w);\n"
    "    tint = paint;\n"
    "    gl_Position = from_light > 0.5 ? vec4((light_matrix * vec4(place, 1.0)).xyz * 2.0 - 1.0, 1.0)\n"
    "                                   : view_projection * vec4(place, 1.0);\n"
    "}\n";

const char *const tr_shader_solid_fragment =
    "in vec3 place;\n"
    "in vec3 normal;\n"
    "flat in vec4 tint;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "    pixel = vec4(display(shade(place, normalize(normal), tint.rgb)), tint.a);\n"
    "}\n";

const char *const tr_shader_triangle_vertex =
    "layout(location = 1) in vec4 corner_a;\n"
    "layout(location = 2) in vec4 corner_b;\n"
    "layout(location = 3) in vec4 corner_c;\n"
    "layout(location = 4) in vec4 paint;\n"
    "uniform float from_light;\n"
    "out vec3 place;\n"
    "flat out vec3 normal;\n"
    "flat out vec4 tint;\n"
    "void main() {\n"
    "    vec3 n = cross(corner_b.xyz - corner_a.xyz, corner_c.xyz - corner_a.xyz);\n"
    "    normal = n / max(length(n), 1e-12);\n"
    "    place = gl_VertexID == 0 ? corner_a.xyz : gl_VertexID == 1 ? corner_b.xyz : corner_c.xyz;\n"
    "    tint = paint;\n"
    "    gl_Position = from_light > 0.5 ? vec4((light_matrix * vec4(place, 1.0)).xyz * 2.0 - 1.0, 1.0)\n"
    "                                   : view_projection * vec4(place, 1.0);\n"
    "}\n";

const char *const tr_shader_triangle_fragment =
    "in vec3 place;\n"
    "flat in vec3 normal;\n"
    "flat in vec4 tint;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "    pixel = vec4(display(shade(place, gl_FrontFacing ? normal : -normal, tint.rgb)), tint.a);\n"
    "}\n";

const char *const tr_shader_depth_fragment = "void main() {}\n";

// ----------------------------------------------------------------------------------------------- ground

const char *const tr_shader_ground_vertex =
    "out vec3 place;\n"
    "void main() {\n"
    "    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;\n"
    "    place = vec3(corner.x * fade.y, ground.x, -corner.y * fade.y);\n"
    "    gl_Position = view_projection * vec4(place, 1.0);\n"
    "}\n";

// The shadow's edge is sharp where the body touches the floor and softens with the blocker's height: two
// blurred copies of the shadow are mixed by the mean height of what blocks the light nearby.
const char *const tr_shader_ground_fragment =
    "uniform sampler2D sharp_map;\n"
    "uniform sampler2D soft_map;\n"
    "uniform sampler2D occlusion_map;\n"
    "in vec3 place;\n"
    "out vec4 pixel;\n"
    "float lines(vec2 x, vec2 per_pixel, float density, float width) {\n" // lines per metre, pixels
    "    vec2 step = per_pixel * density;\n"
    "    vec2 away = abs(fract(x * density - 0.5) - 0.5) / step;\n"
    "    vec2 a = clamp(0.5 * width * right.w + 0.5 - away, 0.0, 1.0);\n"
    "    a *= clamp(1.3 - 5.0 * right.w * step, 0.0, 1.0);\n" // lines closer than a few pixels melt away
    "    return max(a.x, a.y);\n"
    "}\n"
    "float blocked(vec3 p) {\n"
    "    vec2 at = (light_matrix * vec4(p, 1.0)).xy;\n"
    "    vec2 soft = textureLod(soft_map, at, 0.0).rg;\n"
    "    if (soft.r < 0.002) return 0.0;\n"
    "    float height = soft.g / soft.r;\n"
    "    return mix(textureLod(sharp_map, at, 0.0).r, soft.r, clamp(height * shadow.w, 0.0, 1.0));\n"
    "}\n"
    "void main() {\n"
    "    float open = 1.0, dark = 0.0;\n"
    "    vec2 over = (place.xz - occlusion.xy) * occlusion.zw;\n"
    "    if (fade.w > 0.5 && all(equal(over, clamp(over, 0.0, 1.0))))\n"
    "        open = textureLod(occlusion_map, over, 0.0).r;\n"
    "    if (fade.w > 0.5 && length(place.xz) < fade.z) dark = blocked(place);\n"
    "    vec2 x = place.xz + ground.yz, per_pixel = fwidth(x);\n"
    "    float line = max(lines(x, per_pixel, grid.w, 1.0) * grid.y, lines(x, per_pixel, 0.2 * grid.w, 1.4) * grid.z);\n"
    "    if (grid.x > 0.0) line = max(line, lines(x, per_pixel, 10.0 * grid.w, 1.0) * grid.x);\n"
    "    vec3 albedo = room.x > 0.5 ? vec3(0.070, 0.075, 0.083) * (1.0 + 2.6 * line)\n"
    "                               : vec3(0.805, 0.805, 0.80) * (1.0 - line);\n"
    "    vec3 c = albedo * (sky_light * open + key_colour * light.y * mix(1.0, open, 0.4) * (1.0 - dark));\n"
    "    float far = clamp((length(place.xz) - fade.x) / (fade.y - fade.x), 0.0, 1.0);\n"
    "    pixel = vec4(display(mix(c, room.x > 0.5 ? dusk_horizon : horizon_colour, far * (2.0 - far))), 1.0);\n"
    "}\n";

const char *const tr_shader_screen_vertex =
    "out vec2 at;\n" // 0 … 1 over the target
    "void main() {\n"
    "    at = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);\n"
    "    gl_Position = vec4(at * 2.0 - 1.0, 1.0, 1.0);\n"
    "}\n";

const char *const tr_shader_backdrop_fragment =
    "in vec2 at;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "    vec2 s = at * 2.0 - 1.0;\n"
    "    vec3 ray = eye.w > 0.5 ? normalize(forward.xyz + s.x * right.xyz + s.y * up.xyz) : forward.xyz;\n"
    "    float rise = smoothstep(0.0, 0.75, ray.y);\n"
    "    vec3 low = room.x > 0.5 ? dusk_horizon : horizon_colour, high = room.x > 0.5 ? dusk_zenith : zenith_colour;\n"
    "    pixel = vec4(display(mix(low, high, rise)), 1.0);\n"
    "}\n";

// ---------------------------------------------------------------------------------------------- shadows

// From the depth map of the light to what the floor sees of it: is the light blocked, and how high above the
// floor is the blocker. The floor's own depth is an affine function of the place in the map, so no further
// drawing is needed. `floor_plane` gives that depth; heights are in metres.
const char *const tr_shader_coverage_fragment =
    "uniform sampler2D depth_map;\n"
    "uniform vec3 floor_plane;\n"
    "in vec2 at;\n"
    "out vec2 pixel;\n"
    "void main() {\n"
    "    vec2 t = shadow.xy * 0.5;\n"
    "    float floor_depth = floor_plane.x + dot(floor_plane.yz, at);\n"
    "    vec4 depth = vec4(texture(depth_map, at + t * vec2(-1.0, -1.0)).r, texture(depth_map, at + t * vec2(1.0, -1.0)).r,\n"
    "                      texture(depth_map, at + t * vec2(-1.0, 1.0)).r, texture(depth_map, at + t).r);\n"
    "    vec4 height = (vec4(floor_depth) - depth) * light.w * light.y * forward.w;\n" // 1 = the tallest
    "    vec4 hit = step(vec4(0.0), height) * step(depth, vec4(0.99999));\n"
    "    pixel = vec2(dot(hit, vec4(0.25)), dot(hit * height, vec4(0.25)));\n"
    "}\n";

// One direction of a Gaussian; pairs of texels are fetched together by placing a tap between them.
const char *const tr_shader_blur_fragment =
    "uniform sampler2D source_map;\n"
    "uniform vec2 stride;\n"
    "in vec2 at;\n"
    "out vec2 pixel;\n"
    "void main() {\n"
    "    vec2 sum = texture(source_map, at).rg * 0.2270270;\n"
    "    sum += (texture(source_map, at + stride * 1.3846154).rg + texture(source_map, at - stride * 1.3846154).rg) * 0.3162162;\n"
    "    sum += (texture(source_map, at + stride * 3.2307692).rg + texture(source_map, at - stride * 3.2307692).rg) * 0.0702703;\n"
    "    pixel = sum;\n"
    "}\n";

// How much of the room a body hides from the floor around it. A ball of radius r whose centre is at height h
// and distance d takes the cosine-weighted share r² h / d³ of the half space; a limb counts as the ball at its
// nearest point. The map is seen from above and multiplied up, body by body.
const char *const tr_shader_occlusion_vertex =
    "layout(location = 1) in vec4 end_a;\n"
    "layout(location = 2) in vec4 end_b;\n"
    "flat out vec4 first;\n"
    "flat out vec4 second;\n"
    "out vec3 place;\n"
    "float reach(vec4 ball) {\n" // distance at which 2 % are left
    "    return pow(ball.w * ball.w * max(ball.y - ground.x, 0.0) / 0.02, 1.0 / 3.0);\n"
    "}\n"
    "void main() {\n"
    "    float margin = max(reach(end_a), reach(end_b));\n"
    "    vec2 low = min(end_a.xz, end_b.xz) - margin, high = max(end_a.xz, end_b.xz) + margin;\n"
    "    vec2 xz = mix(low, high, vec2(gl_VertexID & 1, gl_VertexID >> 1));\n"
    "    place = vec3(xz.x, ground.x, xz.y);\n"
    "    first = end_a;\n"
    "    second = end_b;\n"
    "    gl_Position = vec4((xz - occlusion.xy) * occlusion.zw * 2.0 - 1.0, 0.0, 1.0);\n"
    "}\n";

const char *const tr_shader_occlusion_fragment =
    "flat in vec4 first;\n"
    "flat in vec4 second;\n"
    "in vec3 place;\n"
    "out float pixel;\n"
    "void main() {\n"
    "    vec3 d = second.xyz - first.xyz;\n"
    "    float t = clamp(dot(place - first.xyz, d) / max(dot(d, d), 1e-9), 0.0, 1.0);\n"
    "    vec4 ball = mix(first, second, t);\n"
    "    float height = max(ball.y - ground.x, 0.5 * ball.w);\n"
    "    float away = max(length(vec3(ball.x - place.x, height, ball.z - place.z)), ball.w);\n"
    "    float hidden = ball.w * ball.w * height / (away * away * away);\n"
    "    pixel = 1.0 - 0.75 * clamp(hidden - 0.02, 0.0, 1.0);\n"
    "}\n";

// --------------------------------------------------------------------------------------- lines and discs

const char *const tr_shader_line_vertex =
    "layout(location = 1) in vec4 end_a;\n" // and width in pixels
    "layout(location = 2) in vec4 end_b;\n" // and 1 = drawn over everything
    "layout(location = 3) in vec4 paint_a;\n"
    "layout(location = 4) in vec4 paint_b;\n"
    "out vec4 tint;\n"
    "noperspective out vec2 along;\n" // pixels from a and from the middle
    "flat out vec3 size;\n"           // length, half width, rounded ends
    "vec4 in_front(vec4 p, vec4 q) {\n" // p moved along pq to the near plane z = -w when behind it
    "    float dp = p.z + p.w, dq = q.z + q.w;\n"
    "    return dp >= 0.0 || dq <= 0.0 ? p : mix(p, q, dp / (dp - dq));\n"
    "}\n"
    "void main() {\n"
    "    vec4 a = view_projection * vec4(end_a.xyz, 1.0), b = view_projection * vec4(end_b.xyz, 1.0);\n"
    "    vec4 p = in_front(a, b), q = in_front(b, a);\n"
    "    vec2 half_view = 0.5 * viewport.xy;\n"
    "    vec2 s = p.xy / p.w * half_view, e = q.xy / q.w * half_view;\n"
    "    float l = length(e - s);\n"
    "    vec2 x = l > 1e-3 ? (e - s) / l : vec2(1.0, 0.0);\n"
    "    bool at_end = (gl_VertexID & 1) != 0;\n"
    "    float border = 0.5 * end_a.w + 1.0, side = (gl_VertexID >> 1) != 0 ? border : -border;\n"
    "    bool rounded = min(paint_a.a, paint_b.a) > 0.99 || l < 0.5;\n"
    "    along = vec2(at_end ? l + border : -border, side);\n"
    "    size = vec3(l, 0.5 * end_a.w, rounded ? 1.0 : 0.0);\n"
    "    tint = at_end ? paint_b : paint_a;\n"
    "    vec4 c = at_end ? q : p;\n"
    "    vec2 pixels = s + x * along.x + vec2(-x.y, x.x) * side;\n"
    "    gl_Position = vec4(pixels / half_view * c.w, end_b.w > 0.5 ? 0.0 : c.z - 2e-4 * c.w, c.w);\n"
    "}\n";

const char *const tr_shader_line_fragment =
    "in vec4 tint;\n"
    "noperspective in vec2 along;\n"
    "flat in vec3 size;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "    float beyond = max(-along.x, along.x - size.x);\n"
    "    float away = size.z > 0.5 ? length(vec2(max(beyond, 0.0), along.y)) : abs(along.y);\n"
    "    float cover = clamp(size.y + 0.5 - away, 0.0, 1.0);\n"
    "    if (size.z < 0.5) cover *= clamp(0.5 - beyond, 0.0, 1.0);\n"
    "    pixel = vec4(tint.rgb, tint.a * cover);\n"
    "}\n";

const char *const tr_shader_disc_vertex =
    "layout(location = 1) in vec4 centre;\n" // and radius
    "layout(location = 2) in vec4 facing;\n"
    "layout(location = 3) in vec4 paint;\n"
    "out vec2 at;\n"
    "flat out vec4 tint;\n"
    "void main() {\n"
    "    vec3 n = facing.xyz;\n"
    "    vec3 x = normalize(cross(abs(n.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0), n));\n"
    "    at = (vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0) * 1.1;\n"
    "    tint = paint;\n"
    "    gl_Position = view_projection * vec4(centre.xyz + centre.w * (at.x * x + at.y * cross(n, x)), 1.0);\n"
    "    gl_Position.z -= 2e-4 * gl_Position.w;\n"
    "}\n";

const char *const tr_shader_disc_fragment =
    "in vec2 at;\n"
    "flat in vec4 tint;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "    float r = length(at), blur = max(fwidth(r), 1e-4);\n"
    "    float inside = clamp((1.0 - r) / blur + 0.5, 0.0, 1.0);\n"
    "    float rim = clamp((r - 0.80) / blur + 0.5, 0.0, 1.0);\n"
    "    pixel = vec4(tint.rgb, tint.a * inside * mix(0.40, 1.0, rim));\n"
    "}\n";
