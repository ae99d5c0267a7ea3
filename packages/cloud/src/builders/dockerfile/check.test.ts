import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkAloud, checkDockerfile } from './check.ts'

let context: string

beforeEach(async () => {
  context = await mkdtemp(join(tmpdir(), 'botcli-check-'))
})
afterEach(async () => {
  await rm(context, { recursive: true, force: true })
})

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(context, path)), { recursive: true })
    await writeFile(join(context, path), text)
  }
}

/** `code line message` of every problem, with the hint. */
async function problemsOf(text: string, files: Readonly<Record<string, string>> = {}) {
  await put({ ...files, Dockerfile: text })
  const checked = await checkDockerfile({ context, dockerfilePath: 'Dockerfile' })
  if (!('problems' in checked)) return []
  return checked.problems.map(({ code, line, message, hint }) => `${code} ${line} ${message} | ${hint}`)
}

describe('what an instruction says', () => {
  it.each([
    ['FROM a\nCOPPY . .', 'dockerfile_syntax 2 unknown instruction: COPPY | Did you mean COPY?'],
    ['FROM a\nFOO bar', /^dockerfile_syntax 2 unknown instruction: FOO \| The instructions are: ADD, /],
    ['RUN ls\nFROM a', /^dockerfile_syntax 1 RUN stands before the first FROM/],
    ['', /^dockerfile_syntax 1 the file has no instructions/],
    ['# nothing\nARG A=1', /^dockerfile_syntax 2 there is no FROM/],
    [
      'FROM a\nCMD ["node", "index.js',
      /^dockerfile_syntax 2 the JSON array of CMD cannot be read: it is not closed/,
    ],
    ["FROM a\nCMD ['node']", /^dockerfile_syntax 2 .*double quotes/],
    ['FROM a\nENTRYPOINT ["a", "b",]', /^dockerfile_syntax 2 .*ends with a comma/],
    ['FROM a\nRUN ["a" "b"]', /^dockerfile_syntax 2 .*comma is missing/],
    ['FROM a\nEXPOSE abc', /^dockerfile_syntax 2 EXPOSE abc is not a port/],
    ['FROM a\nEXPOSE 70000', /^dockerfile_syntax 2 EXPOSE 70000 is not a port/],
    ['FROM a\nRUN', /^dockerfile_syntax 2 RUN needs an argument/],
    ['FROM a\nCOPY x', /^dockerfile_syntax 2 COPY needs a source and a destination/],
    ['FROM a b', /^dockerfile_syntax 1 FROM takes an image/],
    ['FROM a AS 9lives', /^dockerfile_syntax 1 9lives cannot be the name/],
    ['FROM a\nENV A=1 B', /^dockerfile_syntax 2 ENV has no = in B/],
    ['FROM a\nENV A', /^dockerfile_syntax 2 ENV has no = in A/],
    ['FROM a\nSHELL bash -c', /^dockerfile_syntax 2 SHELL takes only a JSON array/],
    ['FROM a\nHEALTHCHECK curl x', /^dockerfile_syntax 2 HEALTHCHECK does not know curl/],
    ['FROM a\nONBUILD FROM x', /^dockerfile_syntax 2 ONBUILD cannot do FROM/],
    ['FROM a\nONBUILD COPPY x y', 'dockerfile_syntax 2 unknown instruction: COPPY | Did you mean COPY?'],
    ['FROM a\nCOPY --form=x a b', 'dockerfile_syntax 2 COPY has no option --form | Did you mean --from?'],
    ['FROM a\nCOPY <<EOF /x\nnever ended', /^dockerfile_syntax 2 the text after <<EOF has no end/],
    ['FROM a\nRUN a && \\\n  # why\n  b\n\nEXPOSE x', /^dockerfile_syntax 6 EXPOSE x/],
  ])('%j is refused', async (text, expected) => {
    const [first, ...more] = await problemsOf(text)
    if (typeof expected === 'string') expect(first).toBe(expected)
    else expect(first).toMatch(expected)
    expect(more).toEqual([])
  })

  it.each([
    'FROM a\nRUN [ -f x ] && echo y',
    'FROM a\nRUN [ "$A" = "b" ] || exit 0',
    'FROM a\nRUN [ "$A" = "b" ]',
    'FROM a\nENV A=1 B="two words" C=x\\ y\nENV OLD form of it\nLABEL a=b',
    'FROM a\nEXPOSE 7860 80/tcp 5000-5010/udp $PORT',
    'FROM a\nHEALTHCHECK --interval=5s CMD ["x"]\nHEALTHCHECK NONE',
    'FROM a\nRUN <<EOF\nCOPPY this is a shell script\nEOF\nCMD ["x"]',
    'FROM a\nCOPY <<one <<two /x/\n1\none\n2\ntwo',
    '# escape=`\nFROM a\nRUN x `\n  y',
    'ARG V=1\nFROM a:$V AS first\nFROM first\nCOPY --from=first /x /y\nCOPY --from=0 /x /y\nCOPY --from=nginx:1 /x /y\nCOPY --from=busybox /x /y',
    'from a\ncmd x',
    '\uFEFFFROM a',
    'FROM a\r\nRUN x \\\r\n  y\r\nCMD ["x"]\r\n',
  ])('%j is taken', async (text) => {
    expect(await problemsOf(text)).toEqual([])
  })

  it('every wrong line is told, in order', async () => {
    expect(await problemsOf('FROM a\nEXPOSE x\nCOPPY . .\nSHELL x')).toHaveLength(3)
  })
})

