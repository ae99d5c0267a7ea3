import { transformSync } from 'esbuild'
import { describe, expect, it } from 'vitest'
import type { Configuration } from '../configuration.ts'
import { clientConfiguration } from '../testing/client-configuration.ts'
import { clientFiles } from './client-files.ts'
import { CLIENT_KINDS, type ClientKind } from './features.ts'
import { type LockFile, type PackageFile, usedPlaces } from './packages.ts'

const PACKAGES = {
  webrtc: '@pipecat-ai/small-webrtc-transport',
  websocket: '@pipecat-ai/websocket-transport',
  room: '@pipecat-ai/daily-transport',
} as const
const TRANSPORTS = ['webrtc', 'websocket', 'room'] as const
const SETS = Array.from({ length: 7 }, (_, index) => TRANSPORTS.filter((_, bit) => (index + 1) & (1 << bit)))

/** Every kind of client with every set of transports, with and without video. */
const MATRIX = CLIENT_KINDS.flatMap((kind) =>
  SETS.flatMap((transports) =>
    [false, true].map((video) => ({ kind, transports, video, name: `${kind} ${transports} video=${video}` })),
  ),
)

function client(
  kind: ClientKind,
  parts: Parameters<typeof clientConfiguration>[0] = {},
): Map<string, string> {
  const [framework, server = 'vite'] = kind.split('-') as ['react', 'vite' | 'nextjs']
  const configuration = clientConfiguration({ clientFramework: framework, clientServer: server, ...parts })
  return new Map(clientFiles(configuration).map(({ path, content }) => [path, content]))
}

const SHARED_TREE = [
  '.env.example',
  '.gitignore',
  'eslint.config.js',
  'package-lock.json',
  'package.json',
  'public/icon.svg',
  'src/settings.ts',
  'src/style.css',
  'src/talk/bot-client.ts',
  'src/talk/bot-transport.ts',
  'src/talk/conversation.ts',
  'src/talk/phase.ts',
  'src/talk/problem.ts',
  'src/talk/transports.ts',
  'tsconfig.json',
]
const REACT_TREE = [
  'src/bot-page.tsx',
  'src/microphone.tsx',
  'src/talk-view.tsx',
  'src/text-form.tsx',
  'src/transcript.tsx',
  'src/transport-choice.tsx',
  'src/use-talk.ts',
]
const OWN_TREES: Record<ClientKind, readonly string[]> = {
  'react-vite': [...REACT_TREE, 'index.html', 'src/main.tsx', 'src/vite-env.d.ts', 'vite.config.ts'],
  'react-nextjs': [...REACT_TREE, 'next.config.ts', 'src/app/layout.tsx', 'src/app/page.tsx'],
  vanilla: ['index.html', 'src/main.ts', 'src/view.ts', 'src/vite-env.d.ts', 'vite.config.ts'],
}
const TRANSPORT_TREES = {
  webrtc: ['src/talk/local-media.ts', 'src/talk/no-rooms.ts', 'src/talk/transports/webrtc.ts'],
  websocket: [
    'src/talk/local-media.ts',
    'src/talk/microphone-capture.ts',
    'src/talk/no-rooms.ts',
    'src/talk/pcm-player.ts',
    'src/talk/streamed-media.ts',
    'src/talk/transports/websocket.ts',
  ],
  room: ['src/talk/transports/room.ts'],
} as const

describe('the tree of a client', () => {
  it.each(CLIENT_KINDS.flatMap((kind) => TRANSPORTS.map((transport) => [kind, transport] as const)))(
    '%s over %s has exactly its files',
    (kind, transport) => {
      const expected = [...SHARED_TREE, ...OWN_TREES[kind], ...TRANSPORT_TREES[transport]]
      const paths = [...client(kind, { transports: [transport] }).keys()]
      expect(paths).toEqual(expected.map((path) => `client/${path}`).toSorted())
    },
  )

  it('has video only where the project has video and a transport carries it', () => {
    const files = (parts: Parameters<typeof client>[1]) =>
      ['videos', 'camera'].filter((name) => client('react-vite', parts).has(`client/src/${name}.tsx`))
    expect(files({})).toEqual([])
    expect(files({ videoInput: true })).toEqual(['videos', 'camera'])
    expect(files({ videoOutput: true })).toEqual(['videos'])
    expect(files({ videoInput: true, transports: ['websocket'] })).toEqual([])
    const avatar = client('vanilla', { video: 'tavus_video' }).get('client/index.html')
    expect(avatar).toContain('id="bot-video"')
    expect(avatar).not.toContain('id="camera"')
  })

  it('is empty without a client', () => {
    const configuration: Configuration = clientConfiguration({ clientFramework: 'none' })
    expect(clientFiles(configuration)).toEqual([])
  })
})

