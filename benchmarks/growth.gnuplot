# Draws what a call costs as the work grows, xloom and a peer, into FOLDER/growth.svg, for scripts/figures.
# FOLDER/growth.tsv: operator, what grows, how large it is, xloom's seconds, the peer's; benchmarks/growth.tsv selects the works.

table = folder . '/growth.tsv'
set datafile separator tab
set terminal svg size 1200, 700 font 'sans-serif,11' background '#ffffff'
set output folder . '/growth.svg'
set multiplot layout 2, 3 margins 0.06, 0.985, 0.08, 0.87 spacing 0.06, 0.12

set border 3 linecolor rgb '#6b7280'
set logscale y
set tics nomirror out scale 0.4
set format y '%.0s %cs'
set format x '%.0s%c'
set grid linecolor rgb '#e5e7eb'
set key bottom right Left reverse noenhanced samplen 2
set label 1 '{/:Bold=15 What a call costs as the work grows}' at screen 0.012, 0.965 left
set label 2 'one thread, 32-bit floats; T, N and H: the others stay at T = 32, N = 8, H = 64; slices of one item of a million; ' . \
    'segments of 10 items on average; 1,000 iterations' at screen 0.012, 0.93 left

of(operator, grown, column) = stringcolumn(1) eq operator && stringcolumn(2) eq grown ? column(column) : NaN
color(i) = word('#2563a8 #c8102e #15803d', i)

draw = "plot for [i = 1:words(operators)] table using (of(word(operators, i), grown, 3)):5 with linespoints dashtype 2 pointtype 6 " . \
    "linecolor rgb color(i) title word(operators, i) . ', ' . peer, " . \
    "for [i = 1:words(operators)] table using (of(word(operators, i), grown, 3)):4 with linespoints pointtype 7 " . \
    "linecolor rgb color(i) title word(operators, i) . ', xloom'"

peer = 'ONNX Runtime'
operators = 'attn_lstm lstm'
set logscale x 2
set yrange [1e-6:1e-1]
do for [grown in 'T N H'] {
    set xlabel grown
    @draw
    unset label
}

grown = 'slices'
operators = 'scatter_nd gather_nd'
set logscale x 10
set yrange [1e-7:1e-1]
set key top left
set xlabel 'updates, or indices'
@draw

grown = 'items'
operators = 'associative_scan linear_recurrence segment_reduce'
peer = 'by hand'
set yrange [1e-8:1e1]
set xlabel 'items, or segments'
@draw

grown = 'size'
operators = 'scan_into loop_into'
peer = 'ONNX Runtime'
set logscale x 2
set yrange [1e-8:1e-2]
set key bottom right
set xlabel 'items of the state'
@draw