describe('stages', () => {
  it.each([
    [
      'FROM a AS build\nFROM b\nCOPY --from=biuld /x /y',
      'dockerfile_syntax 3 --from=biuld names no stage | Did you mean build?',
    ],
    [
      'FROM a AS deps\nFROM b\nCOPY --from=builder /x /y',
      /^dockerfile_syntax 3 --from=builder names no stage \| The stages before this line are: deps\./,
    ],
    ['FROM a\nCOPY --from=builder /x /y', /names no stage \| No stage has a name/],
    ['FROM a\nCOPY --from=3 /x /y', /^dockerfile_syntax 2 there is no stage 3/],
    [
      'FROM a AS one\nCOPY --from=two /x /y\nFROM b AS two',
      /^dockerfile_syntax 2 the stage two comes only after/,
    ],
    ['FROM a AS one\nCOPY --from=one /x /y', /asks a stage for its own files/],
    [
      'FROM a AS one\nFROM b AS ONE',
      /^dockerfile_syntax 2 there are two stages named one: the other is on line 1/,
    ],
    [
      'FROM a AS build\nFROM b\nRUN --mount=type=bind,from=buidl,target=/x ls',
      /--from=buidl names no stage \| Did you mean build/,
    ],
    ['FROM builder', /FROM builder names no stage/],
  ])('%j is refused', async (text, expected) => {
    const [first] = await problemsOf(text)
    if (typeof expected === 'string') expect(first).toBe(expected)
    else expect(first).toMatch(expected)
  })
})

