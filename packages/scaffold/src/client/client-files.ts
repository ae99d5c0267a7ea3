import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Configuration } from '../configuration.ts'
import { PACKAGE_ROOT } from '../package-root.ts'
import type { PlannedFile } from '../plan.ts'
import { type ClientKind, clientFeatures, clientKind, type Feature } from './features.ts'
import { type LockFile, type PackageFile, projectLock, projectPackage } from './packages.ts'
import { withFeatures, withTitle } from './template.ts'

const TEMPLATES = join(PACKAGE_ROOT, 'templates/client')

/** The folders of templates that make up a client; later ones add to earlier ones. */
const LAYERS: Readonly<Record<ClientKind, readonly string[]>> = {
  'react-vite': ['shared', 'react', 'react-vite'],
  'react-nextjs': ['shared', 'react', 'react-nextjs'],
  vanilla: ['shared', 'vanilla'],
}

/** Files that are there only with a feature. */
const NEEDED: Readonly<Record<string, readonly Feature[]>> = {
  'src/videos.tsx': ['video'],
  'src/camera.tsx': ['camera'],
  'src/talk/transports/webrtc.ts': ['webrtc'],
  'src/talk/transports/websocket.ts': ['websocket'],
  'src/talk/transports/room.ts': ['room'],
  'src/talk/no-rooms.ts': ['noRoom'],
  'src/talk/local-media.ts': ['webrtc', 'websocket'],
  'src/talk/streamed-media.ts': ['websocket'],
  'src/talk/microphone-capture.ts': ['websocket'],
  'src/talk/pcm-player.ts': ['websocket'],
}

/** Files that packaging and git would not leave alone under their real names. */
const RENAMED: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  'env.example': '.env.example',
}

interface TemplateFile {
  readonly path: string
  readonly text: string
}

/** Everything under `client/`, or nothing for a project without a client. */
export function clientFiles(configuration: Configuration): readonly PlannedFile[] {
  const kind = clientKind(configuration)
  if (kind === undefined) return []
  const features = clientFeatures(configuration)
  const templates = LAYERS[kind].flatMap((layer) => layerFiles(layer))
  const project = projectPackage(
    parsed<PackageFile>(templates, 'package.json'),
    `${configuration.names.npm}-client`,
    features,
  )
  const lock = projectLock(parsed<LockFile>(templates, 'package-lock.json'), project)
  const written = new Map<string, string>([
    ['package.json', json(project)],
    ['package-lock.json', json(lock)],
  ])
  return templates
    .filter(({ path }) => NEEDED[path]?.some((feature) => features.has(feature)) ?? true)
    .map(({ path, text }) => ({
      path: `client/${RENAMED[path] ?? path}`,
      content: written.get(path) ?? withTitle(withFeatures(text, features), path, configuration.names.title),
    }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

function layerFiles(layer: string): readonly TemplateFile[] {
  const root = join(TEMPLATES, layer)
  return (
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => ({ file, path: relative(root, file).split(sep).join('/') }))
      // Of a template that somebody tries out here. Where we are installed, all is under such a folder.
      .filter(({ path }) => !path.split('/').includes('node_modules'))
      .map(({ file, path }) => ({ path, text: readFileSync(file, 'utf8') }))
  )
}

function parsed<Shape>(templates: readonly TemplateFile[], path: string): Shape {
  const found = templates.find((template) => template.path === path)
  return JSON.parse(found?.text ?? '{}') as Shape
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
