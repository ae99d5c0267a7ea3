import { describe, expect, it } from 'vitest'
import { isLocalProgram } from './local-caller.ts'

const HOST = { host: 'localhost:7860' }

describe('a program of this machine', () => {
  it.each(['127.0.0.1', '127.5.6.7', '::1', '::ffff:127.0.0.1'])('comes from %s', (address) => {
    expect(isLocalProgram(HOST, address)).toBe(true)
  })

  it.each(['192.168.1.5', '10.0.0.1', '128.0.0.1', '::ffff:10.0.0.1', 'fe80::1', '::', '', undefined])(
    'does not come from %s',
    (address) => {
      expect(isLocalProgram(HOST, address)).toBe(false)
    },
  )

  it.each(['localhost', 'bot.localhost:80', '127.0.0.1:7860', '[::1]:7860', 'LOCALHOST:1'])(
    'asks for %s',
    (host) => {
      expect(isLocalProgram({ host }, '127.0.0.1')).toBe(true)
    },
  )

  it.each(['bot.example', 'localhost.example', 'notlocalhost', '127.0.0.1.example', undefined])(
    'does not ask for %s, as a tunnel or a page would that was led here by another name',
    (host) => {
      expect(isLocalProgram(host === undefined ? {} : { host }, '127.0.0.1')).toBe(false)
    },
  )

  it.each([
    ['origin', 'http://localhost:7860'],
    ['origin', 'null'],
    ['forwarded', 'for=192.0.2.1'],
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-proto', 'https'],
    ['x-real-ip', '192.0.2.1'],
    ['via', '1.1 proxy'],
    ['cf-connecting-ip', '192.0.2.1'],
  ])('does not send %s: %s', (name, value) => {
    expect(isLocalProgram({ ...HOST, [name]: value }, '127.0.0.1')).toBe(false)
  })
})
