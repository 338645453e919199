# The output of the filter, on a logarithmic scale: zeros are not on it.
set title 'The tail of a filter: with subnormal numbers it never ends'
set xlabel 'seconds'
set ylabel 'output'
set logscale y
set format y '10^{%T}'
set yrange [1e-48:10]
set key top right
plot data_file index 0 using 1:($2 > 0 ? $2 : NaN) with lines linecolor rgb grey linewidth 5 title 'as floats are', \
     data_file index 1 using 1:($2 > 0 ? $2 : NaN) with lines linecolor rgb red linewidth 2 title 'flush\_subnormals'
