import { describe, expect, it } from 'vitest'
import { call, named, pythonString, statement } from './expression.ts'
import { Imports } from './imports.ts'

describe('a statement', () => {
  const long = named('key', `"${'x'.repeat(60)}"`)

  it('is one line where that fits', () => {
    expect(statement(4, 'a = ', call('F', [named('key', '1'), { value: '**rest' }]))).toBe(
      '    a = F(key=1, **rest)',
    )
    const exact = `"${'x'.repeat(100 - 4 - 'a = F()'.length - 2)}"`
    expect(statement(4, 'a = ', call('F', [{ value: exact }]))).toHaveLength(100)
  })

  it('has an argument a line where it does not, and inside of it the same', () => {
    const inner = call('G', [long, named('other', '2')])
    expect(statement(0, 'a = ', call('F', [named('inner', inner), long]), ',')).toBe(
      `a = F(\n    inner=G(key="${'x'.repeat(60)}", other=2),\n    key="${'x'.repeat(60)}",\n),`,
    )
    expect(statement(4, 'a = ', call('F', [named('inner', call('G', [long, long]))]))).toContain(
      `\n        inner=G(\n            key=`,
    )
  })

  it('counts what comes after it', () => {
    const value = call('F', [{ value: `"${'x'.repeat(100 - 'a = F()'.length - 2)}"` }])
    expect(statement(0, 'a = ', value).split('\n')).toHaveLength(1)
    expect(statement(0, 'a = ', value, ',').split('\n')).toHaveLength(3)
  })
})

it('quotes text', () => {
  expect(pythonString('a"b\\c\nd')).toBe('"a\\"b\\\\c\\nd"')
})

it('sorts imports as linters want them', () => {
  const imports = new Imports()
    .from('settings', 'required', 'MissingSettings', 'LIMIT')
    .from('pipecat.frames.frames', 'LLMRunFrame')
    .from('botcli', 'main')
    .from('botcli', 'create_transport', 'RunnerArguments')
    .module('aiohttp')
    .from('typing', 'Any')
    .module('asyncio')
  expect(imports.render()).toBe(`import asyncio
from typing import Any

import aiohttp
from botcli import RunnerArguments, create_transport, main
from pipecat.frames.frames import LLMRunFrame

from settings import LIMIT, MissingSettings, required
`)
})
