/**
 * A line as a build prints them, about 110 characters.
 * @param {number} number
 */
export function lineOf(number) {
  const step = number % 97
  return `#${step} ${(number / 1000).toFixed(3)} Get:${number} http://deb.example.org/debian bookworm/main amd64 libpackage${step}-dev amd64 1.${step}.2-4 [${number % 1777} kB]`
}
