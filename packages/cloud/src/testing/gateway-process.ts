import { GatewayHouse } from './gateway-house.ts'

// A gateway in a process of its own, so that it can be killed. Its first line says where it is and where its session's WebSocket is; a
// line on its input closes it.
const [socketPath = ''] = process.argv.slice(2)
const house = await GatewayHouse.start()
const sessionId = house.session(socketPath, ['token'])
process.stdin.once('data', async () => {
  await house.close()
  process.exit(0)
})
process.stdout.write(`${JSON.stringify({ websocketUrl: house.websocketUrl(sessionId, 'token') })}\n`)
