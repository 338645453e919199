# Draws what audio_effect --plot FILE wrote into an SVG: the recording, what was played, and 15 ms of the circuit and the model.
#
#   gnuplot -e "data_file='guitar.dat'; output_file='guitar.svg'" audio_effect.gnuplot

set terminal svg size 1000, 640 font 'sans-serif,12' background '#ffffff'
set output output_file

grey = '#9aa5b1'
red = '#c8102e'
blue = '#1f4e79'

stats data_file index 0 using 1 nooutput
set multiplot
set border 3 linecolor rgb '#6b7280'
set lmargin at screen 0.06
set rmargin at screen 0.985
set xtics nomirror out scale 0.4
set ytics -1, 1, 1 nomirror out scale 0.4
set yrange [-1:1]
set style fill solid 1.0 noborder

set label 1 '{/:Bold=15 A guitar through an overdrive that an LSTM has learnt}' at screen 0.06, 0.965 left
set tmargin at screen 0.90
set bmargin at screen 0.74
set title 'the recording' offset 0, -0.6
set xrange [0:STATS_max]
set xtics format ''
plot data_file index 0 using 1:2:3 with filledcurves linecolor rgb grey notitle
unset label 1

set tmargin at screen 0.67
set bmargin at screen 0.51
set title 'played through xloom::lstm\_cell, sample by sample'
set xtics format '%g'
set xlabel 'seconds' offset 0, 0.5
plot data_file index 1 using 1:2:3 with filledcurves linecolor rgb red notitle

set tmargin at screen 0.38
set bmargin at screen 0.09
unset title
set xlabel 'milliseconds from the loudest sample'
set xrange [0:15]
set key at graph 1, 1.14 right horizontal samplen 2
plot data_file index 2 using 1:2 with lines linecolor rgb grey title 'recording', \
     data_file index 2 using 1:3 with lines linecolor rgb blue linewidth 3 title 'circuit', \
     data_file index 2 using 1:4 with lines linecolor rgb red linewidth 1.2 title 'model'
unset multiplot
