# Draws how many times as fast as one thread several are, into FOLDER/threads.svg, for scripts/figures.
# FOLDER/threads.tsv: blocks that begin with a label, of threads, times by Amdahl's law, times as measured.

table = folder . '/threads.tsv'
set datafile separator tab
stats table using 1 nooutput
set terminal svg size 1100, 520 font 'sans-serif,12' background '#ffffff'
set output folder . '/threads.svg'
set lmargin at screen 0.06
set rmargin at screen 0.62
set tmargin at screen 0.85
set bmargin at screen 0.11

set border 3 linecolor rgb '#6b7280'
set logscale xy 2
set xrange [1:16]
set yrange [0.9:17]
set tics nomirror out scale 0.4
set grid linecolor rgb '#e5e7eb'
set xlabel 'threads'
set key at screen 0.64, 0.85 left top Left reverse noenhanced samplen 3 spacing 1.3
set label 1 '{/:Bold=15 How many times as fast as one thread}' at screen 0.012, 0.955 left
set label 2 "points: measured on two cores; lines: Amdahl's law with the serial share that two threads show, an upper bound for more" \
    at screen 0.012, 0.905 left

color(i) = word('#2563a8 #c8102e #15803d #b45309 #7c3aed #0e7490 #be185d #4d7c0f #1d4ed8 #92400e #6b7280 #111827', i + 1)
plot for [i = 0:STATS_blocks - 1] table index i using 1:2 with lines dashtype 2 linecolor rgb color(i) title columnheader(1), \
    for [i = 0:STATS_blocks - 1] table index i using 1:3 with points pointtype 7 pointsize 0.6 linecolor rgb color(i) notitle
