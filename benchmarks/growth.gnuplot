# Draws what a call costs as the work grows, xloom and ONNX Runtime, into FOLDER/growth.svg, for scripts/figures.
# FOLDER/growth.tsv: operator, what grows, how large it is, xloom's seconds, ONNX Runtime's.

table = folder . '/growth.tsv'
set datafile separator tab
set terminal svg size 1000, 620 font 'sans-serif,11' background '#ffffff'
set output folder . '/growth.svg'
set multiplot layout 2, 2 margins 0.08, 0.98, 0.09, 0.86 spacing 0.09, 0.13

set border 3 linecolor rgb '#6b7280'
set logscale x 2
set logscale y
set tics nomirror out scale 0.4
set format y '%.0s %cs'
set format x '%.0s%c'
set grid linecolor rgb '#e5e7eb'
set yrange [1e-6:1e-1]
set key bottom right Left reverse noenhanced samplen 2
set label 1 '{/:Bold=15 What a call costs as the work grows}' at screen 0.015, 0.965 left
set label 2 'one thread, float32; the others stay at T = 32, N = 8, H = 64; ScatterND adds into a million items, their copy included' \
    at screen 0.015, 0.925 left

of(operator, grown, column) = stringcolumn(1) eq operator && stringcolumn(2) eq grown ? column(column) : NaN
do for [grown in 'T N H'] {
    set xlabel grown
    plot for [operator in 'attn_lstm lstm'] table using (of(operator, grown, 3)):5 with linespoints dashtype 2 pointtype 6 \
            linecolor rgb (operator eq 'lstm' ? '#2563a8' : '#c8102e') title operator . ', ONNX Runtime', \
        for [operator in 'attn_lstm lstm'] table using (of(operator, grown, 3)):4 with linespoints pointtype 7 \
            linecolor rgb (operator eq 'lstm' ? '#2563a8' : '#c8102e') title operator . ', xloom'
    unset label
}
set logscale x 10
set xlabel 'updates'
plot table using (of('scatter_nd', 'updates', 3)):5 with linespoints dashtype 2 pointtype 6 linecolor rgb '#15803d' \
        title 'scatter_nd, ONNX Runtime', \
    table using (of('scatter_nd', 'updates', 3)):4 with linespoints pointtype 7 linecolor rgb '#15803d' title 'scatter_nd, xloom'
