// Attack: two users have neighbouring numbers of 64 bits. JSON rounds both to one, so the API that reads the claim takes
// one user for the other; and an infinite number is stored as null. Each place that JSON enters refuses such a number, or
// keeps it as text.
import { inexactNumberIn, parseExactJson, parseJsonText } from '@grantry/core'
import { CompactSign, generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import { claimValue as claimOfEntry } from '../../packages/users/src/ldap/entries.ts'
import { claimValue } from '../../packages/users/src/sql/values.ts'
import { verifiedJwt } from '../../plugins/shared/verify-jwt.ts'
import { setting } from '../admin-api/setting.ts'

const kept: readonly string[] = [
  ...['0', '-0', '0.0', '0e-400', '0.000e-999', '1', '9007199254740991', '-9007199254740991', '9007199254740991.0'],
  ...['1e15', '9.007199254740991E+15', '0.1', '1.5e-7', '2.2250738585072014e-308', `0.${'0'.repeat(250)}1`],
]
/** So small that a double has none of their digits, or not all. */
const vanishing: readonly string[] = [
  ...['1e-400', '-1e-400', '1E-324', '0.1e-400', '2.5e-1000000', '4e-324', '1e-0310'],
  ...[`0.${'0'.repeat(400)}1`, `0.${'0'.repeat(250)}1e-99`],
]
const inexact: readonly string[] = [
  ...['9007199254740992', '9007199254740993', '-9007199254740993', '12345678901234567890', '1e400', '-1e400', '1e16'],
  ...['9'.repeat(400), '9007199254740993.0', '9.007199254740993e15', ...vanishing],
]
const forms = (number: string): readonly string[] => [number, `[${number}]`, `{"a":{"b":[1,${number}]}}`]

describe('JSON of others', () => {
  test.each(kept)('keeps the number %s', (number) => {
    for (const text of forms(number)) {
      expect(inexactNumberIn(parseJsonText(text))).toBeUndefined()
      expect(parseJsonText(text)).toEqual(JSON.parse(text))
      expect(parseExactJson(text)).toEqual(JSON.parse(text))
    }
  })

  test.each(inexact.map((number, index) => [index, number] as const))('has a number as text: %i', (_index, number) => {
    for (const text of forms(number)) {
      expect(inexactNumberIn(parseJsonText(text))).toBeDefined()
      expect(parseExactJson(text)).toEqual(JSON.parse(text.replace(number, `"${number}"`)))
    }
  })

  test('leaves texts as they are, and names the place', () => {
    const text = '{"a \\" 9007199254740993": "1e400 \\\\", "b": [9007199254740993, "\\\\\\"9007199254740993"]}'
    expect(parseExactJson(text)).toEqual({
      'a " 9007199254740993': '1e400 \\',
      b: ['9007199254740993', '\\"9007199254740993'],
    })
    expect(inexactNumberIn({ a: [{ b: 2 ** 53 }] })).toBe('a[0].b')
    expect(inexactNumberIn(2 ** 53)).toBe('')
  })
})

const some = [...inexact.slice(0, 7), ...vanishing.slice(0, 4)]

test.each(some)('the admin API refuses %s in claims', async (number) => {
  const f = await setting()
  const body = `{"sub":"u-1","username":"ann","claims":{"employee":${number}}}`
  const { status, body: response } = await f.send('POST', '/users', { body })
  expect(status).toBe(400)
  expect(JSON.stringify(response)).toContain('such as one beyond 9007199254740991 (2^53): write it as text')
})

test('a token of another issuer keeps a number of 64 bits as text, and a time with one is refused', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const sign = async (claims: string) => {
    return new CompactSign(new TextEncoder().encode(claims)).setProtectedHeader({ alg: 'ES256' }).sign(privateKey)
  }
  const verify = async (claims: string) => {
    const rules = { algorithms: ['ES256'], currentDate: new Date(0), clockTolerance: 0 }
    return verifiedJwt(await sign(claims), (async () => [publicKey]) as never, rules)
  }
  for (const number of some) {
    expect(await verify(`{"sub":"1","employee":${number}}`)).toMatchObject({ payload: { employee: number } })
    for (const time of ['exp', 'auth_time']) expect((await verify(`{"${time}":${number}}`)).reason).toBeDefined()
  }
})

test('a claim of a database is refused, or kept as text', () => {
  const column = { claim: 'employee', column: 'employee', type: 'number' } as const
  for (const number of some) {
    expect(() => claimValue(number, column)).toThrow()
    expect(claimValue(`{"id":${number}}`, { ...column, type: 'json' })).toEqual({ id: number })
    expect(claimValue(number, { ...column, type: 'string' })).toBe(number)
  }
  expect(() => claimValue('9007199254740993', column)).toThrow('write it as text: give it the type string')
  for (const number of kept) expect(claimValue(number, column)).toBe(Number(number))
  expect(claimValue('.5', column)).toBe(0.5)
  for (const text of ['', ' ', '0x10', '0b1', '1_000', '1,5', 'NaN', 'Infinity', ' 12', '12abc', '١٢'])
    expect(() => claimValue(text, column)).toThrow('is not of the type number')
})

test('a claim of a directory is refused, too', () => {
  const attribute = { claim: 'employee', attribute: 'employeeNumber', type: 'number' } as const
  const claimOf = (text: string) => claimOfEntry({ dn: 'cn=ann', employeeNumber: text }, attribute)
  for (const number of some) expect(() => claimOf(number)).toThrow('give it the type string')
  for (const number of kept) expect(claimOf(number)).toBe(Number(number))
  for (const text of [' ', '0x10', '1_000', 'Infinity'])
    expect(() => claimOf(text)).toThrow('is not of the type number')
})
