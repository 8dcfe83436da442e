const SAMPLE_RATE = 16_000;
const BYTES_PER_SAMPLE = 2;
const HEADER_BYTES = 44;
const MONO = 1;
const PCM = 1;
const HERTZ = 440;

/** A mono 16-bit recording of one steady tone: a real RIFF file. */
export function sineWav({ seconds }: { readonly seconds: number }): Buffer {
  const samples = Math.round(seconds * SAMPLE_RATE);
  const wav = Buffer.alloc(HEADER_BYTES + samples * BYTES_PER_SAMPLE);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(PCM, 20);
  wav.writeUInt16LE(MONO, 22);
  wav.writeUInt32LE(SAMPLE_RATE, 24);
  wav.writeUInt32LE(SAMPLE_RATE * BYTES_PER_SAMPLE, 28);
  wav.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  wav.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(samples * BYTES_PER_SAMPLE, 40);
  for (let at = 0; at < samples; at++) {
    const level = Math.sin((2 * Math.PI * HERTZ * at) / SAMPLE_RATE);
    wav.writeInt16LE(Math.round(level * 0x3fff), HEADER_BYTES + at * BYTES_PER_SAMPLE);
  }
  return wav;
}
