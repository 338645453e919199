# Time and memory of a rank over the number of ranks:
#
#   cd examples/ranked_pagerank && gnuplot ranks.gp
set terminal svg size 640,360 font "sans,12"
set output "../../docs/ranks.svg"
set xlabel "ranks, on a machine of two cores"
set ylabel "time, s"
set y2label "peak memory of a rank, MiB"
set xrange [0.5:4.5]
set yrange [0:*]
set y2range [0:*]
set xtics 1
set ytics nomirror
set y2tics
set key top right
plot "ranks.dat" using 1:2 with linespoints title "time", "" using 1:3 axes x1y2 with linespoints title "memory"
