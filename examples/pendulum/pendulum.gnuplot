# Periods over the angle at which the pendulum is let go, beside the closed form.
set title 'How long a pendulum of a metre swings'
set xlabel 'angle, degrees'
set ylabel 'period, s'
set xrange [0:185]
set yrange [0:8.5]
plot data_file using 1:3 with linespoints linecolor rgb grey linewidth 2 pointtype 6 pointsize 1.6 title 'closed form', \
     data_file using 1:2 with points linecolor rgb red pointtype 7 pointsize 0.8 title 'loop\_into, step by step'
