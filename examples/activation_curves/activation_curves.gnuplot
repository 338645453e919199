# All curves of the table.
set title "ONNX's activation functions"
set key outside right top Left reverse autotitle columnhead samplen 1.5
set yrange [-1.5:3]
set xzeroaxis linecolor rgb '#c0c7ce'
plot for [i = 2:12] data_file using 1:i with lines linewidth 2
