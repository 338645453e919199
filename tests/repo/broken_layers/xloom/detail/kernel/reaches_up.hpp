#pragma once
#include <vector>
#include <xloom/control_flow/scan.hpp>
