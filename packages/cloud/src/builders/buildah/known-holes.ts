import { realpath } from 'node:fs/promises'
import { join, posix, sep } from 'node:path'
import type { CheckedDockerfile } from '../dockerfile/check.ts'
import { readSteps, type Step } from '../dockerfile/step.ts'
import { type FailedResult, failed } from '../failures/classify.ts'

/** From here on, a bind mount cannot leave what it is taken from (CVE-2024-1753). */
const BIND_FIXED = '1.35.1'
/** From here on, a cache mount cannot leave the folder of the caches (CVE-2024-9675). */
const CACHE_FIXED = '1.37.4'
/** The only options that are taken for harmless before. */
const BIND_OPTIONS = /^(?:type|source|target|ro|readonly)$/
const CACHE_OPTIONS = /^(?:type|id|target|sharing|mode|uid|gid|ro|readonly)$/
/** Options of a RUN with quotes, escapes or variables: buildah sees in them something else than is written. */
const NOT_PLAIN = /^[ \t]*(?:ONBUILD\s+)*RUN(?:[ \t]+--[^\s"'\\`$]+)*[ \t]+--\S*["'\\`$]/i
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['src', 'source'],
  ['dst', 'target'],
  ['destination', 'target'],
])
const COPY_INSTEAD = 'Use COPY --from= instead, or a newer buildah'

interface Mount {
  readonly step: Step
  /** An option that is given more than once. */
  readonly twice: string | undefined
  readonly options: ReadonlyMap<string, string>
}

interface Hole {
  readonly what: string
  /** Without a full stop. */
  readonly hint: string
  /** The first version without it. */
  readonly fixed: string
}

/** Whether a version, compared number by number, comes before another. */
export function isBefore(version: string, other: string): boolean {
  const [left, right] = [version, other].map((text) =>
    (text.match(/^[\d.]+/)?.[0] ?? '').split('.').map(Number),
  )
  for (let at = 0; at < 3; at += 1) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}

/** Refuses what would let a build out into the machine, by known holes of this version of buildah. */
export async function knownHole(
  version: string,
  file: CheckedDockerfile,
  context: string,
): Promise<FailedResult | undefined> {
  if (!isBefore(version, CACHE_FIXED)) return undefined
  const odd = notPlain(file)
  if (odd !== undefined) {
    const what = 'options of RUN with quotes, escapes or variables'
    return refused(version, odd, { what, hint: 'Write them plainly', fixed: CACHE_FIXED })
  }
  const mounts = file.steps.flatMap(runOf).flatMap(mountsOf)
  for (const mount of mounts) {
    const hole = await holeOf(mount, mounts, context)
    if (hole !== undefined && isBefore(version, hole.fixed)) return refused(version, mount.step, hole)
  }
  return undefined
}

function refused(version: string, step: Step, { what, hint, fixed }: Hole): FailedResult {
  const message = `${what}: refused with buildah ${version}, for it can let a build out into the machine`
  return failed('builder_failed', message, step, `${hint}. It is safe from buildah ${fixed} on.`)
}

async function holeOf(mount: Mount, all: readonly Mount[], context: string): Promise<Hole | undefined> {
  if (mount.twice !== undefined)
    return {
      what: `RUN --mount with ${mount.twice} more than once`,
      hint: 'Give it once',
      fixed: CACHE_FIXED,
    }
  switch (mount.options.get('type') ?? 'bind') {
    case 'cache': {
      const wrong = cacheProblem(mount, all)
      return wrong === undefined ? undefined : { ...wrong, fixed: CACHE_FIXED }
    }
    case 'bind': {
      const wrong = await bindProblem(mount, context)
      return wrong === undefined ? undefined : { ...wrong, fixed: BIND_FIXED }
    }
    default:
      return undefined
  }
}

async function bindProblem({ options }: Mount, context: string): Promise<Omit<Hole, 'fixed'> | undefined> {
  if (options.has('from')) return { what: 'RUN --mount=type=bind with from=', hint: COPY_INSTEAD }
  const other = [...options.keys()].find((name) => !BIND_OPTIONS.test(name))
  if (other !== undefined || /^(?:0|f|false)$/i.test(options.get('ro') ?? options.get('readonly') ?? ''))
    return {
      what: `RUN --mount=type=bind with ${other ?? 'ro=false'}`,
      hint: 'Mount it read-only, or use COPY',
    }
  const source = options.get('source') ?? '.'
  // What is not there is for the engine to say.
  const real = await realpath(join(context, posix.resolve('/', source))).catch(() => undefined)
  const root = await realpath(context)
  if (real === undefined || real === root || real.startsWith(`${root}${sep}`)) return undefined
  return {
    what: `RUN --mount=type=bind of ${source}, which leads out of the context`,
    hint: 'Send the file itself',
  }
}

function cacheProblem(mount: Mount, all: readonly Mount[]): Omit<Hole, 'fixed'> | undefined {
  const { options } = mount
  if (options.has('from')) return { what: 'RUN --mount=type=cache with from=', hint: COPY_INSTEAD }
  const other = [...options.keys()].find((name) => !CACHE_OPTIONS.test(name))
  if (other !== undefined)
    return { what: `RUN --mount=type=cache with ${other}`, hint: 'Leave it out, or use a newer buildah' }
  const climbing = ['id', 'target'].some((name) => options.get(name)?.split('/').includes('..'))
  if (climbing)
    return { what: 'RUN --mount=type=cache with .. in its id or path', hint: 'Write it without ..' }
  const place = cachePlace(mount)
  const outer = all.find(
    (candidate) => candidate.options.get('type') === 'cache' && isInside(place, cachePlace(candidate)),
  )
  if (outer === undefined) return undefined
  // What stands in one of them may be a link, which the other would follow.
  return {
    what: `RUN --mount=type=cache inside of that of line ${outer.step.line}`,
    hint: 'Give each an id of its own',
  }
}

/** Where buildah keeps a cache, from the folder of all. */
function cachePlace({ options }: Mount): string {
  return posix.resolve('/', options.get('id') ?? options.get('target') ?? '')
}

function isInside(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === '/' ? folder : `${folder}/`)
}

function mountsOf(step: Step): readonly Mount[] {
  return step.flags
    .filter(({ name }) => name.toLowerCase() === 'mount')
    .map(({ value }) => {
      const pairs = value.split(',').map((option): readonly [string, string] => {
        const [written = '', ...rest] = option.split('=')
        const name = written.trim().toLowerCase()
        return [ALIASES.get(name) ?? name, rest.join('=').trim()]
      })
      const names = pairs.map(([name]) => name)
      const twice = names.find((name, index) => names.indexOf(name) !== index)
      return { step, twice, options: new Map(pairs) }
    })
}

/** A RUN, also one for later. */
function runOf(step: Step): readonly Step[] {
  if (step.keyword === 'RUN') return [step]
  if (step.keyword !== 'ONBUILD') return []
  return readSteps(step.rest)
    .flatMap(runOf)
    .map((inner) => ({ ...inner, text: step.text, line: step.line }))
}

function notPlain(file: CheckedDockerfile): Step | undefined {
  const lines = file.text.split(/\r?\n/)
  return file.steps.find(({ line, keyword }) => {
    if (keyword !== 'RUN' && keyword !== 'ONBUILD') return false
    const rest = lines.slice(line - 1).join('\n')
    const joined = rest.replace(/[\\`][ \t]*\n(?:[ \t]*(?:#[^\n]*)?\n)*/g, '')
    return NOT_PLAIN.test(joined)
  })
}
