import { parseConfiguration } from '@grantry/core'
import { hashPassword } from '@grantry/users/password-hash'
import { describe, expect, test } from 'vitest'
import { userSchema } from '../../packages/server/src/configuration/users-schema.ts'
import { configuredUsers } from '../../packages/server/src/users/configured-users.ts'

describe('configured users', () => {
  const parse = (user: object) => parseConfiguration(userSchema, user, 'users[0]')

  test('returns nothing for a wrong password, an unknown or inactive user, or an inherited property name', async () => {
    const password = await hashPassword('secret')
    const users = configuredUsers([
      parse({ sub: '1', username: 'alice', password }),
      parse({ sub: '2', username: 'bob', password, active: false }),
    ])
    const send = (username: string, typed: string) =>
      users.authenticate?.({ username, password: typed }, undefined as never)
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
