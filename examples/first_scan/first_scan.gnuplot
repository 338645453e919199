# The running sums after no row, two rows and three.
sums = system("tr -c '0-9\n' ' ' <".data_file)
set print $sums
print 0, 0, 0
print 2, " ", word(sums, 3), " ", word(sums, 4)
print 3, " ", word(sums, 1), " ", word(sums, 2)
set print
set title 'scan: a sum that runs over the rows of an array'
set xlabel 'rows'
set xrange [-0.2:3.2]
set xtics 1
set yrange [0:13]
plot $sums using 1:2 with linespoints linecolor rgb blue linewidth 2 pointtype 7 title 'first column', \
     $sums using 1:3 with linespoints linecolor rgb red linewidth 2 pointtype 7 title 'second column'
