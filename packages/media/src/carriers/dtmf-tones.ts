const ROWS = [697, 770, 852, 941]
const COLUMNS = [1209, 1336, 1477, 1633]
const KEYS = '123A456B789C*0#D'
/** As long as every exchange understands, with a pause that keeps two alike apart. */
const TONE_MS = 100
const PAUSE_MS = 60
const AMPLITUDE = 8000

/** The sound of phone keys, for carriers that cannot press them. */
export function dtmfTones(keys: string, rate: number): Int16Array {
  const toneSamples = (rate * TONE_MS) / 1000
  const keySamples = (rate * (TONE_MS + PAUSE_MS)) / 1000
  const known = [...keys].map((key) => KEYS.indexOf(key)).filter((index) => index >= 0)
  const samples = new Int16Array(known.length * keySamples)
  known.forEach((index, place) => {
    const row = ((ROWS[index >> 2] ?? 0) * 2 * Math.PI) / rate
    const column = ((COLUMNS[index & 3] ?? 0) * 2 * Math.PI) / rate
    for (let at = 0; at < toneSamples; at += 1) {
      samples[place * keySamples + at] = AMPLITUDE * (Math.sin(row * at) + Math.sin(column * at))
    }
  })
  return samples
}
