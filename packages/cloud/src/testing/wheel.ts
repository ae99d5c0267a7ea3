import { createHash } from 'node:crypto'

/** A Python package as a wheel, made of nothing but text, so that tests need no index. */
export function wheel(name: string, modules: Readonly<Record<string, string>>, scripts = ''): Uint8Array {
  const info = `${name}-1.0.dist-info`
  const files = {
    ...modules,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    ...(scripts === '' ? {} : { [`${info}/entry_points.txt`]: `[console_scripts]\n${scripts}\n` }),
  }
  const record = Object.entries(files)
    .map(
      ([path, text]) =>
        `${path},sha256=${createHash('sha256').update(text).digest('base64url')},${Buffer.byteLength(text)}\n`,
    )
    .join('')
  return zip({ ...files, [`${info}/RECORD`]: `${record}${info}/RECORD,,\n` })
}

/** The name of the file of such a wheel. */
export function wheelFile(name: string): string {
  return `${name}-1.0-py3-none-any.whl`
}

/** A zip archive without compression. */
function zip(files: Readonly<Record<string, string>>): Uint8Array {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [path, text] of Object.entries(files)) {
    const name = Buffer.from(path)
    const data = Buffer.from(text)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x21, 8)
    common.writeUInt32LE(checksum(data), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(data.length, 18)
    common.writeUInt16LE(name.length, 22)
    parts.push(Buffer.from('PK\x03\x04'), common, name, data)
    const entry = Buffer.alloc(46)
    entry.write('PK\x01\x02', 0, 'latin1')
    entry.writeUInt16LE(20, 4)
    common.copy(entry, 6)
    entry.writeUInt32LE(offset, 42)
    directory.push(entry, name)
    offset += 4 + common.length + name.length + data.length
  }
  const index = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(Object.keys(files).length, 8)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(index.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, index, end])
}

function checksum(data: Buffer): number {
  let value = 0xffffffff
  for (const byte of data) {
    value ^= byte
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0)
  }
  return (value ^ 0xffffffff) >>> 0
}
