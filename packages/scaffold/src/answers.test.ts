import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answersFile, isAnswers, readAnswers } from './answers.ts'
import { configurationFields } from './options/fields.ts'
import { QUICKSTART_CONFIGURATION } from './resolve/quickstart.ts'
import { anyConfiguration } from './testing/arbitrary.ts'

describe('the answers of a project', () => {
  it('have the version, the configuration in the words of the config file, and the hash of each file', () => {
    const bytes = Buffer.from('bot\n')
    const file = answersFile({ version: '0.1.0', configuration: QUICKSTART_CONFIGURATION, files: {} }, [
      { path: 'server/bot.py', bytes },
      { path: 'README.md', bytes: Buffer.from('') },
    ])
    expect(file.path).toBe('.botcli.json')
    expect(file.content.endsWith('}\n')).toBe(true)
    const content = JSON.parse(file.content)
    expect(content).toEqual({
      version: '0.1.0',
      configuration: configurationFields(QUICKSTART_CONFIGURATION),
      files: {
        'README.md': createHash('sha256').digest('hex'),
        'server/bot.py': createHash('sha256').update(bytes).digest('hex'),
      },
    })
    expect(Object.keys(content.files)).toEqual(['README.md', 'server/bot.py'])
  })

  it('are read back', () => {
    fc.assert(
      fc.property(anyConfiguration, (configuration) => {
        const { content } = answersFile({ version: '1.2.3', configuration, files: { c: 'd' } }, [
          { path: 'a', bytes: Buffer.from('b') },
        ])
        expect(readAnswers(content)).toMatchObject({
          version: '1.2.3',
          configuration,
          files: { a: expect.any(String), c: 'd' },
        })
        expect(isAnswers(content)).toBe(true)
      }),
    )
  })

  it.each([[''], ['[]'], ['{}'], ['{"version":"1","configuration":[],"files":{}}'], ['null']])(
    'are not in %j',
    (text) => {
      expect(readAnswers(text)).toBeUndefined()
      expect(isAnswers(text)).toBe(false)
    },
  )

  it('of another version are known as answers, even if they cannot be understood', () => {
    const text = '{"version":"9.0.0","configuration":{"new_field":1},"files":{}}'
    expect(readAnswers(text)).toBeUndefined()
    expect(isAnswers(text)).toBe(true)
  })
})
