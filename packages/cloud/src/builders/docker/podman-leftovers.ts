import { readdir, readFile, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { workingContainers } from '../buildah/working-containers.ts'
import { killAll } from '../limits/processes.ts'
import { EngineClient } from './engine-client.ts'

const API = '/v4.0.0/libpod'
const CGROUPS = '/sys/fs/cgroup'
const info = z.object({ store: z.object({ graphDriverName: z.string(), graphRoot: z.string() }) })

/** The control group of a build, by which its processes and containers are known. A slice, for podman under systemd takes nothing else. */
export function podmanMark(buildId: string): string {
  return `botcli-${buildId.replaceAll('-', '')}.slice`
}

/** Ends and removes what podman leaves of a build: it goes on with a command whose client is gone, and keeps its container. */
export class PodmanLeftovers {
  readonly #engine: EngineClient

  constructor(socketPath: string) {
    this.#engine = new EngineClient(socketPath)
  }

  async remove(buildId: string): Promise<void> {
    const mark = podmanMark(buildId)
    const groups = new Set<string>()
    await killAll(async () => await processesIn(mark, groups))
    const { body } = await this.#engine.ask({ method: 'GET', path: `${API}/info` })
    const found = info.safeParse(body)
    if (found.success) {
      const { graphRoot: root, graphDriverName: driver } = found.data.store
      for (const { id } of await workingContainers({ root, driver }, mark))
        await this.#engine.ask({
          method: 'DELETE',
          path: `${API}/containers/${id}`,
          query: { force: 'true' },
        })
    }
    for (const group of groups) await removeEmpty(group)
  }
}

/** The processes in a control group of that name, and where the group is. */
async function processesIn(mark: string, groups: Set<string>): Promise<readonly number[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
      for (const [, controllers = '', path = ''] of text.matchAll(/^\d+:([^:]*):(.*)$/gm)) {
        const end = path.indexOf(`/${mark}`)
        if (end === -1) continue
        const mount = controllers === '' ? '' : (controllers.replace('name=', '').split(',')[0] ?? '')
        groups.add(join(CGROUPS, mount, path.slice(0, end), mark))
      }
      return text.includes(`/${mark}`) ? [Number(pid)] : []
    }),
  )
  return found.flat()
}

async function removeEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(folder, entry.name))
  await rmdir(folder).catch(() => undefined)
}
