import { expect, it } from 'vitest'
import type { BundleManifest } from '../../builders/native/bundle.ts'
import { bundleCommand } from './bundle-command.ts'

const PYTHON = { path: '.venv/bin/python', version: '3.11.2', base: '/usr/bin/python3' }

function manifest(command: readonly string[], changes: Partial<BundleManifest> = {}): BundleManifest {
  return {
    ...{ version: 1, buildId: crypto.randomUUID(), language: 'python', python: PYTHON, node: null, env: {} },
    ...{ entry: 'app/server/bot.py', workdir: 'app/server', command: [...command] },
    ...changes,
  }
}

it.each([
  [['botcli', 'run', 'bot.py'], ['/b/app/server/bot.py']],
  [
    ['/usr/bin/botcli', 'run', '--host', '0.0.0.0', './bot.py', '--dialin'],
    ['--host', '0.0.0.0', '/b/app/server/bot.py', '--dialin'],
  ],
  [
    ['botcli', 'run', '--whatsapp'],
    ['/b/app/server/bot.py', '--whatsapp'],
  ],
  [['botcli', 'run', '.'], ['.']],
  [['python', 'bot.py', '--verbose'], ['/b/app/server/bot.py']],
  [[], ['/b/app/server/bot.py']],
])('%j runs %j', (command, words) => {
  expect(bundleCommand('/b', manifest(command))).toEqual(['run', ...words, '--python', '/b/.venv/bin/python'])
})

it('leaves the choice of Python to whoever made one, and has none for JavaScript', () => {
  const chosen = ['botcli', 'run', 'bot.py', '--python=python3.12']
  expect(bundleCommand('/b', manifest(chosen))).toEqual([
    ...['run', '/b/app/server/bot.py', '--python=python3.12'],
  ])
  const node = manifest(['botcli', 'run', 'bot.ts'], { entry: 'app/bot.ts', workdir: 'app', python: null })
  expect(bundleCommand('/b', node)).toEqual(['run', '/b/app/bot.ts'])
})
