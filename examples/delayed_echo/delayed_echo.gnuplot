# The share of wrong bits in each round of the training.
set title 'An LSTM learns to repeat bits four steps later'
set xlabel 'round'
set ylabel 'wrong bits, %'
set yrange [0:60]
plot data_file using 1:(100 * $2) with lines linecolor rgb red linewidth 2 notitle
