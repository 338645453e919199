#include "load_detector.hpp"

#include "detector.hpp"

detector_function load_detector(std::string const& file, xloom::weight_storage storage)
{
    return detector{weights(file), storage};
}
