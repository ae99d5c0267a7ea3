#!/usr/bin/env node
import * as nodeModule from 'node:module'

nodeModule.enableCompileCache?.()
const { main } = await import('../dist/main.js')
process.exit(await main(process.argv.slice(2), process))
