/** Whether text consists of 1 to 64 keys of a telephone: `0`-`9`, `*`, `#`, `A`-`D`. */
export function isKeys(text: string): boolean {
  return /^[0-9A-D*#]{1,64}$/.test(text)
}
