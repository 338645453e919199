#pragma once
#include <xloom/detail/core/abi.hpp>
