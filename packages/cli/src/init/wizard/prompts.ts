import { ScaffoldError } from '@botcli/scaffold'
import * as clack from '@clack/prompts'
import type { Terminal } from '../terminal.ts'

/** The answer of somebody who wants to go back to the question before. */
export const BACK = Symbol('back')

/** One of several answers. */
export interface Item<T> {
  readonly value: T
  readonly label: string
  readonly hint?: string
}

const ESCAPE = 'escape'
const ROWS = 10
const UNKNOWN_SIZE = { columns: 80, rows: 24 }

/**
 * Questions on a terminal. Esc answers {@link BACK}; Ctrl-C, a signal and a terminal that goes away throw a
 * {@link ScaffoldError} of the code `cancelled`.
 */
export class Prompts {
  readonly #common: { readonly input: Terminal['input']; readonly output: Terminal['output'] }
  readonly #abort = new AbortController()
  readonly #signal: AbortSignal
  readonly #onGone = (): void => this.#abort.abort()
  readonly #onKey = (_text: string | undefined, key: { readonly name?: string } | undefined): void => {
    this.#lastKey = key?.name
  }
  #lastKey: string | undefined

  constructor({ input, output }: Terminal, signal: AbortSignal) {
    // A terminal that does not tell its size has none, and every letter would get a line of its own.
    if ('columns' in output && output.columns === 0) Object.assign(output, UNKNOWN_SIZE)
    this.#common = { input, output }
    this.#signal = AbortSignal.any([signal, this.#abort.signal])
    // It has to hear of a key before the question does, which ends with it.
    input.prependListener('keypress', this.#onKey)
    input.on('end', this.#onGone)
    input.on('error', this.#onGone)
  }

  close(): void {
    const { input, output } = this.#common
    output.write('\n')
    input.off('keypress', this.#onKey)
    input.off('end', this.#onGone)
    input.off('error', this.#onGone)
  }

  begin(title: string): void {
    clack.intro(title, this.#common)
  }

  /** A remark between two questions. */
  say(text: string): void {
    clack.log.info(text, this.#common)
  }

  warn(text: string): void {
    clack.log.warn(text, this.#common)
  }

  /** Lines without anything in front of them, so that they can be copied. */
  show(lines: readonly string[]): void {
    this.#common.output.write(`\n${lines.map((line) => `${line}\n`).join('')}\n`)
  }

  /** A text; Enter alone gives the suggestion. */
  async text(
    message: string,
    { suggestion, check }: { readonly suggestion: string; check(text: string): string | undefined },
  ): Promise<string | typeof BACK> {
    const validate = (text: string | undefined): string | undefined => check(text || suggestion)
    return this.#ask((common) =>
      clack.text({ ...common, message, placeholder: suggestion, defaultValue: suggestion, validate }),
    )
  }

  async select<T extends string>(
    message: string,
    items: readonly Item<T>[],
    initial: T | undefined,
  ): Promise<T | typeof BACK> {
    return this.#ask<string>((common) =>
      clack.select<string>({
        ...common,
        message,
        options: [...items],
        maxItems: ROWS,
        ...(initial === undefined ? {} : { initialValue: initial }),
      }),
    ).then((answer) => this.#oneOf(items, answer))
  }

  /** A long list that gets shorter as one types. */
  async filter<T extends string>(
    message: string,
    items: readonly Item<T>[],
    initial: T | undefined,
  ): Promise<T | typeof BACK> {
    return this.#ask<string>((common) =>
      clack.autocomplete<string>({
        ...common,
        message,
        options: [...items],
        maxItems: ROWS,
        placeholder: 'type to filter',
        validate: (chosen) => (chosen === undefined ? 'Nothing is called that.' : undefined),
        ...(initial === undefined ? {} : { initialValue: initial }),
      }),
    ).then((answer) => this.#oneOf(items, answer))
  }

  async several<T extends string>(
    message: string,
    items: readonly Item<T>[],
    { initial, required }: { readonly initial: readonly T[]; readonly required: boolean },
  ): Promise<readonly T[] | typeof BACK> {
    const answer = await this.#ask<string[]>((common) =>
      clack.multiselect<string>({
        ...common,
        message,
        options: [...items],
        maxItems: ROWS,
        required,
        initialValues: [...initial],
      }),
    )
    if (answer === BACK) return BACK
    return items.map(({ value }) => value).filter((value) => answer.includes(value))
  }

  async confirm(message: string, initial: boolean): Promise<boolean | typeof BACK> {
    return this.#ask((common) => clack.confirm({ ...common, message, initialValue: initial }))
  }

  async #ask<T>(
    ask: (common: clack.CommonOptions) => Promise<T | typeof clack.CANCEL_SYMBOL>,
  ): Promise<T | typeof BACK> {
    this.#lastKey = undefined
    // A question never stops listening to its signal, so that each has one of its own.
    const own = new AbortController()
    const stop = (): void => own.abort()
    if (this.#signal.aborted) stop()
    this.#signal.addEventListener('abort', stop)
    const answer = await ask({ ...this.#common, signal: own.signal }).finally(() =>
      this.#signal.removeEventListener('abort', stop),
    )
    if (!clack.isCancel(answer)) return answer
    if (this.#lastKey === ESCAPE && !this.#signal.aborted) return BACK
    throw new ScaffoldError('cancelled', 'Cancelled. Nothing was written.')
  }

  /** The answer as one of the values; clack gives back nothing else. */
  #oneOf<T extends string>(items: readonly Item<T>[], answer: string | typeof BACK): T | typeof BACK {
    return items.find(({ value }) => value === answer)?.value ?? BACK
  }
}
