import { parseConfiguration } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import {
  configuredUsers,
  createConcurrencyLimit,
  userSchema,
} from '../../packages/server/src/users/configured-users.ts'
import { createPasswordCheck, hashPassword, parsePasswordHash } from '../../packages/server/src/users/password-hash.ts'

describe('a password hash', () => {
  test('is a scrypt hash that matches only its password', async () => {
    const text = await hashPassword('pässword: "x"')
    expect(text).toMatch(/^\$scrypt\$ln=15,r=8,p=1\$[\w+/]+\$[\w+/]+$/u)
    const hash = parsePasswordHash(text)
    if (hash === undefined) throw new Error('our own hash was not parsed')
    const check = createPasswordCheck([hash])
    expect(await check('pässword: "x"', hash)).toBe(true)
    expect(await check('pässword: "X"', hash)).toBe(false)
    expect(await hashPassword('same')).not.toBe(await hashPassword('same'))
  })

  test.each([
    'plain',
    '',
    '$scrypt$ln=99,r=8,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaGhhc2g',
    '$scrypt$ln=15,r=99,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaGhhc2g',
    '$scrypt$ln=15,r=8,p=1$c2FsdA$aGFzaA',
    '$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA',
  ])('rejects %j: malformed, too short, or too expensive', (text) => {
    expect(parsePasswordHash(text)).toBeUndefined()
  })
})

describe('configured users', () => {
  const parse = (user: object) => parseConfiguration(userSchema, user, 'users[0]')

  test('returns nothing for a wrong password, an unknown or inactive user, or an inherited property name', async () => {
    const password = await hashPassword('secret')
    const users = configuredUsers([
      parse({ sub: '1', username: 'alice', password }),
      parse({ sub: '2', username: 'bob', password, active: false }),
    ])
    const send = (username: string, given: string) =>
      users.authenticate?.({ username, password: given }, undefined as never)
    expect(await send('alice', 'secret')).toEqual({ sub: '1' })
    expect(await send('alice', 'wrong')).toBeUndefined()
    expect(await send('bob', 'secret')).toBeUndefined()
    expect(await send('unknown', 'secret')).toBeUndefined()
    expect(await send('__proto__', 'secret')).toBeUndefined()
    expect(users.isActive?.('1')).toBe(true)
    expect(users.isActive?.('2')).toBe(false)
    expect(users.isActive?.('9')).toBe(false)
  })

  test('rejects two users with the same name or sub', async () => {
    const password = await hashPassword('secret')
    const alice = parse({ sub: '1', username: 'alice', password })
    expect(() => configuredUsers([alice, { ...alice, sub: '2' }])).toThrow('two users have the username alice')
    expect(() => configuredUsers([alice, { ...alice, username: 'b' }])).toThrow('two users have the sub 1')
  })
})

describe('the limiter', () => {
  test('limits running and waiting tasks, refuses one more with 503, and recovers', async () => {
    const limited = createConcurrencyLimit({ concurrent: 2, queued: 2 })
    let running = 0
    let most = 0
    const release: (() => void)[] = []
    const task = () =>
      limited(async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise<void>((resolve) => release.push(resolve))
        running -= 1
      })
    const four = [task(), task(), task(), task()]
    await expect(task()).rejects.toMatchObject({ code: 'temporarily_unavailable' })
    let ended = false
    const all = Promise.all(four).then(() => {
      ended = true
    })
    while (!ended) {
      release.splice(0).forEach((go) => {
        go()
      })
      await new Promise((resolve) => setImmediate(resolve))
    }
    await all
    expect(most).toBe(2)
    const failing = limited(async () => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    await expect(limited(async () => 'again')).resolves.toBe('again')
  })
})
