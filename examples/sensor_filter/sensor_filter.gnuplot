# The last error of five sensors, as they were read and filtered.
set title 'Five of a thousand sensors: how far each is from the truth'
set xlabel 'sensor'
set ylabel 'error, m'
set style data histograms
set boxwidth 0.9
set yrange [0:1.4]
rows = '<grep "^ *[0-9]" '.data_file
plot rows using (abs($3 - $2)):xtic(1) linecolor rgb grey title 'reading', \
     rows using (abs($4 - $2)) linecolor rgb red title 'filtered by scan\_lanes'
