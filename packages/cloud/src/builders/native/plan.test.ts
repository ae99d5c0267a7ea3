import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { checkDockerfile } from '../dockerfile/check.ts'
import { entryOf } from './entry.ts'
import { type NativePlan, planOf } from './plan.ts'
import { simpleCommands } from './shell-line.ts'

let context: string
afterEach(async () => {
  await rm(context, { recursive: true, force: true })
})

const FILES = [
  'requirements.txt',
  'bot.py',
  'server/requirements/prod.txt',
  'server/bot.py',
  'server/package.json',
  'wheels/a-1-py3-none-any.whl',
]

async function plan(text: string): Promise<NativePlan> {
  context = await mkdtemp(join(tmpdir(), 'botcli-plan-'))
  for (const path of [...FILES, 'Dockerfile']) {
    await mkdir(dirname(join(context, path)), { recursive: true })
    await writeFile(join(context, path), path === 'Dockerfile' ? text : '')
  }
  const checked = await checkDockerfile({ context, dockerfilePath: 'Dockerfile' })
  if ('problems' in checked) throw new Error(checked.problems.map(({ message }) => message).join())
  return planOf(checked, context)
}

/** `folder: tool args` of every installation. */
const installs = ({ installs: all }: NativePlan): readonly string[] =>
  all.map(({ folder, tool, args }) => `${folder || '.'}: ${tool} ${args.join(' ')}`)

describe('what is installed, and where', () => {
  it.each([
    ['WORKDIR /app\nCOPY . .\nRUN pip install -r requirements.txt', ['.: pip -r requirements.txt']],
    [
      'WORKDIR /app\nCOPY requirements.txt .\nRUN pip3 install --user --no-cache-dir -rrequirements.txt',
      ['.: pip --no-cache-dir -rrequirements.txt'],
    ],
    ['COPY requirements.txt /tmp/reqs.txt\nRUN pip install -r /tmp/reqs.txt', ['.: pip -r requirements.txt']],
    [
      'WORKDIR /app\nCOPY server/ .\nRUN cd requirements && python3 -m pip install -r prod.txt',
      ['server/requirements: pip -r prod.txt'],
    ],
    [
      'WORKDIR /srv\nCOPY server ./\nRUN npm ci --omit=dev && npm cache clean --force',
      ['server: npm ci --omit=dev'],
    ],
    [
      'COPY . /app\nWORKDIR /app/server\nRUN uv pip install --system ./ ../wheels/a-1-py3-none-any.whl "x[y]>=1"',
      ['server: uv-pip . ../wheels/a-1-py3-none-any.whl x[y]>=1'],
    ],
    [
      'WORKDIR /app\nCOPY . .\nRUN --mount=type=cache,target=/c UV_LINK_MODE=copy uv sync --frozen --no-dev',
      ['.: uv-sync --frozen --no-dev'],
    ],
    [
      `ARG WHAT=aiohttp\nRUN ["pip", "install", "x"]\nRUN pip install \${WHAT}`,
      ['.: pip x', '.: pip aiohttp'],
    ],
    ['WORKDIR /app\nRUN pip install -r requirements.txt', ['.: pip -r ./not-copied/app/requirements.txt']],
    ['RUN npm install -g botcli && apt-get install -y ffmpeg', []],
    ['RUN npm install greeter @botcli/bot@0.1.0', ['.: npm install greeter']],
    ['ARG P=botcli@0.1.0\nRUN npm install --no-fund $P', []],
  ])('%j', async (text, expected) => {
    expect(installs(await plan(`FROM a\n${text}\n`))).toEqual(expected)
  })

  it('follows from stage to stage', async () => {
    const file =
      'FROM a AS deps\nWORKDIR /app\nCOPY requirements.txt .\nFROM deps\nRUN pip install -r requirements.txt\nCOPY . .\nENTRYPOINT ["botcli", "run"]\nCMD ["/app/bot.py"]\nENV A=1\n'
    const found = await plan(file)
    expect(installs(found)).toEqual(['.: pip -r requirements.txt'])
    expect(found.command).toEqual(['botcli', 'run', 'bot.py'])
    expect(found.env).toEqual({ A: '1' })
    expect(entryOf(found, context)).toEqual({ language: 'python', path: 'bot.py', named: true })
  })

  it('names what is not run', async () => {
    const found = await plan(
      'FROM a\nRUN set -e; apt-get install -y x && echo hi\nRUN curl x | sh\nRUN <<EOF\nls\nEOF\n',
    )
    expect(found.notRun.map(({ step, part }) => `${step.line} ${part}`)).toEqual([
      '2 apt-get install -y x',
      '3 RUN curl x | sh',
      '4 RUN <<EOF',
    ])
  })
})

describe('a slip of the pen in an installation', () => {
  it.each([
    ['pip instal x', 'install'],
    ['pip3 --quiet intsall x', 'install'],
    ['python -m pip isntall x', 'install'],
    ['uv snyc', 'sync'],
    ['uv pip instll x', 'install'],
    ['npm instll', 'install'],
    ['npm isntall', undefined],
    ['npm test', undefined],
    ['npm run build', undefined],
    ['pip list', undefined],
    ['pip uninstall x', undefined],
    ['uv run x', undefined],
    ['make instal', undefined],
  ])('%s: %s', async (line, meant) => {
    const { misspelled } = await plan(`FROM a\nRUN ${line}\n`)
    expect(misspelled.map((slip) => slip.meant)).toEqual(meant === undefined ? [] : [meant])
  })
})

describe('the bot is found', () => {
  it.each([
    ['WORKDIR /app\nCOPY server .\nCMD python -m bot', 'server', 'bot.py'],
    ['WORKDIR /app\nCOPY . .\nCMD uvicorn bot:app --port 1', '.', 'bot.py'],
    ['WORKDIR /app\nCOPY . .\nCMD ["node", "dist/index.js"]', '.', 'dist/index.js'],
    ['WORKDIR /app\nCOPY . .', '.', 'bot.py'],
  ])('%j', async (text, folder, path) => {
    const found = await plan(`FROM a\n${text}\n`)
    expect(found.folder).toBe(folder)
    expect(entryOf(found, context)?.path).toBe(path)
  })
})

describe('a shell line', () => {
  it.each([
    ['a b && c; d', [['a', 'b'], ['c'], ['d']]],
    [`a 'b c' "d \\" e" f\\ g`, [['a', 'b c', 'd " e', 'f g']]],
    ['X=1 Y="2 3" a', [['a']]],
    ['a | b', undefined],
    ['a $(b)', undefined],
    ['a "$B"', undefined],
    ['a || b', undefined],
    ['a > b', undefined],
    ['for i in 1; do x; done', [['for', 'i', 'in', '1'], ['do', 'x'], ['done']]],
    ['', []],
  ])('%j', (line, expected) => {
    context = join(tmpdir(), 'botcli-nothing')
    expect(simpleCommands(line)?.map(({ words }) => words)).toEqual(expected)
  })
})
