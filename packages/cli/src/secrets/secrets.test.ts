import { describe, expect, it } from 'vitest'
import { CloudDouble } from '../testing/cloud-double.ts'
import { folderWith } from '../testing/folder.ts'
import { RealCloud } from '../testing/real-cloud.ts'
import { typed } from '../testing/typed-command.ts'
import { parseDotenv } from './dotenv.ts'

describe('a file of variables', () => {
  it.each([
    ['A=1\nB=two words\n', { A: '1', B: 'two words' }],
    ['\uFEFFA=1\r\nB=2\r\n', { A: '1', B: '2' }],
    ['# note\n\n  # more\nexport A = 1 ', { A: '1' }],
    ['A=1 # note\nB=1#2\nC=# note\nD=', { A: '1', B: '1#2', C: '', D: '' }],
    ['A="1 # 2" # note', { A: '1 # 2' }],
    ['A=\'a\\nb\'\nB="a\\nb"\nC=a\\nb', { A: 'a\\nb', B: 'a\nb', C: 'a\\nb' }],
    ['A="say \\"hi\\" \\\\ \\$x \\d"', { A: 'say "hi" \\ $x \\d' }],
    ['A="-----BEGIN\nabc==\n-----END"\nB=2', { A: '-----BEGIN\nabc==\n-----END', B: '2' }],
    ["A='one\n\ntwo'\nB=2", { A: 'one\n\ntwo', B: '2' }],
    ['A=`it\'s "it"`', { A: 'it\'s "it"' }],
    ['A=x=y=z', { A: 'x=y=z' }],
    ['A=$\u007bB}\nB=$C', { A: '$\u007bB}', B: '$C' }],
    ['A=1\nA=2', { A: '2' }],
    ['A=""\nB=\'\'', { A: '', B: '' }],
    ["A=it's", { A: "it's" }],
    ['', {}],
  ])('%j', (text, expected) => {
    const { variables, problems } = parseDotenv(text)
    expect(problems).toEqual([])
    expect(Object.fromEntries(variables.map(({ name, value }) => [name, value]))).toEqual(expected)
  })

  it.each([
    ['A=1\nhush', ['line 2: It is not NAME=VALUE.']],
    ['A="x\ny"\nB="hush\nC=1', ['line 3: The " that it begins with has no other one.']],
    ['A="x" hush', ['line 1: Something stands behind the last quote.']],
    ['1A=hush\nMII+hush==', ['line 1: What stands', 'line 2: What stands']],
    ['A=\nhush-b=2', ['line 2: What stands before = is no name']],
  ])('%j is refused, and tells nothing of it', (text, expected) => {
    const { problems } = parseDotenv(text)
    expect(problems).toEqual(expected.map((one) => expect.stringContaining(one)))
    expect(problems.join()).not.toContain('hush')
  })
})