describe('what is copied', () => {
  const files = { 'requirements.txt': '', 'src/a.py': '', 'src/b c.py': '', 'wheels/x-1.whl': '' }

  it.each([
    [
      'COPY requirments.txt ./',
      'requirments.txt is not in the context | Did you mean requirements.txt? Or does .dockerignore leave it out?',
    ],
    ['COPY Requirements.txt ./', /Did you mean requirements\.txt/],
    ['COPY a.py ./', /Did you mean src\/a\.py/],
    ['COPY nothing-like-it ./', /Check its name/],
    ['COPY uv.lock* *.tgz ./', /uv\.lock\* is not in the context/],
    ['COPY src/*.js ./', /src\/\*\.js is not in the context/],
    ['COPY requirements.txt nope.txt src/*.py ./', /^copy_source_missing 2 nope\.txt is not in the context/],
    ['COPY ["src/b d.py", "x/"]', /Did you mean src\/b c\.py/],
    ['COPY ../secret ./', /lies outside of the context/],
    ['COPY .env ./', /never sent/],
    ['COPY https://example.com/x ./', /cannot fetch/],
    ['ADD missing.tar ./', /missing\.tar is not in the context/],
    [`ARG NAME=nope\nCOPY \${NAME}.txt ./`, /nope\.txt is not in the context/],
    ['ENV D=lib\nCOPY $D/x ./', /lib\/x is not in the context/],
    [`COPY \${UNSET:-none}/x ./`, /none\/x is not in the context/],
    ['RUN --mount=type=bind,source=uv.lock,target=uv.lock uv sync', /uv\.lock is not in the context/],
    ['COPY --parents ./src/./z.py /x/', /is not in the context/],
  ])('%j is missing', async (text, expected) => {
    const [first] = await problemsOf(`FROM a\n${text}`, files)
    expect(first).toMatch(/^copy_source_missing [23] /)
    if (typeof expected === 'string') expect(first?.replace(/^\S+ \d /, '')).toBe(expected)
    else expect(first).toMatch(expected)
  })

  it.each([
    'COPY . .',
    'COPY / /x',
    'COPY ./ ./',
    'COPY requirements.txt src/ /app/',
    'COPY req*.txt ./',
    'COPY requirements.txt uv.lock* ./',
    'COPY src/?.py src/[a-c].py ./',
    'COPY **/*.py ./',
    'COPY src/../requirements.txt ./',
    'COPY ["src/b c.py", "x/"]',
    'COPY "requirements.txt" ./',
    'COPY --parents ./src/./a.py /x/',
    'COPY <<EOF /x\nhello\nEOF',
    'ADD https://example.com/x.tar ./',
    'ADD git@github.com:a/b.git /x',
    'ARG NAME\nCOPY $NAME ./',
    'ARG TARGETARCH\nCOPY bin-$TARGETARCH ./',
    `ARG F=requirements\nCOPY \${F}.txt ./`,
    'RUN --mount=type=cache,target=/x --mount=type=secret,id=y --mount=type=bind,source=src,target=/s ls',
    'ONBUILD COPY nothing ./',
  ])('%j is there', async (text) => {
    expect(await problemsOf(`FROM a\n${text}`, files)).toEqual([])
  })

  it('counts only in stages that are needed', async () => {
    expect(await problemsOf('FROM a AS unused\nCOPY nope /x\nFROM b\nRUN ls')).toEqual([])
    expect(await problemsOf('FROM a AS used\nCOPY nope /x\nFROM b\nCOPY --from=used /x /x')).toHaveLength(1)
    expect(await problemsOf('FROM a AS used\nCOPY nope /x\nFROM used\nRUN ls')).toHaveLength(1)
  })
})

describe('the file itself', () => {
  it('is missed, and others are named', async () => {
    await put({ 'server/Dockerfile': 'FROM a', 'docker/bot.Dockerfile': 'FROM a' })
    const lines: string[] = []
    const output = { write: () => {}, say: (line: string) => void lines.push(line) }
    const checked = await checkAloud({ context, dockerfilePath: 'Dockerfile' }, output)
    expect(checked).toEqual({
      result: {
        ok: false,
        message: 'there is no Dockerfile in the context',
        failure: {
          code: 'dockerfile_missing',
          step: null,
          line: null,
          hint: 'There are docker/bot.Dockerfile, server/Dockerfile: name the right one as dockerfilePath.',
        },
      },
    })
    expect(lines).toHaveLength(1)
  })

  it('may be a link inside of the context, not one out of it', async () => {
    await put({ 'real/Dockerfile': 'FROM a' })
    await symlink('real/Dockerfile', join(context, 'Dockerfile'))
    await symlink(join(import.meta.dirname, 'check.ts'), join(context, 'out'))
    expect(await checkDockerfile({ context, dockerfilePath: 'Dockerfile' })).not.toHaveProperty('problems')
    expect(await checkDockerfile({ context, dockerfilePath: 'out' })).toHaveProperty('problems')
  })

  it('may not be a link to a file that was not sent', async () => {
    await symlink('docker/bot.Dockerfile', join(context, 'Dockerfile'))
    await put({ 'other/Dockerfile': 'FROM a' })
    expect(await checkDockerfile({ context, dockerfilePath: 'Dockerfile' })).toMatchObject({
      problems: [
        {
          code: 'dockerfile_missing',
          message: 'Dockerfile is a link to docker/bot.Dockerfile, which is not in the context',
          hint: expect.stringMatching(/^Send that file, too/),
        },
      ],
    })
  })

  it.each([
    ['Dockerfile.in', 'Dockerfile.in ends with .in'],
    ['docker/bot.in', 'docker/bot.in ends with .in'],
    ['["Dockerfile.in"]', '["Dockerfile.in"] begins with ['],
  ])('may not be named %s, which engines take for more than a name', async (dockerfilePath, message) => {
    await put({ [dockerfilePath]: 'FROM a\n#include "/etc/hostname"\n' })
    expect(await checkDockerfile({ context, dockerfilePath })).toMatchObject({
      problems: [
        {
          code: 'dockerfile_syntax',
          message: expect.stringContaining(message),
          hint: expect.stringContaining('Rename it'),
        },
      ],
    })
  })

  it('is quoted in the log where it is wrong', async () => {
    await put({ Dockerfile: 'FROM a\nCOPPY . .\nCMD x\n' })
    const lines: string[] = []
    const output = { write: () => {}, say: (line: string) => void lines.push(line) }
    const checked = await checkAloud({ context, dockerfilePath: 'Dockerfile' }, output)
    expect(lines).toEqual([
      '   1 |     FROM a',
      '   2 | >>> COPPY . .',
      '   3 |     CMD x',
      'Dockerfile:2: unknown instruction: COPPY. Did you mean COPY?',
    ])
    expect(checked).toMatchObject({
      result: {
        message: 'Dockerfile:2: unknown instruction: COPPY',
        failure: { code: 'dockerfile_syntax', step: 'COPPY . .', line: 2, hint: 'Did you mean COPY?' },
      },
    })
  })
})

