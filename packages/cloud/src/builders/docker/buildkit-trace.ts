/** What BuildKit says of the steps of a build, as the engine passes it on: a protobuf message in base64. */
export class BuildkitTrace {
  /** The steps seen so far, in order, with what was told of them. */
  readonly #steps = new Map<string, { readonly number: number; readonly told: Set<string> }>()

  /** Takes a message; gives lines in the manner of BuildKit's own plain progress. */
  read(base64: string): string {
    let text = ''
    for (const [field, value] of fieldsOf(Buffer.from(base64, 'base64'))) {
      if (typeof value === 'number') continue
      if (field === 1) text += this.#step(value)
      if (field === 3) text += logOf(value)
    }
    return text
  }

  /** Vertex: 1 digest, 3 name, 4 cached, 5 started, 7 error. */
  #step(message: Uint8Array): string {
    const fields = new Map(fieldsOf(message))
    const digest = textOf(fields.get(1))
    const step = this.#steps.get(digest) ?? { number: this.#steps.size + 1, told: new Set<string>() }
    this.#steps.set(digest, step)
    let text = ''
    const tell = (what: string, line: string): void => {
      if (step.told.has(what)) return
      step.told.add(what)
      text += `#${step.number} ${line}\n`
    }
    if (fields.has(5)) tell('name', textOf(fields.get(3)))
    if (fields.get(4) === 1) tell('cached', 'CACHED')
    if (fields.has(7)) tell('error', `ERROR: ${textOf(fields.get(7))}`)
    return text
  }
}

/** VertexLog: 4 msg. */
function logOf(message: Uint8Array): string {
  return textOf(new Map(fieldsOf(message)).get(4))
}

function textOf(value: Uint8Array | number | undefined): string {
  return value === undefined || typeof value === 'number' ? '' : Buffer.from(value).toString()
}

/** The fields of a protobuf message: numbers, and everything with a length as bytes. A torn message ends where it is torn. */
function fieldsOf(bytes: Uint8Array): readonly (readonly [number, Uint8Array | number])[] {
  const fields: (readonly [number, Uint8Array | number])[] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let scale = 1; at < bytes.length; scale *= 128) {
      const byte = bytes[at] ?? 0
      at += 1
      value += (byte & 127) * scale
      if (byte < 128) break
    }
    return value
  }
  while (at < bytes.length) {
    const key = varint()
    const field = Math.floor(key / 8)
    const type = key % 8
    if (type === 0) fields.push([field, varint()])
    else if (type === 2) {
      const length = varint()
      if (at + length > bytes.length) break
      fields.push([field, bytes.subarray(at, at + length)])
      at += length
    } else if (type === 1) at += 8
    else if (type === 5) at += 4
    else break
  }
  return fields
}
