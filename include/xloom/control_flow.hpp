#pragma once
// If, Loop and Scan: bodies of the caller's, called once, until a condition ends it, or along an axis.

#include <xloom/control_flow/if.hpp>
#include <xloom/control_flow/loop.hpp>
#include <xloom/control_flow/loop_lanes.hpp>
#include <xloom/control_flow/scan.hpp>
#include <xloom/control_flow/scan_batched.hpp>
#include <xloom/control_flow/scan_lanes.hpp>
#include <xloom/control_flow/scan_ragged.hpp>
