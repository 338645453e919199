# Which letters an AttnLSTM looks at before it says each phoneme of a word: phonemes from left to right, letters from top to bottom. Before the
# first one it looks nowhere, because it begins with what it knows of the whole word.
#   gnuplot -e "folder='.'" alignments.gnuplot
set terminal svg size 620, 440 font "Helvetica, 14" background "white"
set output folder."/alignments.svg"
set title "Which letters an AttnLSTM looks at for each phoneme"
set xlabel "phoneme"
set ylabel "letter"
set palette defined (0 "white", 0.5 "#6baed6", 1 "#08306b")
set cblabel "weight"
set cbrange [0:1]
set xrange [*:*] noextend
set yrange [*:*] reverse noextend
set autoscale fix
set tics out nomirror
line(file, n) = system(sprintf("sed -n '%dp' %s/%s | tr -d '\"'", n + 1, folder, file))
set xtics ()
stats folder."/phonemes.dat" using (1) nooutput
set for [t = 0:STATS_records - 1] xtics add (line("phonemes.dat", t) t)
set ytics ()
stats folder."/letters.dat" using (1) nooutput
set for [s = 0:STATS_records - 1] ytics add (line("letters.dat", s) s)
plot folder."/alignments.dat" matrix using 1:2:3 with image pixels notitle
