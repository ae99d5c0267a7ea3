import type { BrowserTransport, Feature } from './features.ts'

/** What this module reads and writes of a `package.json`. */
export interface PackageFile {
  readonly name: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly overrides?: Readonly<Record<string, string>>
}

/** What this module reads and writes of a `package-lock.json`. */
export interface LockFile {
  readonly name: string
  readonly packages: Readonly<Record<string, LockedPackage>>
}

/** A package in a lock file, by its place under `node_modules`. */
export interface LockedPackage {
  readonly name?: string
  readonly version?: string
  readonly integrity?: string
  readonly engines?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const TRANSPORT_PACKAGES: Readonly<Record<BrowserTransport, string>> = {
  webrtc: '@pipecat-ai/small-webrtc-transport',
  websocket: '@pipecat-ai/websocket-transport',
  room: '@pipecat-ai/daily-transport',
}

/**
 * All transports bring this package along, but only rooms use it, and its newer versions ask for a newer Node than
 * the client needs. Without rooms the last version that does not ask is taken. Both depend on the same packages.
 */
const ROOM_SDK = '@daily-co/daily-js'
const ROOM_SDK_FOR_ANY_NODE = {
  version: '0.87.0',
  integrity:
    'sha512-hWHdBDvJwDeg8unz+XG9hD7xamuFi5Jmsk89ASATKL4fdTDHplpxi4PG9aaPXzBZYYLTjuxUje1K7B5uUR+gzw==',
  engines: { node: '>=10.0.0' },
}

/** The `package.json` of a project, out of the one with all transports. */
export function projectPackage(
  template: PackageFile,
  name: string,
  features: ReadonlySet<Feature>,
): PackageFile {
  const overrides = {
    ...template.overrides,
    ...(features.has('room') ? {} : { [ROOM_SDK]: ROOM_SDK_FOR_ANY_NODE.version }),
  }
  return {
    ...template,
    name,
    dependencies: chosen(template.dependencies, features),
    ...(Object.keys(overrides).length === 0 ? {} : { overrides }),
  }
}

/** The lock file that belongs to it: what is not needed any more is left out. */
export function projectLock(template: LockFile, project: PackageFile): LockFile {
  const { dependencies, devDependencies, name } = project
  const root: LockedPackage = { ...template.packages[''], name, dependencies, devDependencies }
  const all = Object.entries({ ...template.packages, '': root }).map(([place, found]) => {
    const replaced = project.overrides?.[ROOM_SDK] !== undefined && place === `node_modules/${ROOM_SDK}`
    return [place, replaced ? { ...found, ...ROOM_SDK_FOR_ANY_NODE } : found] as const
  })
  const used = usedPlaces(new Map(all))
  return { ...template, name, packages: Object.fromEntries(all.filter(([place]) => used.has(place))) }
}

/** The places of a lock file that its root reaches. */
export function usedPlaces(packages: ReadonlyMap<string, LockedPackage>): ReadonlySet<string> {
  const used = new Set<string>()
  const waiting = ['']
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const found = packages.get(place)
    if (found === undefined || used.has(place)) continue
    used.add(place)
    const { dependencies, devDependencies, optionalDependencies, peerDependencies } = found
    const wanted = { ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies }
    for (const name of Object.keys(wanted)) waiting.push(placeOf(packages, place, name) ?? '')
  }
  return used
}

/** Where Node would find a package: beside the one that asks, or in a folder above. */
function placeOf(
  packages: ReadonlyMap<string, LockedPackage>,
  from: string,
  name: string,
): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (packages.has(place)) return place
    if (folder === '') return undefined
  }
}

function chosen(
  dependencies: Readonly<Record<string, string>>,
  features: ReadonlySet<Feature>,
): Readonly<Record<string, string>> {
  const left = (Object.keys(TRANSPORT_PACKAGES) as BrowserTransport[]).filter((id) => !features.has(id))
  const names = left.map((id) => TRANSPORT_PACKAGES[id])
  return Object.fromEntries(Object.entries(dependencies).filter(([name]) => !names.includes(name)))
}
