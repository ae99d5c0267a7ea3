import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { instanceSettings, journalFile } from '@botcli/protocol'

// Stands for `botcli run` as an instance: it loads the bot, then listens on its socket, and keeps a journal. What it was called with is in
// the environment of the bot's code.
const settings = instanceSettings.parse(JSON.parse(readFileSync(process.env.BOTCLI_INSTANCE ?? '', 'utf8')))
const [, bot = ''] = process.argv.slice(2)
process.env.STAND_IN_ARGUMENTS = JSON.stringify(process.argv.slice(2))

function write(record: unknown): void {
  mkdirSync(settings.journal, { recursive: true })
  appendFileSync(join(settings.journal, journalFile(1)), `${JSON.stringify(record)}\n`)
}

function tell(msg: string): void {
  write({ type: 'log', line: { time: new Date().toISOString(), level: 'info', msg } })
}

process.on('SIGTERM', () => {
  tell('told to end')
  if (process.env.DEAF === undefined) process.exit(0)
})
await import(pathToFileURL(bot).href)

const server = createServer((request, response) => {
  const answer = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
  if (request.url === '/instance/events') {
    response.writeHead(200)
    response.write('{}\n')
    setInterval(() => response.write('{}\n'), 50)
  } else if (request.url === '/instance') {
    answer(200, { instanceId: settings.instanceId, pid: process.pid, sessions: [] })
  } else answer(404, { error: 'not found' })
})
server.listen(settings.socket, () => tell('ready'))
