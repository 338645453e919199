// Runs the module in Node and compares it with what ONNX Runtime made of the same recordings (expected.mjs):
//
//   node measure.mjs MODULE.wasm EXPECTED.json RECORDING.raw...     (16-bit little-endian samples at 16 kHz)

import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { WASI } from 'node:wasi';

const chunk = 512;

const [module, expectedFile, ...recordings] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1' });
const { instance } = await WebAssembly.instantiate(readFileSync(module), wasi.getImportObject());
wasi.initialize(instance);
const { memory, samples, speech_probability, restart } = instance.exports;

/** Probability of speech in each whole chunk of 16-bit samples. */
function probabilities(recording) {
  restart();
  const found = [];
  for (let start = 0; start + chunk <= recording.length; start += chunk) {
    const input = new Float32Array(memory.buffer, samples(), chunk); // memory that grows is another buffer
    for (let i = 0; i < chunk; ++i) input[i] = recording[start + i] / 32768;
    found.push(speech_probability());
  }
  return found;
}

const expected = JSON.parse(readFileSync(expectedFile));
let largest = 0;
let chunks = 0;
let fastest = Infinity;
for (const path of recordings) {
  const bytes = readFileSync(path);
  const recording = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const right = expected[basename(path)];
  const found = probabilities(recording);
  if (found.length !== right.length) throw new Error(`${path}: ${found.length} chunks, but ${right.length} were expected`);
  found.forEach((p, t) => {
    const difference = Math.abs(p - right[t]);
    if (!(difference <= largest)) largest = difference; // NaN is larger
  });
  chunks += found.length;
  for (let run = 0; run < 20; ++run) {
    const start = performance.now();
    probabilities(recording);
    fastest = Math.min(fastest, (performance.now() - start) / found.length);
  }
}
console.log(`${(statSync(module).size / 1e6).toFixed(2)} MB with weights, ${fastest.toFixed(3)} ms for each 32 ms of sound (fastest of 20 runs), ` +
  `${chunks} chunks within ${largest.toExponential(1)} of ONNX Runtime`);
if (chunks === 0 || !(largest <= 1e-5)) process.exit(1);
