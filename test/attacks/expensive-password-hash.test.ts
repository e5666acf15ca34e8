/**
 * Attack: a password hash in a file, an import or a table of users names a cost that takes a minute of a core or gibibytes
 * of memory. An attacker who can store a hash could stop the server with one sign-in.
 *
 * No hash over the limits is ever computed: it is refused when it is read, and the reason does not contain it.
 */
import { createPasswordCheck, type Derive, parsePasswordHash, passwordHashProblem } from '@grantry/users/password-hash'
import { describe, expect, test } from 'vitest'

const salt = 'AAECAwQFBgcICQoLDA0ODw'
const hash = 'kHmtDij6jFzU/8rtVNtqcIa1p0Cej3+o9TnL9MgjOt4'
const bcryptEnd = 'zxlzcaBcql3BVNIWst.SMOSxFkptDASYTuifhpcoI4zfoGj5yXMPy'

describe('a hash', () => {
  test.each([
    `$argon2id$v=19$m=1048576,t=1,p=1$${salt}$${hash}`,
    `$argon2id$v=19$m=262144,t=5,p=1$${salt}$${hash}`,
    `$argon2id$v=19$m=1024,t=99999,p=1$${salt}$${hash}`,
    `$argon2id$v=19$m=65536,t=3,p=255$${salt}$${hash}`,
    `$argon2id$v=19$m=7,t=1,p=1$${salt}$${hash}`,
    `$scrypt$ln=99,r=8,p=1$${salt}$${hash}`,
    `$scrypt$ln=15,r=99,p=1$${salt}$${hash}`,
    `$scrypt$ln=18,r=8,p=16$${salt}$${hash}`,
    `$scrypt$ln=15,r=8,p=0$${salt}$${hash}`,
    `$2b$16$${bcryptEnd}`,
    `$2b$31$${bcryptEnd}`,
    `$2b$03$${bcryptEnd}`,
    `$pbkdf2-sha256$i=4000001$${salt}$${hash}`,
    `$pbkdf2-sha256$i=99999999$${salt}$${hash}`,
    `$pbkdf2-sha256$i=1$${salt}$${hash}`,
    // Two blocks are twice the work.
    `$pbkdf2-sha256$i=2000001$${salt}$${'A'.repeat(86)}`,
    `pbkdf2_sha256$99999999$saltsalt$${hash}=`,
    Buffer.concat([Buffer.from('0100000001ffffffff00000010', 'hex'), Buffer.alloc(48, 1)]).toString('base64'),
  ])('over a limit of its cost is refused: %s', (text) => {
    expect(parsePasswordHash(text)).toBeUndefined()
    expect(passwordHashProblem(text)).toMatch(/^the cost of /u)
    expect(passwordHashProblem(text)).not.toContain(salt)
  })

  test.each([
    'plain',
    '',
    `$argon2d$v=19$m=1024,t=2,p=2$${salt}$${hash}`,
    `$argon2id$m=1024,t=2,p=2$${salt}$${hash}`,
    `$scrypt$ln=15,r=8,p=1$c2FsdA$aGFzaA`,
    `$argon2id$v=19$m=1024,t=2,p=2$c2FsdA$${hash}`,
    `$scrypt$ln=15,r=8,p=1$${salt}$${'A'.repeat(128)}`,
    `$pbkdf2-sha256$i=1000,l=31$${salt}$${hash}`,
    `$2x$10$${bcryptEnd}`,
    `$2b$10$${bcryptEnd}\n`,
    `\n$2b$10$${bcryptEnd}`,
    // A salt that is longer than the value, and an unknown digest.
    Buffer.concat([Buffer.from('01000000010000271000ffffff', 'hex'), Buffer.alloc(48, 1)]).toString('base64'),
    Buffer.concat([Buffer.from('01000000030000271000000010', 'hex'), Buffer.alloc(48, 1)]).toString('base64'),
    `$scrypt$ln=15,r=8,p=1$${salt}$${'A'.repeat(100_000)}`,
  ])('that is malformed or too short is refused: %j', (text) => {
    expect(parsePasswordHash(text)).toBeUndefined()
    expect(passwordHashProblem(text)).toMatch(/^(?:must be a hash like|the (?:hash|salt) must have)/u)
  })
})

/** A check without computations, and the work that it asks for. */
function counted() {
  const work: string[] = []
  const derive: Derive = async (_password, _salt, length, { algorithm, ...cost }) => {
    work.push(`${algorithm} ${JSON.stringify(cost)} ${length}`)
    return new Uint8Array(64)
  }
  const check = createPasswordCheck([], derive)
  return async (text: string | undefined, password = 'a password') => {
    work.length = 0
    await check(password, text === undefined ? undefined : parsePasswordHash(text))
    return [...work]
  }
}

describe('the work of an attempt', () => {
  const bcrypt = `$2b$10$${bcryptEnd}`
  const argon2 = `$argon2id$v=19$m=1024,t=2,p=2$${salt}$${hash}`

  test('is the same for an unknown user, in every format that was seen', async () => {
    const attempt = counted()
    expect(await attempt(undefined)).toEqual(['argon2id {"m":19456,"t":2,"p":1} 32'])
    await attempt(bcrypt)
    await attempt(argon2)
    const work = ['argon2id {"m":1024,"t":2,"p":2} 32', 'bcrypt {"rounds":10} 32']
    for (const text of [bcrypt, argon2, undefined]) expect(await attempt(text)).toEqual(work)
    expect(await attempt(bcrypt, '')).toEqual(work)
  })

  test('fills up the iterations of PBKDF2, of which a table can have many', async () => {
    const attempt = counted()
    const iterations = (count: number) => `$pbkdf2-sha256$i=${count}$${salt}$${hash}`
    await attempt(iterations(600_000))
    expect(await attempt(iterations(260_000))).toEqual([
      'pbkdf2-sha256 {"iterations":260000} 32',
      'pbkdf2-sha256 {"iterations":340000} 32',
    ])
    expect(await attempt(undefined)).toEqual(['pbkdf2-sha256 {"iterations":600000} 32'])
    expect(await attempt(iterations(600_000))).toEqual(['pbkdf2-sha256 {"iterations":600000} 32'])
  })

  test('does not grow with the number of costs in a table', async () => {
    const attempt = counted()
    for (let rounds = 4; rounds <= 15; rounds += 1)
      await attempt(bcrypt.replace('$10$', `$${`${rounds}`.padStart(2, '0')}$`))
    const work = await attempt(undefined)
    expect(work).toHaveLength(8)
    expect(await attempt(bcrypt.replace('$10$', '$04$'))).toContain('bcrypt {"rounds":4} 32')
    expect(await attempt(undefined)).toHaveLength(8)
  })
})
