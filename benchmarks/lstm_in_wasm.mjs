// Times the LSTM of README's table of builds in Node:
//
//   node lstm_in_wasm.mjs MODULE.wasm

import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const wasi = new WASI({ version: 'preview1' });
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), wasi.getImportObject());
wasi.initialize(instance);
const { prepare, run } = instance.exports;

for (const N of [16, 1]) {
  prepare(N);
  const times = [];
  for (let i = 0; i < (N === 1 ? 400 : 60); ++i) {
    const start = performance.now();
    run();
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  console.log(`LSTM, ${N} sequences of 50 steps, width 256: ${times[times.length >> 1].toPrecision(3)} ms (median of ${times.length} runs)`);
}
