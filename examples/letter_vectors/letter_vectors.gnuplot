# The vectors of the words, four of each language, and the line between the languages.
set title 'Words as the largest items of the vectors of their letters'
set xlabel 'Finnish'
set ylabel 'English'
set xrange [-2:8]
set yrange [-2:8]
set key bottom left
plot x linecolor rgb grey dashtype 2 title 'the line between the languages', \
     data_file using 2:3 with points linecolor rgb blue pointtype 7 notitle, \
     data_file using ($2 + 0.15):($3 + 0.5 * (int($0) % 4)):1 with labels left notitle
