# Draws how many times as long ONNX Runtime takes as xloom, work by work, into FOLDER/ratios.svg:
#
#   gnuplot -e "folder='build/bench'" benchmarks/ratios.gnuplot
#
# FOLDER/ratios.tsv: work, ratio, bar.

table = folder . '/ratios.tsv'
set datafile separator tab
stats table using 2 nooutput
rows = STATS_records
row_height = 18
head = 62
foot = 34
height = head + rows * row_height + foot

set terminal svg size 1000, height font 'sans-serif,11' background '#ffffff'
set output folder . '/ratios.svg'
set lmargin at screen 0.46
set rmargin at screen 0.97
set tmargin at screen 1 - head / real(height)
set bmargin at screen foot / real(height)

blue = '#2563a8'
red = '#c8102e'
set border 1 linecolor rgb '#6b7280'
set logscale x
set xrange [0.5:*]
set yrange [-0.5:rows - 0.5]
set xtics nomirror out scale 0.4
set ytics out scale 0 noenhanced
set grid xtics linecolor rgb '#e5e7eb'
set style fill solid 1.0 noborder
set boxwidth 0.7
unset key
set arrow 1 from 1, graph 0 to 1, graph 1 nohead linecolor rgb '#6b7280'
set label 1 '{/:Bold=15 How many times as long does ONNX Runtime take?}' at screen 0.015, 1 - 20.0 / height left
set label 2 'float32 unless it says otherwise; one thread unless it says otherwise; red: what the project set itself' at screen 0.015, 1 - 42.0 / height left

plot table using 2:0:(0.5):2:($0 - 0.35):($0 + 0.35):yticlabels(1) with boxxyerror linecolor rgb blue, \
    table using 3:0:(0):(0.45) with vectors nohead linewidth 2 linecolor rgb red, \
    table using 3:0:(0):(-0.45) with vectors nohead linewidth 2 linecolor rgb red, \
    table using ($3 > $2 ? $3 : $2):0:(sprintf($2 < 100 ? ' %.3g' : ' %.0f', $2)) with labels left noenhanced
