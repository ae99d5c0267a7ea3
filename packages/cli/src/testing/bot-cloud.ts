import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RunningCloud, startCloud } from '@botcli/cloud'
import { onTestFinished } from 'vitest'
import { ownProgram } from '../own-program.ts'
import { folderWith } from './folder.ts'

const NOBODY = { info: () => {}, warn: () => {}, error: () => {} }

/** A real cloud that builds bundles and really runs bots. */
export class BotCloud {
  readonly #cloud: RunningCloud
  readonly #home: string

  private constructor(cloud: RunningCloud, home: string) {
    this.#cloud = cloud
    this.#home = home
  }

  /** Starts one that is gone after the test, with all its bots. */
  static async start(): Promise<BotCloud> {
    const folder = await folderWith({ 'data/cloud.json': '{"builds":{"builders":["native"]}}' })
    const cloud = await startCloud({
      ...{ dataFolder: join(folder, 'data'), host: '127.0.0.1', port: 0, log: NOBODY, version: '0.0.0' },
      runner: ownProgram(),
    })
    onTestFinished(() => cloud.close({ deadlineMs: 0, endAgents: true }))
    const { privateKey: key, publicKey } = cloud.firstKeys ?? { privateKey: '', publicKey: '' }
    const home = await folderWith({ '.config/botcli/.keep': '' })
    const credentials = join(home, '.config/botcli/credentials.json')
    await writeFile(credentials, JSON.stringify({ url: cloud.url, key, publicKey }), { mode: 0o600 })
    return new BotCloud(cloud, home)
  }

  get url(): string {
    return this.#cloud.url
  }

  /** Variables of somebody who is signed in. */
  get env(): Readonly<Record<string, string>> {
    return { HOME: this.#home }
  }
}
