import { describe, expect, it } from 'vitest'
import { compareVersions, readStamp, stamped } from './stamp.ts'

describe('the first line of a guide', () => {
  const guide = stamped('# Guide\n\ntext\n', '1.2.3')

  it('says who wrote it, and how to refresh it', () => {
    expect(guide).toMatch(/^<!-- botcli 1\.2\.3 [0-9a-f]{16}: .*--overwrite-guide -->\n# Guide\n\ntext\n$/)
    expect(readStamp(guide)).toEqual({ version: '1.2.3', edited: false })
  })

  it('survives other ends of lines and the mark of some editors', () => {
    expect(readStamp(`\uFEFF${guide.replaceAll('\n', '\r\n')}`)).toEqual({ version: '1.2.3', edited: false })
  })

  it.each([[`${guide}more\n`], [guide.replace('text', 'text ')], [guide.split('\n')[0] ?? '']])(
    'tells edits: %j',
    (text) => {
      expect(readStamp(text)).toEqual({ version: '1.2.3', edited: true })
    },
  )

  it.each([['# Mine'], [''], [`\n${guide}`], ['<!-- botcli 1.2.3 -->\n']])('is not in %j', (text) => {
    expect(readStamp(text)).toBeUndefined()
  })
})

describe('versions', () => {
  it('are ordered', () => {
    const ordered = [
      '0.0.9',
      '0.1.0-alpha',
      '0.1.0-beta.2',
      '0.1.0-beta.10',
      '0.1.0',
      '0.2.0',
      '0.10.0',
      '1.0.0',
    ]
    expect(ordered.toReversed().toSorted(compareVersions)).toEqual(ordered)
  })

  it.each([
    ['1.0.0', '1.0.0+build'],
    ['1.0', '1.0.0'],
    ['x', 'x'],
  ])('%s is as old as %s', (a, b) => {
    expect(compareVersions(a, b)).toBe(0)
  })
})
