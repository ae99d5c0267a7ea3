import { expect, it } from 'vitest'
import { CloudDouble } from '../testing/cloud-double.ts'
import { typed } from '../testing/typed-command.ts'

it('makes, lists and revokes keys', async () => {
  const cloud = await CloudDouble.start()
  const made = await typed(['keys', 'create', 'for CI'], cloud)
  expect(made.code).toBe(0)
  expect(made.stdout).toMatch(/^sk_[0-9a-f-]{36}\n$/)
  expect(made.stderr).toBe('This is the private key "for CI". It is not shown again.\n')
  const open = await typed(['keys', 'create', 'page', '--public', '--json'], cloud)
  expect(JSON.parse(open.stdout)).toMatchObject({
    key: expect.stringMatching(/^pk_/),
    record: { family: 'public' },
  })
  const list = await typed(['keys', 'list'], cloud)
  expect(list.stdout.split('\n')).toHaveLength(5)
  expect(list.stdout).not.toContain(made.stdout.trim())
  const revoked = await typed(['keys', 'revoke', 'for CI'], cloud)
  expect(revoked.stdout).toMatch(/^Revoked the private key "for CI" \(sk_.*…\)\.\n$/)
  expect(revoked.stderr).toBe('')
  expect((await typed(['keys', 'list'], cloud)).stdout).toMatch(/for CI .* revoked \d{4}-/)
  const again = await typed(['keys', 'revoke', 'for CI'], cloud)
  expect(again.code).toBe(1)
  expect(again.stderr).toContain('No valid key has the id, name or beginning "for CI".')
  const json = await typed(['keys', 'revoke', 'nope', '--json'], cloud)
  expect(json.code).toBe(1)
  expect(JSON.parse(json.stdout)).toMatchObject({ code: 'NOT_FOUND' })
})

it('does not guess which key is meant, and tells who ends their own', async () => {
  const cloud = await CloudDouble.start()
  const [first] = cloud.keys
  cloud.addKey('the first key', 'sk_another_one')
  expect((await typed(['keys', 'revoke', 'the first key'], cloud)).stderr).toContain('More than one key')
  const { stderr } = await typed(['keys', 'revoke', first?.id ?? ''], cloud)
  expect(stderr).toContain('It was the key that you are signed in with.')
})

it('refuses a key without a name', async () => {
  const cloud = await CloudDouble.start()
  expect((await typed(['keys', 'create', ' '], cloud)).code).toBe(2)
  expect((await typed(['keys', 'create'], cloud)).stderr).toContain('Usage: botcli keys create NAME')
})
