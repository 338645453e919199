#pragma once
// Associative scans, linear recurrences and segments: recurrences that need not run in order.

#include <xloom/parallel/associative_scan.hpp>
#include <xloom/parallel/cumulative.hpp>
#include <xloom/parallel/linear_recurrence.hpp>
#include <xloom/parallel/row_splits.hpp>
#include <xloom/parallel/segment_reduce.hpp>
#include <xloom/parallel/segment_scan.hpp>
#include <xloom/parallel/segment_softmax.hpp>
