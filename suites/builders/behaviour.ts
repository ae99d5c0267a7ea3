import { afterEach, describe, expect, it } from 'vitest'
import type { Builder } from '../../packages/cloud/src/builders/builder.ts'
import { Workbench } from '../../packages/cloud/src/testing/workbench.ts'
import { BASE } from './base-image.ts'

/** What a builder with images is asked. */
export interface Subject {
  readonly builder: () => Builder
  /** A line that says that a step came from the cache. */
  readonly cached: RegExp
  /** Working containers and mounts that are there now. */
  readonly leftovers: () => Promise<readonly string[]>
  readonly limitsMemory: boolean
  readonly limitsDisk: boolean
}

const MIB = 1024 * 1024
const BOT = {
  Dockerfile: `FROM ${BASE}\nWORKDIR /app\nCOPY package.json ./\nRUN echo installing && npm install --omit=dev\nCOPY . .\nRUN node bot.mjs\nCMD ["node", "bot.mjs"]\n`,
  'package.json': '{"name":"x","version":"1.0.0"}',
  'bot.mjs': 'console.log("the bot was loaded")\n',
}

/** The behaviour that every builder with images shares, on real images. */
export function behavesAsBuilder(subject: Subject): void {
  let bench: Workbench
  const open = async (files: Readonly<Record<string, string>>): Promise<void> => {
    bench = await Workbench.open(files)
  }
  afterEach(async () => {
    expect(await bench.leftovers()).toEqual([])
    expect(await subject.leftovers()).toEqual([])
    await bench.close()
  })

  it('makes an image, and removes it', async () => {
    await open(BOT)
    const result = await bench.build(subject.builder())
    expect(bench.log.text).toContain('the bot was loaded')
    expect(result).toMatchObject({ ok: true, imageUri: bench.input().imageName })
    if (result.ok) {
      expect(result.imageSizeBytes).toBeGreaterThan(10 * MIB)
      const fresh = (bases = result.bases) => subject.builder().isFresh(result.imageUri, bases)
      expect(result.bases).toEqual([{ name: BASE, id: expect.stringMatching(/[0-9a-f]{64}/) }])
      expect(await fresh()).toBe(true)
      expect(await fresh([{ name: BASE, id: 'another' }])).toBe(false)
      expect(await fresh([{ name: 'localhost/botcli-nobody-has-this:1', id: null }])).toBe(false)
      await subject.builder().remove(result.imageUri)
      expect(await fresh()).toBe(false)
      await subject.builder().remove(result.imageUri)
    }
  })

  it('takes from its cache what did not change, unless told not to', async () => {
    const files = { ...BOT, 'bot.mjs': `console.log("${crypto.randomUUID()}")\n` }
    await open(files)
    const builder = subject.builder()
    expect(await bench.build(builder)).toMatchObject({ ok: true })
    // The same content in another place, at another time.
    await bench.close()
    await open(files)
    expect(await bench.build(builder)).toMatchObject({ ok: true })
    expect(bench.log.text.match(subject.cached)?.length).toBeGreaterThanOrEqual(5)
    bench.log.text = ''
    expect(await bench.build(builder, { changes: { noCache: true } })).toMatchObject({ ok: true })
    expect(bench.log.text).not.toMatch(subject.cached)
    await builder.remove(bench.input().imageName)
  })

  describe('fails', () => {
    it('where a dependency is missing', async () => {
      await open({ ...BOT, 'bot.mjs': "import fastify from 'fastify'\n" })
      expect(await bench.build(subject.builder())).toMatchObject({
        ok: false,
        message: expect.stringContaining("Cannot find package 'fastify'"),
        failure: {
          code: 'dependency_missing',
          step: 'RUN node bot.mjs',
          line: 6,
          hint: 'Add fastify to the dependencies of package.json.',
        },
      })
      expect(bench.log.text).toContain("Cannot find package 'fastify'")
    })

    it('on a wrong line of the container build file', async () => {
      await open({ ...BOT, Dockerfile: BOT.Dockerfile.replace('COPY . .', 'COPPY . .') })
      expect(await bench.build(subject.builder())).toMatchObject({
        message: 'Dockerfile:5: unknown instruction: COPPY',
        failure: { code: 'dockerfile_syntax', step: 'COPPY . .', line: 5, hint: 'Did you mean COPY?' },
      })
      expect(bench.log.text).toContain('Dockerfile:5: unknown instruction: COPPY')
    })

    it('where an installation fails', async () => {
      await open({ ...BOT, Dockerfile: BOT.Dockerfile.replace('npm install --omit=dev', 'npm ci') })
      expect(await bench.build(subject.builder())).toMatchObject({
        message: expect.stringContaining('can only install with an existing package-lock.json'),
        failure: { code: 'install_failed', step: 'RUN echo installing && npm ci', line: 4 },
      })
      expect(bench.log.text).toContain('can only install with an existing package-lock.json')
    })

    it('where the installer is missing', async () => {
      await open({ ...BOT, Dockerfile: `FROM ${BASE}\nRUN pip install aiohttp\n` })
      expect(await bench.build(subject.builder())).toMatchObject({
        message: expect.stringContaining('pip: not found'),
        failure: { code: 'install_failed', line: 2, hint: expect.stringContaining('no command pip') },
      })
    })

    it('where a file to copy is missing', async () => {
      await open({ ...BOT, Dockerfile: BOT.Dockerfile.replace('COPY package.json', 'COPY requirements.txt') })
      expect(await bench.build(subject.builder())).toMatchObject({
        message: 'Dockerfile:3: requirements.txt is not in the context',
        failure: { code: 'copy_source_missing', step: 'COPY requirements.txt ./', line: 3 },
      })
      expect(bench.log.text).toContain('Dockerfile:3: requirements.txt is not in the context')
    })

    it('where a command fails, with its own words', async () => {
      await open({
        Dockerfile: `FROM ${BASE} AS one\nRUN true\nFROM ${BASE}\nRUN echo fine\nRUN echo "disaster: no such thing" >&2; exit 125\n`,
      })
      expect(await bench.build(subject.builder())).toMatchObject({
        message: 'disaster: no such thing',
        failure: { code: 'command_failed', line: 5, hint: expect.stringContaining('125') },
      })
    })

    it('where the base image is missing', async () => {
      await open({ Dockerfile: 'FROM localhost/botcli-nobody-has-this:1\nRUN true\n' })
      expect(await bench.build(subject.builder())).toMatchObject({
        failure: { code: 'base_image_missing', line: 1 },
      })
    })
  })

  it('knows the mounts of a command', async () => {
    const file = `FROM ${BASE} AS build\nRUN --mount=type=cache,target=/cache echo first > /x\nFROM ${BASE}\nENV A=b\nCOPY --from=build /x /x\nRUN --mount=type=bind,source=note.txt,target=/note cat /x /note; echo "Error: it went wrong" >&2; exit 3\n`
    await open({ Dockerfile: file, 'note.txt': 'this is the note\n' })
    expect(await bench.build(subject.builder())).toMatchObject({
      message: 'Error: it went wrong',
      failure: { code: 'command_failed', line: 6, hint: expect.stringContaining('status 3') },
    })
    expect(bench.log.text).toContain('this is the note')
  })

  describe('ends, and leaves nothing,', () => {
    const SLOW = { Dockerfile: `FROM ${BASE}\nRUN echo asleep now && sleep 300\n` }

    it('when it is cancelled', async () => {
      await open(SLOW)
      const controller = new AbortController()
      bench.log.onOutput = (text) => {
        if (/^asleep now$/m.test(text)) controller.abort()
      }
      expect(await bench.build(subject.builder(), { signal: controller.signal })).toMatchObject({
        message: 'the build was cancelled',
        failure: { code: 'cancelled' },
      })
    })

    it('when its time is up', async () => {
      await open(SLOW)
      expect(await bench.build(subject.builder(), { limits: { seconds: 3 } })).toMatchObject({
        timedOut: true,
      })
    })

    it('when its owner is gone and somebody cleans up', async () => {
      await open(SLOW)
      const cleaned: Promise<void>[] = []
      bench.log.onOutput = (text) => {
        if (/^asleep now$/m.test(text) && cleaned.length === 0)
          cleaned.push(subject.builder().cleanUp(bench.buildId))
      }
      expect(await bench.build(subject.builder(), { limits: { seconds: 30 } })).toMatchObject({ ok: false })
      expect(cleaned).toHaveLength(1)
      await Promise.all(cleaned)
    })

    it.skipIf(!subject.limitsMemory)('when it takes too much memory', async () => {
      const hog = 'const a = []; setInterval(() => a.push(Buffer.alloc(2e7, 1)), 5)'
      await open({ Dockerfile: `FROM ${BASE}\nCOPY hog.js /\nRUN node /hog.js\n`, 'hog.js': hog })
      const result = await bench.build(subject.builder(), { limits: { memoryBytes: 300 * MIB } })
      expect(result).toMatchObject({ failure: { code: 'out_of_memory', line: 3 } })
    })

    it.skipIf(!subject.limitsDisk)('when it takes too much disk', async () => {
      const line =
        'for i in 1 2 3 4 5 6 7 8 9; do dd if=/dev/zero of=/f$i bs=1000000 count=30; sleep 0.5; done'
      await open({ Dockerfile: `FROM ${BASE}\nRUN ${line}\n` })
      const result = await bench.build(subject.builder(), { limits: { diskBytes: 100 * MIB } })
      expect(result).toMatchObject({ failure: { code: 'out_of_disk', line: 2 } })
    })
  })
}
