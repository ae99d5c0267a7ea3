/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Asks until there is an answer, and gives up after a limit.
 * @template T
 * @param {string} what named in the error
 * @param {() => T | Promise<T>} ask
 * @param {{ limitMs?: number, everyMs?: number }} [options]
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(what, ask, { limitMs = 10_000, everyMs = 20 } = {}) {
  const end = performance.now() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > end) throw new Error(`Waited ${limitMs / 1000} s for ${what}.`)
    await sleep(everyMs)
  }
}

/**
 * Gives up on a promise after a limit.
 * @template T
 * @param {string} what
 * @param {Promise<T>} promise
 * @param {number} limitMs
 * @returns {Promise<T>}
 */
export async function within(what, promise, limitMs) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${limitMs / 1000} s for ${what}.`)), limitMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
