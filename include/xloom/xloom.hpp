#pragma once
// All public headers; of those that require another library xloom/interop/tbb.hpp (oneTBB) only if
// XLOOM_USE_TBB is defined, xloom/interop/adolc.hpp (ADOL-C) only if XLOOM_USE_ADOLC is,
// xloom/interop/sacado.hpp (Sacado) only if XLOOM_USE_SACADO is, and xloom/ranks/mpi.hpp (MPI) only if
// XLOOM_USE_MPI is.

#include <xloom/control_flow.hpp>
#include <xloom/gradients.hpp>
#include <xloom/indexing.hpp>
#include <xloom/infer.hpp>
#include <xloom/interop/threads.hpp>
#include <xloom/kernels.hpp>
#include <xloom/parallel.hpp>
#include <xloom/ranks.hpp>
#include <xloom/recurrent.hpp>
#include <xloom/tensor.hpp>
#include <xloom/types.hpp>

#ifdef XLOOM_USE_ADOLC
#include <xloom/interop/adolc.hpp>
#endif
#ifdef XLOOM_USE_MPI
#include <xloom/ranks/mpi.hpp>
#endif
#ifdef XLOOM_USE_SACADO
#include <xloom/interop/sacado.hpp>
#endif
#ifdef XLOOM_USE_TBB
#include <xloom/interop/tbb.hpp>
#endif
