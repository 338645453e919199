# Prices of options from simulated paths, with two standard errors, beside the integral.
set title 'The price of an option, from 10,000 paths'
set xlabel 'strike'
set ylabel 'price'
set xrange [85:115]
set yrange [0:18]
set key top right
plot data_file using 1:2:(2 * $3) with yerrorbars linecolor rgb red linewidth 2 pointtype 7 title 'paths, and two standard errors', \
     data_file using 1:4 with points linecolor rgb blue pointtype 6 pointsize 1.8 linewidth 2 title "Heston's integral"
