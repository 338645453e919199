#pragma once
#include <vector>
#include <xloom/scan.hpp>
