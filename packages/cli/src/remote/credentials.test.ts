import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../testing/folder.ts'
import {
  credentialsFile,
  readCredentials,
  readStoredCredentials,
  removeCredentials,
  writeCredentials,
} from './credentials.ts'

const STORED = { url: 'http://localhost:7870', key: 'sk_stored_1' }

describe('stored credentials', () => {
  it('are kept for the user alone, by XDG_CONFIG_HOME or HOME', async () => {
    const folder = await folderWith({})
    const env = { XDG_CONFIG_HOME: join(folder, 'config'), HOME: folder }
    const file = await writeCredentials({ ...STORED, url: `${STORED.url}/v1/` }, env)
    expect(file).toBe(join(folder, 'config/botcli/credentials.json'))
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(file))).mode & 0o777).toBe(0o700)
    expect(await readCredentials(env)).toEqual(STORED)
    expect(credentialsFile({ HOME: folder })).toBe(join(folder, '.config/botcli/credentials.json'))
    expect(credentialsFile({ HOME: folder, XDG_CONFIG_HOME: 'relative' })).toContain('.config')
    await writeCredentials({ ...STORED, key: 'sk_stored_2' }, env)
    expect((await readCredentials(env)).key).toBe('sk_stored_2')
    expect(await readdir(dirname(file))).toEqual(['credentials.json'])
    expect(await removeCredentials(env)).toBe(true)
    expect(await removeCredentials(env)).toBe(false)
    expect(await readStoredCredentials(env)).toBeUndefined()
  })

  it('are not taken when others can read them', async () => {
    const env = { HOME: await folderWith({}) }
    const file = await writeCredentials(STORED, env)
    await chmod(file, 0o640)
    await expect(readCredentials(env)).rejects.toThrow(`Run: chmod 600 "${file}"`)
    await chmod(file, 0o600)
    expect(await readCredentials(env)).toEqual(STORED)
  })

  it('are written over a file that others could read, and are private then', async () => {
    const env = { HOME: await folderWith({}) }
    const file = credentialsFile(env)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, '{}', { mode: 0o644 })
    await writeCredentials(STORED, env)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  it.each([
    '',
    '{',
    '[]',
    '{"url":1,"key":"sk_12345678"}',
    '{"url":"ftp://x","key":"sk_12345678"}',
    '{"url":"http://x","key":"a b"}',
  ])('%j are nothing that is understood', async (text) => {
    const env = { HOME: await folderWith({}) }
    const file = await writeCredentials(STORED, env)
    await writeFile(file, text)
    await expect(readCredentials(env)).rejects.toThrow('Sign in again: botcli login')
    expect(await readFile(file, 'utf8')).toBe(text)
  })
})

describe('variables', () => {
  const variables = { BOTCLI_CLOUD_URL: 'https://cloud.example/v1', BOTCLI_API_KEY: 'sk_variable' }

  it('win over what is stored', async () => {
    const env = { HOME: await folderWith({}) }
    expect(await readCredentials({ ...env, ...variables })).toEqual({
      url: 'https://cloud.example',
      key: 'sk_variable',
    })
    await writeCredentials(STORED, env)
    expect(await readCredentials({ ...env, ...variables })).toMatchObject({ key: 'sk_variable' })
    expect(await readCredentials({ ...env, BOTCLI_API_KEY: 'sk_variable' })).toEqual({
      ...STORED,
      key: 'sk_variable',
    })
    expect(await readCredentials({ ...env, BOTCLI_CLOUD_URL: 'http://localhost:7870/' })).toEqual(STORED)
    expect(await readCredentials({ ...env, BOTCLI_CLOUD_URL: '', BOTCLI_API_KEY: '' })).toEqual(STORED)
  })

  it('never make a key go to another cloud than its own', async () => {
    const env = { HOME: await folderWith({}) }
    await writeCredentials(STORED, env)
    await expect(readCredentials({ ...env, BOTCLI_CLOUD_URL: 'https://evil.example' })).rejects.toThrow(
      'BOTCLI_CLOUD_URL is https://evil.example, but you are signed in to http://localhost:7870. Set BOTCLI_API_KEY too',
    )
  })

  it('are told when they are wrong or not enough', async () => {
    const env = { HOME: await folderWith({}) }
    await expect(readCredentials(env)).rejects.toMatchObject({
      code: 'NOT_SIGNED_IN',
      message: /Run: botcli login/,
    })
    await expect(readCredentials({ ...env, BOTCLI_CLOUD_URL: 'http://a.example' })).rejects.toThrow(
      'BOTCLI_API_KEY is not set',
    )
    expect(await readCredentials({ ...env, BOTCLI_API_KEY: 'sk_variable' })).toEqual({
      url: 'http://localhost:7870',
      key: 'sk_variable',
    })
    await expect(readCredentials({ ...env, ...variables, BOTCLI_CLOUD_URL: 'x' })).rejects.toThrow(
      'must be an address',
    )
    await expect(readCredentials({ ...env, ...variables, BOTCLI_API_KEY: 'sk_bad' })).rejects.toThrow(
      'BOTCLI_API_KEY is too short for a key: it has 6 characters.',
    )
    const wrong = readCredentials({ ...env, ...variables, BOTCLI_API_KEY: 'hush hush' })
    await expect(wrong).rejects.toThrow('BOTCLI_API_KEY must be a private key')
    await expect(wrong).rejects.not.toThrow('hush')
  })
})
