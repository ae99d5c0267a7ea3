import type { BaseImage } from '../builder.ts'
import type { CheckedDockerfile } from './check.ts'
import { referencesOf, stageNamed } from './stages.ts'

/** What a builder calls an image that it has; nothing if it has none of that name. */
export type ImageId = (name: string) => Promise<string | null>

/** The images that a container build file is made of, as a builder has them now. */
export async function basesOf(file: CheckedDockerfile, idOf: ImageId): Promise<readonly BaseImage[]> {
  const bases: BaseImage[] = []
  for (const name of baseNames(file)) bases.push({ name, id: await idOf(name) })
  return bases
}

/** Whether names stand for what they stood for then. One that could not be told then is taken for another. */
export async function basesAreSame(bases: readonly BaseImage[], idOf: ImageId): Promise<boolean> {
  for (const { name, id } of bases) {
    if (id === null || (await idOf(name)) !== id) return false
  }
  return true
}

/** Names of images, not of stages, that the needed stages begin with or take files from. */
function baseNames({ needed, stages }: CheckedDockerfile): ReadonlySet<string> {
  const names = new Set<string>()
  for (const stage of needed) {
    const before = stages.slice(0, stage.index)
    for (const name of [stage.base ?? stage.from.rest, ...referencesOf(stage).map(({ from }) => from)]) {
      if (name !== 'scratch' && stageNamed(before, name) === undefined) names.add(name)
    }
  }
  return names
}
