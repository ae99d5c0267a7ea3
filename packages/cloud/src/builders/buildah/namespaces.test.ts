import { readlink } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { askProgram } from '../ask-program.ts'
import { inNamespaces, namespacesWork } from './namespaces.ts'

describe.skipIf(!(await namespacesWork()))('a command in namespaces of its own', () => {
  it('keeps its arguments, its output and its status', async () => {
    const script = 'echo "$1"; echo second >&2; exit 7'
    expect(await askProgram(inNamespaces(['sh', '-c', script, 'sh', 'a  "b" $c']))).toEqual({
      status: 7,
      stdout: 'a  "b" $c\n',
      stderr: 'second\n',
    })
    expect(await askProgram(inNamespaces(['true']))).toMatchObject({ status: 0 })
    expect(await askProgram(inNamespaces(['sh', '-c', 'kill -9 $$']))).toMatchObject({ status: 137 })
  })

  it('does not see the processes and the shared memory of others', async () => {
    const { stdout } = await askProgram(
      inNamespaces([
        'sh',
        '-c',
        'readlink /proc/self/ns/pid; ls -A /dev/shm; tr "\\0" " " < /proc/1/cmdline',
      ]),
    )
    const [namespace, first] = stdout.split('\n')
    expect(namespace).toMatch(/^pid:\[\d+\]$/)
    expect(namespace).not.toBe(await readlink('/proc/self/ns/pid'))
    expect(first).toMatch(/^sh -c mount -t tmpfs/)
  })
})
