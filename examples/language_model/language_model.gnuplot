# Draws what language_model --plot FILE wrote into an SVG: how it learnt, the states of its heads after the last character, and how much each
# changed with each of the last characters that it wrote.
#
#   gnuplot -e "data_file='verses.dat'; output_file='verses.svg'" language_model.gnuplot

set terminal svg size 1000, 680 font 'sans-serif,12' background '#ffffff'
set output output_file

head = 32 # rows and columns of a head's state
stats data_file index 1 matrix name 'state' nooutput
stats data_file index 2 matrix name 'change' nooutput

set multiplot
set border 3 linecolor rgb '#6b7280'
set tics nomirror out scale 0.4
set label 1 '{/:Bold=15 A Gated DeltaNet that has learnt a text, and writes one a character at a time}' at screen 0.06, 0.96 left

set lmargin at screen 0.06
set rmargin at screen 0.42
set tmargin at screen 0.86
set bmargin at screen 0.40
set title 'bits a character while it learns' offset 0, -0.6
set xlabel 'million characters' offset 0, 0.5
set yrange [1:*]
plot data_file index 0 using ($1 / 1e6):2 with lines linecolor rgb '#c8102e' linewidth 2 notitle
unset label 1

# From here on, each row of numbers is a row of the picture, from the top.
set palette defined (-1 '#053061', -0.3 '#4393c3', 0 '#ffffff', 0.3 '#d6604d', 1 '#67001f')
unset border
unset tics
unset xlabel
unset colorbox
set xrange [-0.5:*] noextend
set yrange [*:*] reverse noextend

set lmargin at screen 0.47
set rmargin at screen 0.985
set title 'the states of all heads, a block a row: keys down, values across'
set cbrange [-4 * state_stddev:4 * state_stddev]
do for [h = 1:state_size_x / head - 1] {
    set arrow h from head * h - 0.5, -0.5 to head * h - 0.5, state_size_y - 0.5 nohead front linecolor rgb '#000000'
}
do for [b = 1:state_size_y / head - 1] {
    set arrow 100 + b from -0.5, head * b - 0.5 to state_size_x - 0.5, head * b - 0.5 nohead front linecolor rgb '#000000'
}
plot data_file index 1 matrix with image notitle
unset arrow

set lmargin at screen 0.06
set rmargin at screen 0.985
set tmargin at screen 0.27
set bmargin at screen 0.06
set title 'how much the state of each head changes with a character: heads of the first block on top'
set cbrange [-0.7 * change_max:0.7 * change_max]
plot data_file index 2 matrix with image notitle, \
     data_file index 3 using 1:(change_size_y + 0.3):2 with labels font 'monospace,10' notitle
unset multiplot
