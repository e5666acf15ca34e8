/**
 * Attack: the time of a failed login reveals which users exist, or which have an old, cheap hash. The tests count key
 * derivations instead of measuring time.
 *
 * Wire contract, section 3, `password`: wrong user, wrong password and inactive user take the same time.
 */
import { randomBytes } from 'node:crypto'
import { parseConfiguration } from '@grantry/core'
import { type Derive, deriveKey, type PasswordCost } from '@grantry/users/password-hash'
import { describe, expect, test } from 'vitest'
import { userSchema } from '../../packages/server/src/configuration/users-schema.ts'
import { configuredUsers } from '../../packages/server/src/users/configured-users.ts'

interface Hashed {
  readonly username: string
  readonly ln: number
  readonly r?: number
  readonly length?: number
  readonly active?: boolean
}

/** At the lowest cost that a hash may have: the tests count derivations and their costs. */
const cheapKey: Derive = (password, salt, length, cost) =>
  deriveKey(password, salt, length, cost.algorithm === 'scrypt' ? { ...cost, ln: 10 } : cost)

const nameOf = (cost: PasswordCost): string => {
  if (cost.algorithm !== 'scrypt') return JSON.stringify(cost)
  return `N=2^${cost.ln} r=${cost.r} p=${cost.p}`
}

async function userOf({ username, ln, r = 8, length = 32, active = true }: Hashed) {
  const [salt, unpadded] = [
    randomBytes(16),
    (bytes: Uint8Array) => Buffer.from(bytes).toString('base64').replaceAll('=', ''),
  ]
  const key = await cheapKey(`${username}-password`, salt, length, { algorithm: 'scrypt', ln, r, p: 1 })
  const password = `$scrypt$ln=${ln},r=${r},p=1$${unpadded(salt)}$${unpadded(key)}`
  return parseConfiguration(userSchema, { sub: username, username, password, active }, 'users[0]')
}

/** The users, and every key derivation of an attempt. */
async function counting(hashes: readonly Hashed[]) {
  const work: string[] = []
  const derive: Derive = (password, salt, length, cost) => {
    work.push(`${nameOf(cost)}, ${length} bytes of ${password.length} characters`)
    return cheapKey(password, salt, length, cost)
  }
  const users = configuredUsers(await Promise.all(hashes.map(userOf)), { derive })
  return async (username: string, password: string) => {
    work.length = 0
    const user = await users.authenticate?.({ username, password })
    return { sub: user?.sub, work: [...work] }
  }
}

const mixed: readonly Hashed[] = [
  { username: 'cheap', ln: 10 },
  { username: 'dear', ln: 13 },
  { username: 'other', ln: 11, r: 16, length: 64 },
  { username: 'cheap-too', ln: 10 },
  { username: 'inactive', ln: 10, active: false },
]

describe('with hashes of different costs', () => {
  test('each user logs in with their own password only', async () => {
    const attempt = await counting(mixed)
    for (const { username, active } of mixed) {
      expect((await attempt(username, `${username}-password`)).sub).toBe(active === false ? undefined : username)
      expect((await attempt(username, 'dear-passwore')).sub).toBeUndefined()
    }
    expect((await attempt('cheap', 'cheap-too-password')).sub).toBeUndefined()
  })

  test.each(['cheap', 'dear', 'other', 'cheap-too', 'inactive', 'absent', '__proto__', ''])(
    'an attempt for %j costs the same as every other: each cost once, in one order',
    async (username) => {
      const attempt = await counting(mixed)
      const { work } = await attempt(username, 'a password')
      expect(work).toEqual([
        'N=2^13 r=8 p=1, 64 bytes of 10 characters',
        'N=2^11 r=16 p=1, 64 bytes of 10 characters',
        'N=2^10 r=8 p=1, 64 bytes of 10 characters',
      ])
    },
  )

  test('the right password costs as much as a wrong one', async () => {
    const attempt = await counting(mixed)
    const right = await attempt('cheap', 'cheap-password')
    expect(right.sub).toBe('cheap')
    expect((await attempt('absent', 'cheap-password')).work).toEqual(right.work)
  })
})

test('if all hashes have one cost, an attempt is one derivation', async () => {
  const attempt = await counting([{ username: 'alice', ln: 12 }])
  for (const username of ['alice', 'absent']) {
    expect((await attempt(username, 'x')).work).toEqual(['N=2^12 r=8 p=1, 32 bytes of 1 characters'])
  }
})

test('without users, an attempt costs as much as a new hash', async () => {
  const attempt = await counting([])
  expect((await attempt('absent', 'x')).work).toEqual([
    '{"algorithm":"argon2id","m":19456,"t":2,"p":1}, 32 bytes of 1 characters',
  ])
})
