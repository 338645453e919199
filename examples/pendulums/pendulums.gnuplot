# Periods over the length of the pendulum, beside the closed form.
set title 'A thousand pendulums, from a centimetre to ten metres'
set xlabel 'length, m'
set ylabel 'period, s'
set logscale xy
set xrange [0.008:13]
plot data_file using 1:4 with linespoints linecolor rgb grey linewidth 2 pointtype 6 pointsize 1.6 title 'closed form', \
     data_file using 1:3 with points linecolor rgb red pointtype 7 pointsize 0.8 title 'loop\_lanes\_into'
