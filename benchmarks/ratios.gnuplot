# Draws ONNX Runtime's time divided by xloom's, a bar for each work, into FOLDER/ratios.svg, for scripts/figures.
# FOLDER/ratios.tsv: label, ratio; benchmarks/chart.tsv selects the works and labels them.

table = folder . '/ratios.tsv'
set datafile separator tab
stats table using 2 nooutput
rows = STATS_records
row_height = 26
head = 72
foot = 56
height = head + rows * row_height + foot

set terminal svg size 1000, height font 'sans-serif,13' background '#ffffff'
set output folder . '/ratios.svg'
set lmargin at screen 0.36
set rmargin at screen 0.97
set tmargin at screen 1 - head / real(height)
set bmargin at screen foot / real(height)

grey = '#6b7280'
set border 1 linecolor rgb grey
set logscale x
set xrange [STATS_min < 0.75 ? STATS_min / 1.5 : 0.5:STATS_max * 3]
set yrange [-0.5:rows - 0.5]
set xtics nomirror out scale 0.4 ('0.5' 0.5, '1' 1, '10' 10, '100' 100, '1000' 1000, '10000' 10000)
set label 3 'ratio, on a logarithmic axis' at graph 0.5, screen 12.0 / height center textcolor rgb '#374151'
set ytics out scale 0 noenhanced textcolor rgb '#111827'
set grid xtics linecolor rgb '#e5e7eb'
set style fill solid 1.0 noborder
unset key
set arrow 1 from 1, graph 0 to 1, graph 1 nohead linewidth 1.5 linecolor rgb '#111827' front
set label 1 '{/:Bold=17 Time of ONNX Runtime divided by time of xloom}' at screen 0.015, 1 - 22.0 / height left
set label 2 'Right of 1 xloom is faster, left of 1 ONNX Runtime is. 32-bit floats; one thread where the label names no other number.' \
    at screen 0.015, 1 - 48.0 / height left textcolor rgb '#374151'

low(ratio) = ratio < 1 ? ratio : 1
high(ratio) = ratio < 1 ? 1 : ratio
color(ratio) = ratio < 1 ? 0xc8102e : 0x2563a8
plot table using 2:0:(low($2)):(high($2)):($0 - 0.36):($0 + 0.36):(color($2)):yticlabels(1) with boxxyerror linecolor rgb variable, \
    table using (high($2)):0:(sprintf($2 < 100 ? '%.3g' : '%.0f', $2)) with labels left offset character 0.5, 0 noenhanced
