# Draws what voice_activity --plot FOLDER wrote, one row for each recording, into an SVG:
#
#   gnuplot -e "folder='build/demo'; output_file='build/demo/voice_activity.svg'; threshold=0.5" voice_activity.gnuplot

waveform = folder . '/waveform.dat'
probability = folder . '/probability.dat'

set datafile columnheaders                   # a block's first line is the recording's name
stats waveform using 1 nooutput
rows = STATS_blocks
seconds = ceil(STATS_max * 2) / 2.0          # one time scale for all, so that lengths compare

row_height = 100
head = 72                                    # pixels above the rows: title and legend
foot = 44                                    # and below them: the axis
height = head + rows * row_height + foot

set terminal svg size 1000, height font 'sans-serif,12' background '#ffffff'
set output output_file
set multiplot

grey = '#9aa5b1'
red = '#c8102e'
green = '#bfe3c4'

set style fill solid 1.0 noborder
set lmargin at screen 0.06
set rmargin at screen 0.985
set border 3 linecolor rgb '#6b7280'
set xtics nomirror out scale 0.4 0.5
set ytics nomirror out scale 0.4 ('0' 0, '1' 1) textcolor rgb red
set xrange [0:seconds]
set yrange [0:1]
set key noenhanced at graph 0, graph 1.42 left Left samplen -3.6 font ',11'

set label 1 '{/:Bold=15 Where is speech?}' at screen 0.06, 1 - 20.0 / height left
set label 2 '{/=12 Silero VAD through xloom::scan\_into, one probability every 32 ms}' at screen 0.06, 1 - 40.0 / height left
set object 1 rectangle from screen 0.60, 1 - 26.0 / height to screen 0.62, 1 - 12.0 / height fillcolor rgb green fillstyle solid noborder
set label 3 sprintf('speech: p ≥ %g', threshold) at screen 0.627, 1 - 19.0 / height left
set object 2 rectangle from screen 0.75, 1 - 26.0 / height to screen 0.77, 1 - 12.0 / height fillcolor rgb grey fillstyle solid noborder
set label 4 'waveform' at screen 0.777, 1 - 19.0 / height left
set arrow 1 from screen 0.86, 1 - 19.0 / height to screen 0.88, 1 - 19.0 / height nohead linecolor rgb red linewidth 2
set label 5 'probability p' at screen 0.887, 1 - 19.0 / height left

do for [row = 0:rows - 1] {
    top = height - head - row * row_height
    set tmargin at screen (top - 22.0) / height
    set bmargin at screen (top - row_height + 12.0) / height
    if (row == rows - 1) {
        set xtics format '%g'
        set label 6 'seconds' at graph 0.5, screen 10.0 / height center
    } else {
        set xtics format ''
    }
    stats waveform index row using (abs($2) > abs($3) ? abs($2) : abs($3)) nooutput
    loudest = STATS_max > 0 ? STATS_max : 1  # each waveform fills its row
    plot probability index row using 1:3 with fillsteps linecolor rgb green notitle, \
         waveform index row using 1:(0.5 + 0.5 * $2 / loudest):(0.5 + 0.5 * $3 / loudest) with filledcurves linecolor rgb grey title columnheader(1), \
         threshold with lines linecolor rgb red dashtype 3 linewidth 0.7 notitle, \
         probability index row using 1:2 with steps linecolor rgb red linewidth 1.6 notitle
    unset label 1; unset label 2; unset label 3; unset label 4; unset label 5
    unset object 1; unset object 2; unset arrow 1
}
unset multiplot
