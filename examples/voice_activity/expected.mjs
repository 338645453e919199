// Writes what ONNX Runtime makes of the recordings: {file name: [probability of speech in each 32 ms chunk]}, nine significant digits.
//
//   npm install --ignore-scripts onnxruntime-node@1.30.0 wavefile@11.0.0      (in a scratch folder; run the script from there)
//   data=/usr/share/pocketsphinx/test/data                                   (Debian's pocketsphinx-testdata)
//   node ROOT/examples/voice_activity/expected.mjs ROOT/build/data/silero_vad_16k_op15.onnx \
//        $data/librivox/*.wav $data/cards/*.wav $data/{goforward,numbers,something}.raw > ROOT/tests/data/voice_activity_expected.json

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';

const require = createRequire(`${process.cwd()}/`);
const ort = require('onnxruntime-node');
const { WaveFile } = require('wavefile');

const rate = 16000;
const chunk = 512;
const context = 64;

/** The recording's 16-bit samples; a file that is no WAV is taken as raw little-endian samples. */
function readSamples(path) {
  const bytes = readFileSync(path);
  if (!path.endsWith('.wav')) return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const wav = new WaveFile(bytes);
  if (wav.fmt.sampleRate !== rate || wav.fmt.numChannels !== 1 || wav.bitDepth !== '16') throw new Error(`${path} is not 16-bit mono at 16 kHz`);
  return wav.getSamples(false, Int16Array);
}

/** The model sees each chunk after the last samples of the one before, zeros at first. */
async function probabilities(session, samples) {
  const sr = new ort.Tensor('int64', BigInt64Array.of(BigInt(rate)));
  let state = new ort.Tensor('float32', new Float32Array(2 * 128), [2, 1, 128]);
  const seen = new Float32Array(context + chunk);
  const found = [];
  for (let start = 0; start + chunk <= samples.length; start += chunk) {
    seen.copyWithin(0, chunk);
    seen.set(Float32Array.from(samples.subarray(start, start + chunk), (sample) => sample / 32768), context);
    const { output, stateN } = await session.run({ input: new ort.Tensor('float32', seen.slice(), [1, seen.length]), state, sr });
    found.push(Number(output.data[0].toPrecision(9)));
    state = stateN;
  }
  return found;
}

const [model, ...recordings] = process.argv.slice(2);
const session = await ort.InferenceSession.create(model);
const lines = [];
for (const path of recordings)
  lines.push(`${JSON.stringify(basename(path))}: ${JSON.stringify(await probabilities(session, readSamples(path)))}`);
console.log(`{\n${lines.join(',\n')}\n}`);
