import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { spawnAlone } from '../builders/limits/spawn-alone.ts'

// Tells which descriptors its children get, by an ordinary way and by ours.
async function shown(output: Readable | null): Promise<readonly string[]> {
  const lines = output === null ? '' : await text(output)
  return [...lines.matchAll(/(\d+) -> (pipe|socket|\/dev\/null)/g)].map(
    ([, descriptor, what]) => `${descriptor} ${what === '/dev/null' ? 'null' : 'open'}`,
  )
}

const argv = ['ls', '-l', '/proc/self/fd']
const plain = await shown(spawn('ls', argv.slice(1)).stdout)
const alone = await shown(spawnAlone(spawn, argv, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] }).stdout)
process.stdout.write(JSON.stringify({ plain, alone }))
