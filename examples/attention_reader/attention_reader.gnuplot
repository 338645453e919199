# The alignments of attention_reader as a heat map: steps from left to right, letters of the text from top to bottom.
#   gnuplot -e "folder='.'" attention_reader.gnuplot
set terminal svg size 900, 520 font "Helvetica, 13" background "white"
set output folder."/attention_reader.svg"
set title "Where an AttnLSTM looks while it reads: it lingers on vowels"
set xlabel "step"
set ylabel "letter"
set palette defined (0 "white", 0.5 "#6baed6", 1 "#08306b")
set cblabel "weight"
set cbrange [0:1]
set xrange [-0.5:*] noextend
set yrange [*:*] reverse noextend
set autoscale fix
set tics out nomirror
set ytics ()
stats folder."/text.dat" using (1) nooutput
set for [m = 0:STATS_records - 1] ytics add (system(sprintf("sed -n '%dp' %s/text.dat | tr -d '\"'", m + 1, folder)) m)
plot folder."/alignments.dat" matrix using 2:1:3 with image pixels notitle