describe.each(MATRIX)('$name', ({ kind, transports, video }) => {
  const files = client(kind, { transports, videoInput: video, videoOutput: video })
  const project = JSON.parse(files.get('client/package.json') ?? '') as PackageFile
  const lock = JSON.parse(files.get('client/package-lock.json') ?? '') as LockFile

  it('is complete text that parses', () => {
    for (const [path, content] of files) {
      expect(content, path).not.toMatch(/\{\{(title|initial)|[/*-] #(if|end)\b|\n\n\n/)
      expect(content, path).toMatch(/[^\n]\n$/)
      if (path.endsWith('.json')) JSON.parse(content)
      const loader = /\.(tsx?|js)$/.exec(path)?.[1]
      if (loader !== undefined) transformSync(content, { loader: loader as 'ts' })
    }
  })

  it('imports files that are there and packages that it depends on', () => {
    const known = Object.keys({ ...project.dependencies, ...project.devDependencies })
    for (const [path, content] of files) {
      if (!/\.(tsx?|js)$/.test(path)) continue
      for (const [, from = ''] of content.matchAll(/(?:from|import\(|^import) ?'([^']+)'/gm)) {
        if (from.startsWith('node:')) continue
        if (from.startsWith('.')) {
          const target = new URL(from, `file:///${path}`).pathname.slice(1)
          const found = ['', '.ts', '.tsx'].some((end) => files.has(target + end))
          expect(found, `${path} imports ${from}`).toBe(true)
        } else {
          expect(
            known.some((name) => from === name || from.startsWith(`${name}/`)),
            from,
          ).toBe(true)
        }
      }
    }
  })

  it('uses the transports that were chosen, and no others', () => {
    const text = [...files].filter(([path]) => !path.endsWith('-lock.json')).map(([, content]) => content)
    for (const transport of TRANSPORTS) {
      const used = text.some((content) => content.includes(PACKAGES[transport]))
      expect(used, transport).toBe(transports.includes(transport))
    }
  })

  it('has a lock file that agrees with its package.json', () => {
    const { name, dependencies, devDependencies } = project
    expect(lock).toMatchObject({ name, lockfileVersion: 3 })
    expect(lock.packages['']).toMatchObject({ name, dependencies, devDependencies })
    const packages = new Map(Object.entries(lock.packages))
    expect([...usedPlaces(packages)].toSorted()).toEqual([...packages.keys()].toSorted())
    for (const [wanted, version] of Object.entries({
      ...dependencies,
      ...devDependencies,
      ...project.overrides,
    })) {
      expect(packages.get(`node_modules/${wanted}`)?.version, wanted).toBe(version)
    }
    for (const [place, found] of packages) {
      if (place !== '') expect(found.integrity, place).toMatch(/^sha512-/)
      // Nobody's mirror, and the native packages of every platform, not only of the one that wrote the lock file.
      expect(found).not.toHaveProperty('resolved')
      for (const wanted of Object.keys({ ...found.dependencies, ...found.optionalDependencies })) {
        expect(
          [...packages.keys()].some((other) => other.endsWith(`node_modules/${wanted}`)),
          wanted,
        ).toBe(true)
      }
    }
  })

  it('needs no newer Node than it says, unless the room provider does', () => {
    const newer = Object.entries(lock.packages).filter(([, { engines }]) => engines?.node?.startsWith('>=22'))
    expect(newer.map(([place]) => place)).toEqual(
      transports.includes('room') ? ['node_modules/@daily-co/daily-js'] : [],
    )
  })
})

describe('the name of a project', () => {
  const title = `Ann's "Böt" <&> \\ \u2028$& {{initial}}`

  it.each(CLIENT_KINDS)('is what the %s client is called', (kind) => {
    const files = client(kind, { title })
    if (kind !== 'vanilla') {
      const { code } = transformSync(files.get('client/src/settings.ts') ?? '', { loader: 'ts' })
      const literal = /TITLE = (.*);/.exec(code)?.[1] ?? ''
      expect(new Function(`return ${literal}`)()).toBe(title)
    }
    const icon = files.get('client/public/icon.svg')
    expect(icon).toContain("<title>Ann's &quot;Böt&quot; &lt;&amp;&gt;")
    expect(icon).toContain('>A</text>')
    const page = files.get('client/index.html') ?? files.get('client/src/app/layout.tsx')
    expect(page).toMatch(kind === 'react-nextjs' ? /title: TITLE/ : /<title>Ann's &quot;Böt&quot;/)
    expect(page).toContain('/icon.svg')
  })
})

it.each([
  ['react-vite', 'VITE_BOT_URL'],
  ['react-nextjs', 'NEXT_PUBLIC_BOT_URL'],
  ['vanilla', 'VITE_BOT_URL'],
] as const)('%s reads the one variable that its example names', (kind, name) => {
  const files = client(kind)
  const example = files.get('client/.env.example') ?? ''
  expect([...example.matchAll(/^# (\w+)=(.*)$/gm)].map(([, ...parts]) => parts)).toEqual([
    [name, 'http://localhost:7860'],
  ])
  expect(files.get('client/src/settings.ts')).toContain(`env.${name} || 'http://localhost:7860'`)
  const read = [...files.values()].join('\n').matchAll(/\benv\.([A-Z_]+)/g)
  expect(new Set([...read].map(([, variable]) => variable))).toEqual(new Set([name]))
})
