/* frix: exact, certified frictional contact dynamics. Includes the whole public interface. */
#ifndef FRIX_FRIX_H
#define FRIX_FRIX_H

#include <frix/analysis.h>
#include <frix/base.h>
#include <frix/batch.h>
#include <frix/bed.h>
#include <frix/edit.h>
#include <frix/equilibrium.h>
#include <frix/explain.h>
#include <frix/hooks.h>
#include <frix/io.h>
#include <frix/mcp.h>
#include <frix/mjcf.h>
#include <frix/model.h>
#include <frix/output.h>
#include <frix/problem.h>
#include <frix/qp.h>
#include <frix/query.h>
#include <frix/robot.h>
#include <frix/sensitivity.h>
#include <frix/sim.h>
#include <frix/soft.h>
#include <frix/solve.h>
#include <frix/trajectory.h>
#include <frix/vec.h>
#include <frix/view.h>

#endif
