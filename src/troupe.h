// The modules of Troupe in dependency order: each may use what stands above it.
#ifndef TROUPE_H
#define TROUPE_H

#include "base/base.h"
#include "math/math.h"

#include "geometry/geometry.h"
#include "solve/solve.h"

#include "io/io.h"
#include "motion/motion.h"

#include "fit/fit.h"
#include "format/format.h"

#include "actor/actor.h"
#include "cage/cage.h"
#include "exemplar/exemplar.h"
#include "imesh/imesh.h"
#include "import/import.h"
#include "posegraph/posegraph.h"

#include "document/document.h"
#include "exchange/exchange.h"

#include "stage/stage.h"

#include "result/result.h"

#include "cluster/cluster.h"
#include "measure/measure.h"

#include "closeness/closeness.h"
#include "compose/compose.h"
#include "layer/layer.h"

#include "method/method.h"

#include "pipeline/pipeline.h"

#endif