describe('botcli secrets', () => {
  it('puts in what is typed and what is in a file, at once', async () => {
    const cloud = await CloudDouble.start()
    const cwd = await folderWith({ '.env': 'A=hush-1\nB="hush 2"\n' })
    const { env } = cloud
    const { code, stdout, stderr } = await typed(
      ['secrets', 'set', 'my-bot', 'B=hush=3', 'C=', '--file', '.env'],
      { env, cwd },
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'C is empty: give a value before a bot needs it.\n' })
    expect(stdout).toBe('my-bot (local) has new values for A, B, C.\n')
    expect([...(cloud.sets.get('my-bot') ?? [])]).toEqual([
      ['A', 'hush-1'],
      ['B', 'hush=3'],
      ['C', ''],
    ])
    expect(cloud.seen[0]).toBe('PUT /v1/secrets/my-bot')
  })

  it('names the agents that are deployed anew', async () => {
    const cloud = await CloudDouble.start()
    for (const [name, secretSet] of [
      ['echo', 'my-bot'],
      ['other', null],
    ] as const) {
      const agent = cloud.agents.add(name, 'local', { image: 'x:1', secretSet })
      agent.move(agent.newest.id, 'Active')
    }
    const { stderr } = await typed(['secrets', 'set', 'my-bot', 'A=1'], cloud)
    expect(stderr).toBe(
      'Agents that use it are deployed anew with what has changed: echo. See how it goes: botcli agent get echo\n',
    )
  })

  it.each([[['-']], [['--file', '-']]])('reads stdin with %j', async (argv) => {
    const cloud = await CloudDouble.start()
    const { code, stdout } = await typed(['secrets', 'set', 'my-bot', ...argv, '--json'], {
      env: cloud.env,
      input: 'A="hush\n1"\n',
    })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ set: 'my-bot', region: 'local', variables: ['A'] })
    expect(cloud.sets.get('my-bot')?.get('A')).toBe('hush\n1')
  })

  it('lists, gets, unsets and deletes', async () => {
    const cloud = await CloudDouble.start()
    expect((await typed(['secrets', 'list'], cloud)).stdout).toContain('There are no sets.')
    cloud.sets.set(
      'my-bot',
      new Map([
        ['A', 'hush'],
        ['B', 'hush'],
      ]),
    )
    expect((await typed(['secrets', 'list'], cloud)).stdout).toBe(
      'NAME    TYPE    REGION  STATUS\nmy-bot  secret  local   ready\n',
    )
    const shown = await typed(['secrets', 'get', 'my-bot'], cloud)
    expect(shown.stdout).toMatch(/^VARIABLE {2}CHANGED\nA {9}\d{4}-.* UTC\nB /)
    expect((await typed(['secrets', 'unset', 'my-bot', 'A'], cloud)).stdout).toBe('Removed A from my-bot.\n')
    const twice = await typed(['secrets', 'unset', 'my-bot', 'B', 'A', '--json'], cloud)
    expect(twice.code).toBe(1)
    expect(JSON.parse(twice.stdout)).toEqual({
      error: 'my-bot has no A. Nothing was removed.',
      code: 'NOT_FOUND',
    })
    const rest = await typed(['secrets', 'unset', 'my-bot', 'B', 'B', '--json'], cloud)
    expect(JSON.parse(rest.stdout)).toEqual({ set: 'my-bot', removed: ['B'] })
    expect((await typed(['secrets', 'delete', 'my-bot'], cloud)).code).toBe(0)
    expect(cloud.sets.size).toBe(0)
    expect((await typed(['secrets', 'get', 'my-bot'], cloud)).stderr).toBe(
      'botcli secrets get: There is no my-bot.\n',
    )
  })

  it.each([
    [['ghcr.io', 'me:hush:hush'], ''],
    [['ghcr.io', '-'], 'me:hush:hush\n'],
    [['ghcr.io'], ' me:hush:hush\r\n'],
  ])('keeps what opens a registry with %j and %j', async (argv, input) => {
    const cloud = await CloudDouble.start()
    const bodies: unknown[] = []
    cloud.intercept = (_request, _response, body) => {
      bodies.push(JSON.parse(body.toString()))
      return [202, { status: 'OK', region: 'local' }]
    }
    const { code, stdout, stderr } = await typed(['secrets', 'image-pull-secret', 'registry', ...argv], {
      env: cloud.env,
      input,
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe('registry (local) opens the registry ghcr.io.\n')
    expect(cloud.seen).toEqual(['PUT /v1/secrets/registry'])
    const secretValue = Buffer.from('me:hush:hush').toString('base64')
    expect(bodies).toEqual([{ isImagePullSecret: true, host: 'ghcr.io', secretValue }])
  })

  it('keeps what opens a registry in a real cloud, as a set of its own kind', async () => {
    const { env } = await RealCloud.start()
    const hosts = ['ghcr.io', 'localhost:5000', 'https://index.docker.io/v1/', '[::1]:5000']
    for (const host of hosts) {
      const made = await typed(['secrets', 'image-pull-secret', 'registry', host, 'me:hush', '--json'], {
        env,
      })
      expect(JSON.parse(made.stdout)).toEqual({ set: 'registry', region: 'local', host })
    }
    expect((await typed(['secrets', 'list'], { env })).stdout).toContain('registry  imagePullSecret  local')
    const other = await typed(['secrets', 'set', 'registry', 'A=1'], { env })
    expect(other.code).toBe(1)
    expect(other.stderr).toContain('is of the other type')
    expect((await typed(['secrets', 'delete', 'registry'], { env })).code).toBe(0)
  })

  it.each([
    [['set', 'my-bot'], 'Say which variables'],
    [['set', 'My_Bot', 'A=hush'], 'NAME must be'],
    [['set', 'my-bot', 'hush-1'], 'Argument 2 (KEY or KEY=VALUE): What stands before = is no name'],
    [['set', 'my-bot', 'A'], 'There is nobody to ask for A'],
    [['set', 'my-bot', '--file', 'none'], '--file none cannot be read (ENOENT)'],
    [['set', 'my-bot', '-'], 'stdin has no variables'],
    [['unset', 'my-bot'], 'Usage: botcli secrets unset NAME KEY…'],
    [['unset', 'my-bot', '1'], 'No names of variables: 1.'],
    [['image-pull-secret', 'registry'], 'Usage: botcli secrets image-pull-secret NAME HOST [CREDENTIALS]'],
    [['image-pull-secret', 'registry', 'me:hush@ghcr.io', 'a:hush'], 'HOST must be'],
    [['image-pull-secret', 'registry', 'ftp://x', 'a:hush'], 'HOST must be'],
    [['image-pull-secret', 'registry', 'me hush', 'a:hush'], 'HOST must be'],
    [['image-pull-secret', 'registry', 'ghcr.io', 'hush'], 'CREDENTIALS must be USER:TOKEN, on one line.\n'],
    [['image-pull-secret', 'registry', 'ghcr.io', ':hush'], 'CREDENTIALS must be USER:TOKEN'],
    [['image-pull-secret', 'registry', 'ghcr.io', 'me:hush\nhush'], 'CREDENTIALS must be USER:TOKEN'],
    [['image-pull-secret', 'registry', 'ghcr.io', 'bWU6aHVzaA=='], 'Give them as they are, not in base64.'],
    [['image-pull-secret', 'registry', 'ghcr.io'], 'No credentials were given: USER:TOKEN.'],
    [[], 'Usage: botcli secrets COMMAND'],
  ])('%j is refused', async (argv, message) => {
    const cloud = await CloudDouble.start()
    const { code, stdout, stderr } = await typed(['secrets', ...argv], cloud)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('hush')
    expect(cloud.seen).toEqual([])
  })
})
