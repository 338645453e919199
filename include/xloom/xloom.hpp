#pragma once
// All public headers; of those that require another library only the ones whose macro is defined: for
// xloom/interop/ XLOOM_USE_ADOLC, XLOOM_USE_DLPACK, XLOOM_USE_EIGEN, XLOOM_USE_JSON (nlohmann/json),
// XLOOM_USE_SACADO and XLOOM_USE_TBB (oneTBB), for xloom/ranks/mpi.hpp XLOOM_USE_MPI.

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
#ifdef XLOOM_USE_DLPACK
#include <xloom/interop/dlpack.hpp>
#endif
#ifdef XLOOM_USE_EIGEN
#include <xloom/interop/eigen.hpp>
#endif
#ifdef XLOOM_USE_JSON
#include <xloom/interop/json.hpp>
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
