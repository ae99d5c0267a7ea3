import { expect, it } from 'vitest'
import { installsOnlyOwn } from './own-packages.ts'

it.each([
  ['npm install --global botcli', true],
  ['npm install @botcli/bot@0.1.0 botcli@0.1.0', true],
  ['RUN npm install --no-audit --no-fund $(ls ./botcli*.tgz 2>/dev/null || echo botcli@0.1.0)', true],
  ['RUN npm install $(ls ./botcli*.tgz) && make', false],
  ['npm install botcli-extras', false],
  ['npm install botcli zod', false],
  ['npm install', false],
  ['RUN npm install $(cat packages)', false],
  ['chown bot /app', false],
])('%j installs botcli and nothing else: %s', (command, expected) => {
  expect(installsOnlyOwn(command)).toBe(expected)
})
