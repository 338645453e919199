# The levels of each sensor, as long as it was read.
set title 'Three sensors, smoothed as long as each was read'
set xlabel 'reading'
set ylabel 'level'
set xrange [-0.2:4.2]
set xtics 1
set yrange [16:28]
set key top right
levels(sensor) = sprintf("<sed -n '%dp' %s | cut -d: -f2 | xargs -n1", sensor + 1, data_file)
plot for [sensor = 0:2] levels(sensor) using 0:1 with linespoints linewidth 2 pointtype 7 title sprintf('sensor %d', sensor)
