# The first ten airports.
set title 'The airports that one comes by most, of seven million flights'
set ylabel 'PageRank, %'
set yrange [0:7]
plot '<grep "^ *[0-9]*  [A-Z]" '.data_file using 0:(100 * $3):xtic(2) with boxes linecolor rgb blue notitle
