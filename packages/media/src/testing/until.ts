/** Waits until something is so, and says what it waited for when it never is. */
export async function until(what: string, isSo: () => boolean, limitMs = 10_000): Promise<void> {
  const deadline = Date.now() + limitMs
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`waited ${limitMs} ms in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
