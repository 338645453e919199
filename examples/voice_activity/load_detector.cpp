#include "load_detector.hpp"

#include "detector.hpp"

detector_function load_detector(std::string const& file, lstm_weighting lstm)
{
    return detector{weights(file), lstm};
}
