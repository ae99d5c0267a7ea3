import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Child } from '../children.mjs'
import { Server } from '../servers.mjs'

const SCRIPT = fileURLToPath(new URL('serve.mjs', import.meta.url))

/** The whole cloud in a process of its own. */
export class CloudServer extends Server {
  /**
   * @param {string} data its folder
   * @param {{ organizationId: string, privateKey: string }} [known] the keys of its first start
   */
  static async start(data, known) {
    const child = new Child(SCRIPT, [data], { ipc: true })
    const { url, ...keys } = await child.line((line) => JSON.parse(line))
    const server = new CloudServer(child, url)
    server.keys = known ?? keys
    return server
  }

  /**
   * @param {string} address
   * @param {RequestInit} [init]
   */
  async ask(address, init = {}) {
    const headers = { authorization: `Bearer ${this.keys.privateKey}` }
    const response = await fetch(this.url + address, {
      ...init,
      headers,
      signal: AbortSignal.timeout(60_000),
    })
    if (!response.ok) throw new Error(`${address}: ${response.status} ${await response.text()}`)
    return response
  }

  /** Uploads a context and has it built; the builder waits for `tick`. */
  async createBuild() {
    const post = async (address, body) =>
      (await this.ask(address, { method: 'POST', body: JSON.stringify(body) })).json()
    const { uploadId, uploadUrl, uploadFields } = await post('/v1/builds/upload-url', { region: 'local' })
    const form = new FormData()
    for (const [name, value] of Object.entries(uploadFields)) form.append(name, value)
    form.append('file', new Blob([context()]), 'context.tar.gz')
    const uploaded = await fetch(uploadUrl, { method: 'POST', body: form })
    if (!uploaded.ok) throw new Error(`The upload was refused: ${await uploaded.text()}`)
    const { build } = await post('/v1/builds', { uploadId, region: 'local' })
    return build.id
  }

  /**
   * Has the build print.
   * @param {{ count: number, everyMs: number }} options
   */
  tick(options) {
    this.child.channel.send(options)
  }
}

/** A packed context; of which file does not matter, because the builder does not look at it. */
function context() {
  return execFileSync('tar', ['-cz', '-C', import.meta.dirname, 'line.mjs'])
}
