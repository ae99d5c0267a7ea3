#!/usr/bin/env node
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'

if (!existsSync(new URL('../dist/main.js', import.meta.url))) {
  process.stderr.write('botcli: This checkout is not built yet. In its root: npm ci && npm run build\n')
  process.exit(1)
}
nodeModule.enableCompileCache?.()
const { main } = await import('../dist/main.js')
process.exit(await main(process.argv.slice(2), process))