describe('a file that is made to take long, or much memory, is judged or left to the engine', () => {
  const times = (count: number, line: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => line(index)).join('')

  it.each([
    ['instructions', `FROM a\n${times(5000, (index) => `ENV a${index}=1\n`)}`, /more than 1000 instructions/],
    ['stages', times(500, (index) => `FROM app AS stage-${index}\n`), /more than 100 stages/],
    ['variables', `FROM a\nENV ${times(9000, (index) => `a${index}=1 `)}\n`, /more than 1000 variables/],
    ['bytes', `FROM a\nRUN ${'x'.repeat(200_000)}\n`, /larger than 128 KiB/],
  ])('too many %s', async (_, text, message) => {
    expect(await problemsOf(text)).toEqual([expect.stringMatching(message)])
  })

  it.each([
    [
      'values that double',
      `ENV A0=aaaaaaaaaa\n${times(40, (index) => `ENV A${index + 1}=$A${index}$A${index}\n`)}`,
    ],
    ['escaped quotes', `ARG ${'\\"'.repeat(50_000)}\n`],
    ['references without an end', `ENV A=${'${A:-'.repeat(20_000)}\n`],
    ['flags', `RUN ${'--mount=a '.repeat(10_000)}x\n`],
    ['folders of any depth', `COPY ${'**/'.repeat(30_000)}x /x\n`],
  ])('%s', async (_, lines) => {
    await problemsOf(`FROM scratch\n${lines}`)
  })

  it('patterns that fit in very many ways, and do not fit', async () => {
    const files = { ['a'.repeat(255)]: '' }
    expect(await problemsOf(`FROM a\nCOPY ${'*a'.repeat(60)}*b /x`, files)).toHaveLength(1)
    expect(await problemsOf(`FROM a\nCOPY ${'*a'.repeat(60)}* /x`, files)).toEqual([])
  })

  it('many sources that are not there', async () => {
    const problems = await problemsOf(`FROM a\nCOPY ${times(5000, (index) => `no-such-file-${index} `)} /x`)
    expect(problems).toHaveLength(50)
  })
})

it.each([
  ['*.ts', 'bot.ts', true],
  ['*.ts', 'bot.tsx', false],
  ['b?t.*', 'bot.py', true],
  ['[a-c]*[1!]', 'b1', true],
  ['[^a-c]ot', 'bot', false],
  ['[^a-c]ot', 'dot', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['*', '.env', true],
  ['(a|b)', '(a|b)', true],
])('%s and a file named %s', async (pattern, name, isThere) => {
  expect((await problemsOf(`FROM a\nCOPY ${pattern} /x/`, { [name]: '' })).length === 0).toBe(isThere)
})
