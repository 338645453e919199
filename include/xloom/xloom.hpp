#pragma once
// Everything.

#include <xloom/if.hpp>
#include <xloom/infer/if.hpp>
#include <xloom/infer/loop.hpp>
#include <xloom/infer/scan.hpp>
#include <xloom/infer/type_lists.hpp>
#include <xloom/loop.hpp>
#include <xloom/lstm.hpp>
#include <xloom/scan.hpp>
