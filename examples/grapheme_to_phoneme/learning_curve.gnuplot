# How a model learns to pronounce: the errors in words that chose its weights, and the loss in those that it learnt.
#   gnuplot -e "folder='.'" learning_curve.gnuplot
set terminal svg size 700, 420 font "Helvetica, 14" background "white"
set output folder."/learning_curve.svg"
set title "Learning to pronounce"
set xlabel "epoch"
set ylabel "error, %"
set y2label "loss: -log p of a phoneme"
set xtics 1
set yrange [0:*]
set y2range [0:*]
set ytics nomirror
set y2tics
set grid ytics
set key top right
plot folder."/learning_curve.dat" using 1:4 with linespoints linewidth 2 pointtype 7 title "words", \
     folder."/learning_curve.dat" using 1:3 with linespoints linewidth 2 pointtype 7 title "phonemes", \
     folder."/learning_curve.dat" using 1:2 axes x1y2 with linespoints dashtype 2 title "loss"
