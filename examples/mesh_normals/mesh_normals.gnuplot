# Draws what mesh_normals --plot FILE wrote into an SVG, lit twice from above right:
#
#   gnuplot -e "data_file='bunny.dat'; output_file='bunny.svg'" mesh_normals.gnuplot

set terminal svg size 1200, 620 font 'sans-serif,12' background '#ffffff'
set output output_file

light(x, y, z) = 0.40 * x + 0.62 * y + 0.67 * z
brightness(x, y, z) = (1 + light(x, y, z) / sqrt(x**2 + y**2 + z**2)) / 2
front(x, z) = z > -0.5 ? x : NaN # what looks away lies behind something

set multiplot
set view 90, 0, 1.62             # x to the right, y up, z towards us
set view equal xyz
set xyplane relative 0
set palette defined (0.0 '#1f2a44', 0.45 '#3d3f5c', 0.7 '#c08a66', 1.0 '#fff6ea')
set cbrange [0:1]
unset colorbox
unset border
unset tics
unset key

set size 0.5, 1
set origin 0, -0.05
set label 1 '{/:Bold=15 A normal for each face}' at screen 0.03, 0.955 left
set label 2 '{/=12 gathered from its three corners by xloom::gather\_nd}' at screen 0.03, 0.915 left
set pm3d depthorder corners2color mean interpolate 1, 1 noborder
splot data_file using (front($1, $6)):(-$3):2:(brightness($7, $8, $9)) with pm3d

set origin 0.5, -0.05
set label 1 '{/:Bold=15 A normal for each vertex}' at screen 0.53, 0.955 left
set label 2 '{/=12 the sum of those around it by xloom::scatter\_nd, interpolated in between}' at screen 0.53, 0.915 left
set pm3d interpolate 3, 3
splot data_file using (front($1, $6)):(-$3):2:(brightness($4, $5, $6)) with pm3d
unset multiplot
