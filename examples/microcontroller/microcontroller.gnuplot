# Flash and memory of each program on a Cortex-M4, and the instructions of a step.
set title 'Networks on a Cortex-M4'
set style data histograms
set boxwidth 0.9
set logscale y
set yrange [100:1e8]
set format y '10^{%T}'
set xtics rotate by -25
rows = '<grep cortex-m4 '.data_file
plot rows using 3:xtic(1) linecolor rgb grey title 'flash, bytes', \
     rows using ($4 + $5) linecolor rgb blue title 'memory, bytes', \
     rows using 7 linecolor rgb red title 'instructions a step'
