/** Text of which a log shows the beginning. It is cut after it was cleaned, so that no part of a secret is left over. */
export class Excerpt {
  readonly #text: string
  readonly #limit: number

  constructor(text: string, limit: number) {
    this.#text = text
    this.#limit = limit
  }

  /** The beginning of what `clean` leaves of the text. */
  cut(clean: (text: string) => string): string {
    return clean(this.#text).slice(0, this.#limit)
  }
}
