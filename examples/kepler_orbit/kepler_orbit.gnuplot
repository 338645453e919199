# How the place of a planet depends on the time and on the shape of its orbit, beside the closed forms.
set title "How a planet's place depends on its orbit"
set xlabel 'eccentricity: the Earth, Mercury, ..., Halley''s comet'
set xrange [-0.03:1]
set yrange [0.5:1.4]
set key bottom right
plot data_file using 1:5 with linespoints linecolor rgb grey linewidth 2 pointtype 6 pointsize 1.6 title 'closed forms', \
     data_file using 1:7 with linespoints linecolor rgb grey linewidth 2 pointtype 6 pointsize 1.6 notitle, \
     data_file using 1:4 with points linecolor rgb red pointtype 7 pointsize 0.8 title 'dE/dM by loop\_vjp', \
     data_file using 1:6 with points linecolor rgb blue pointtype 7 pointsize 0.8 title 'dE/de by loop\_vjp'
