import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CloudError } from '../../errors.ts'
import { readUploadForm } from './multipart.ts'

const TYPE = 'multipart/form-data; boundary=----x'

async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0
  for (let index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

function form(fields: readonly (readonly [string, string])[], file: Uint8Array): Buffer {
  const parts = fields.map(
    ([name, value]) => `------x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const head =
    '------x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: a/b\r\n\r\n'
  return Buffer.concat([Buffer.from(`${parts.join('')}${head}`), file, Buffer.from('\r\n------x--\r\n')])
}

it('gives the same fields and bytes, however the form is cut', async () => {
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    // What looks like the end and is not.
    fc
      .array(fc.constantFrom('\r', '\n', '\r\n', '--', '\r\n--', '\r\n----', '-', 'x'))
      .map((all) => Buffer.from(all.join('')))
      .filter((bytes) => !bytes.includes('\r\n------x')),
  )
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(content, sizes, async (file, pieces) => {
      const fields = [
        ['key', 'k'],
        ['token', 'a b\r\nc'],
      ] as const
      const read = await readUploadForm(inPieces(form(fields, file), pieces), TYPE)
      expect([...read.fields]).toEqual(fields)
      expect(await buffer(read.file)).toEqual(Buffer.from(file))
    }),
    { numRuns: 300 },
  )
})

it('refuses what ends too early, whatever the place', async () => {
  const whole = form([['key', 'k']], Buffer.from('content'))
  for (let length = 0; length < whole.length - 9; length += 1) {
    const reading = readUploadForm(inPieces(whole.subarray(0, length), [7]), TYPE).then(({ file }) =>
      buffer(file),
    )
    await expect(reading).rejects.toBeInstanceOf(CloudError)
  }
})

it('is bounded', async () => {
  const many = Array.from({ length: 30 }, (_, index) => [`f${index}`, 'x'] as const)
  const large = [['key', 'x'.repeat(10_000)]] as const
  const endless = randomBytes(100_000)
  for (const bytes of [form(many, Buffer.of()), form(large, Buffer.of()), endless]) {
    await expect(readUploadForm(inPieces(bytes, [1000]), TYPE)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    })
  }
})

it.each([
  ['multipart/form-data; boundary="----x"', true],
  ['Multipart/Form-Data; charset=utf-8; boundary=----x', true],
  ['multipart/form-data', false],
  ['multipart/form-data; boundary=', false],
  ['text/plain; boundary=----x', false],
  [undefined, false],
])('takes the boundary of %s: %s', async (type, isRight) => {
  const reading = readUploadForm(inPieces(form([], Buffer.from('a')), [9]), type).then(({ file }) =>
    buffer(file),
  )
  if (isRight) expect((await reading).toString()).toBe('a')
  else await expect(reading).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})
