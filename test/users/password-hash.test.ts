import {
  createPasswordCheck,
  hashPassword,
  keycloakPasswordHash,
  needsRehash,
  parsePasswordHash,
  passwordHashProblem,
} from '@grantry/users/password-hash'
import { describe, expect, test } from 'vitest'
import { foreignHashes, keycloakCredentials, password } from './hash-vectors.ts'

function parsed(text: string | undefined) {
  const hash = parsePasswordHash(text ?? '')
  if (hash === undefined) throw new Error(`not parsed: ${passwordHashProblem(text ?? '')}`)
  return hash
}

describe('a new hash', () => {
  test('is an argon2id hash that matches only its password', async () => {
    const text = await hashPassword(password)
    expect(text).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/u)
    const hash = parsed(text)
    const check = createPasswordCheck([hash])
    expect(await check(password, hash)).toBe(true)
    expect(await check(password.toUpperCase(), hash)).toBe(false)
    expect(await hashPassword('same')).not.toBe(await hashPassword('same'))
    expect(needsRehash(hash)).toBe(false)
  })

  test('is not made of an empty password, or one with NUL', async () => {
    await expect(hashPassword('')).rejects.toThrow('the password is empty')
    await expect(hashPassword('a\0')).rejects.toThrow('the password contains NUL')
  })
})

describe('a hash of another program', () => {
  test.each(Object.entries(foreignHashes))('matches only its password: %s', async (_name, text) => {
    const hash = parsed(text)
    const check = createPasswordCheck()
    expect(await check(password, hash)).toBe(true)
    for (const wrong of [`${password} `, password.toUpperCase(), `${password}\0`, '\0', '']) {
      expect(await check(wrong, hash)).toBe(false)
    }
    expect(needsRehash(hash)).toBe(true)
  })

  test.each(Object.entries(keycloakCredentials))('comes from an export of Keycloak: %s', async (_name, credential) => {
    const hash = parsed(keycloakPasswordHash(credential))
    expect(await createPasswordCheck()(password, hash)).toBe(true)
    expect(await createPasswordCheck()('wrong', hash)).toBe(false)
  })

  test.each([
    ['{"hashIterations":1,"algorithm":"__proto__"}', '{"value":"YQ==","salt":"YQ=="}'],
    [
      '{"hashIterations":1,"algorithm":"argon2","additionalParameters":{"type":["d"]}}',
      '{"value":"YQ==","salt":"YQ=="}',
    ],
    ['{"hashIterations":"1","algorithm":"pbkdf2"}', '{"value":"YQ==","salt":"YQ=="}'],
    ['{"hashIterations":1,"algorithm":"pbkdf2"}', '{"value":1}'],
    ['null', '{}'],
    ['{', '{}'],
  ])('is refused when Keycloak exported %s', (credentialData, secretData) => {
    expect(keycloakPasswordHash({ credentialData, secretData })).toBeUndefined()
  })

  test('of bcrypt covers 72 bytes of the password, as the program that made it did', async () => {
    const hash = parsed('$2b$04$aWCSbAmTPWfV.89wpRufzeS6VrQ.Y01hKJKXefHPSe6cwlPtkkCYe')
    const check = createPasswordCheck()
    expect(await check('é'.repeat(40), hash)).toBe(true)
    expect(await check('é'.repeat(35), hash)).toBe(false)
  })

  test('needs no new one when it is argon2id of the recommended cost', () => {
    const text = '$argon2id$v=19$m=65536,t=3,p=4$AAECAwQFBgcICQoLDA0ODw$kHmtDij6jFzU/8rtVNtqcIa1p0Cej3+o9TnL9MgjOt4'
    expect(needsRehash(parsed(text))).toBe(false)
    expect(needsRehash(parsed(text.replace('65536,t=3', '8192,t=3')))).toBe(true)
  })

  test('of scrypt still matches its password, and is replaced at the next sign-in', async () => {
    const text = '$scrypt$ln=15,r=8,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$sFgiX3AL3z8yx6STrVqoXgSPpEwxypo9+8v9qy0iYi0'
    expect(await createPasswordCheck()('alice-password', parsed(text))).toBe(true)
    expect(needsRehash(parsed(text))).toBe(true)
  })
})

test('concurrent checks of argon2 and bcrypt do not mix their results', async () => {
  const check = createPasswordCheck()
  const hashes = Object.values(foreignHashes).slice(0, 7).map(parsed)
  const pairs = hashes.flatMap((hash) => [[password, hash] as const, ['wrong', hash] as const])
  const results = await Promise.all(pairs.map(([text, hash]) => check(text, hash)))
  expect(results).toEqual(pairs.map(([text]) => text === password))
})

test('a hash of fewer than 1,000 iterations of PBKDF2 is refused: it could be guessed, and costs an attempt nothing', () => {
  const text = (iterations: number) =>
    `$pbkdf2-sha256$i=${iterations}$/v9/T0npfa/1vtfamxPCmA$RgH/IoTEqlmzPEgag192abnVmKvZz1N+sTlEL+NM6Vo`
  expect(passwordHashProblem(text(1000))).toBeUndefined()
  for (const iterations of [0, 1, 999]) expect(passwordHashProblem(text(iterations))).toContain('1,000 to 4,000,000')
})

test('a long row of padding in an export of Keycloak is no hash', () => {
  const value = `${'='.repeat(50_000)}x`
  const hash = keycloakPasswordHash({
    credentialData: '{"hashIterations":1000,"algorithm":"pbkdf2"}',
    secretData: JSON.stringify({ salt: value, value }),
  })
  expect(passwordHashProblem(hash ?? '')).toContain('must be a hash like')
})
