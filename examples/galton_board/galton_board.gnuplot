# The balls of each bin.
set title '2^{20} balls on 20 rows of pins, counted by eight threads'
set xlabel 'bin'
set ylabel 'thousand balls'
set xrange [-0.7:20.7]
plot data_file using 1:($2 / 1000) with boxes linecolor rgb blue notitle
