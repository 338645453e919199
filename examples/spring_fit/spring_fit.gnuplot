# Stiffness and damping in each round of the search.
set title 'A search for the stiffness and damping of a spring, from its path'
set xlabel 'round'
set yrange [0:3]
set key right center
plot data_file using 0:1 with linespoints linecolor rgb blue linewidth 2 pointtype 7 pointsize 0.6 title 'stiffness, N/m', \
     data_file using 0:2 with linespoints linecolor rgb red linewidth 2 pointtype 7 pointsize 0.6 title 'damping, kg/s'
