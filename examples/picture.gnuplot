# What the pictures of docs/examples.md share. Sets size, colours and axes for a file NAME/NAME.gnuplot, which draws what the program printed:
#
#   gnuplot -e "data_file='pendulum.txt'; output_file='pendulum.svg'" examples/picture.gnuplot examples/pendulum/pendulum.gnuplot

set terminal svg size 640, 340 font 'sans-serif,13' background '#ffffff'
set output output_file

blue = '#1f4e79'
red = '#c8102e'
grey = '#9aa5b1'

set border 3 linecolor rgb '#6b7280'
set tics nomirror out scale 0.4
set key top left Left reverse samplen 1.5
set style fill solid 1.0 noborder
set boxwidth 0.7
