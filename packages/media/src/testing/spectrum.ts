/** The loudest frequency of a piece of sound, by a windowed correlation in steps of 10 Hz. */
export function loudestHertz(samples: Int16Array, rate: number, from = 100, to = 3000): number {
  let best = { hertz: 0, power: -1 }
  for (let hertz = from; hertz <= to; hertz += 10) {
    const power = powerAt(samples, hertz, rate)
    if (power > best.power) best = { hertz, power }
  }
  return best.hertz
}

/** Amplitude of one frequency in a piece of sound. */
export function amplitudeAt(samples: Int16Array, hertz: number, rate: number): number {
  return Math.sqrt(powerAt(samples, hertz, rate))
}

function powerAt(samples: Int16Array, hertz: number, rate: number): number {
  let re = 0
  let im = 0
  let weight = 0
  samples.forEach((sample, index) => {
    const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / samples.length)
    const angle = (2 * Math.PI * hertz * index) / rate
    re += window * sample * Math.cos(angle)
    im += window * sample * Math.sin(angle)
    weight += window
  })
  return weight === 0 ? 0 : (4 * (re * re + im * im)) / (weight * weight)
}
