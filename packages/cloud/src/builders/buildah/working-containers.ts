import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'

/** A container that buildah, or podman by it, builds in. */
export interface WorkingContainer {
  readonly id: string
  /** The layer that it writes into. */
  readonly layer: string
}

const rows = z.array(z.object({ id: z.string(), layer: z.string() }))
const state = z.object({ CommonBuildOpts: z.object({ CgroupParent: z.string() }) })

/** Finds, in the files of a container storage, the containers of builds that were begun with a `--cgroup-parent`. */
export async function workingContainers(
  storage: { readonly root: string; readonly driver: string },
  cgroupParent: string,
): Promise<readonly WorkingContainer[]> {
  const folder = join(storage.root, `${storage.driver}-containers`)
  // Its files are replaced as a whole, so they are never half written. What is not there yet is empty.
  const text = await readFile(join(folder, 'containers.json'), 'utf8').catch(() => '[]')
  const own = await Promise.all(
    (rows.safeParse(JSON.parse(text)).data ?? []).map(async (container) => {
      const saved = await readFile(join(folder, container.id, 'userdata/buildah.json'), 'utf8').catch(
        () => 'null',
      )
      return state.safeParse(JSON.parse(saved)).data?.CommonBuildOpts.CgroupParent === cgroupParent
        ? [container]
        : []
    }),
  )
  return own.flat()
}
