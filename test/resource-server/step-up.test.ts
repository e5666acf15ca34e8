import { describe, expect, test } from 'vitest'
import type { Requirement } from '../../packages/resource-server/src/index.ts'
import { bearing, createApi, keyNamed, sign, start, url } from './issuer.ts'

// RFC 9470 sections 3 and 5: an operation that needs another, or a more recent, authentication of the user.

const key = await keyNamed('one')
const both: Requirement = { scopes: 'read', acrValues: ['urn:mfa', 'urn:key'], maxAge: 300 }

async function ask(claims: Readonly<Record<string, unknown>>, requirement: Requirement) {
  const { api } = await createApi()
  return api.authorize(bearing(await sign(key, claims)), requirement)
}

describe('a token is enough', () => {
  test.each([
    ['with the first value', { acr: 'urn:mfa', auth_time: start }],
    ['with another value', { acr: 'urn:key', auth_time: start - 300 }],
    ['within the tolerance of clocks', { acr: 'urn:key', auth_time: start - 310 }],
    ['if the clock of the issuer is ahead', { acr: 'urn:key', auth_time: start + 10 }],
  ])('%s', async (_, claims) => {
    expect((await ask(claims, both)).reason).toBeUndefined()
  })

  test('without these claims if nothing requires them', async () => {
    expect((await ask({}, { scopes: 'read' })).reason).toBeUndefined()
  })
})

describe('a token gets insufficient_user_authentication', () => {
  test.each([
    ['without acr', { auth_time: start }, 'acr_insufficient'],
    ['with another acr', { acr: 'urn:password', auth_time: start }, 'acr_insufficient'],
    ['with a longer acr', { acr: 'urn:mfa2', auth_time: start }, 'acr_insufficient'],
    ['with acr in another case', { acr: 'URN:MFA', auth_time: start }, 'acr_insufficient'],
    ['with a list as acr', { acr: ['urn:mfa'], auth_time: start }, 'acr_insufficient'],
    ['without auth_time', { acr: 'urn:mfa' }, 'authentication_too_old'],
    ['with an old auth_time', { acr: 'urn:mfa', auth_time: start - 311 }, 'authentication_too_old'],
    ['with auth_time in the future', { acr: 'urn:mfa', auth_time: start + 11 }, 'authentication_too_old'],
    ['with a text as auth_time', { acr: 'urn:mfa', auth_time: String(start) }, 'authentication_too_old'],
    ['with null as auth_time', { acr: 'urn:mfa', auth_time: null }, 'authentication_too_old'],
  ])('and is refused %s', async (_, claims, reason) => {
    const { response, reason: actual } = await ask(claims, both)
    expect([response?.status, actual]).toEqual([401, reason])
    expect(response?.headers.get('www-authenticate')).toBe(
      'Bearer error="insufficient_user_authentication", ' +
        'error_description="The user must authenticate again, or in another way", ' +
        'scope="read", acr_values="urn:mfa urn:key", max_age="300"',
    )
    expect(await response?.json()).toMatchObject({ error: 'insufficient_user_authentication' })
  })

  test('with only one of the parameters if only one is required', async () => {
    const { response } = await ask({}, { maxAge: 0 })
    const header = response?.headers.get('www-authenticate')
    expect(header).toContain('max_age="0"')
    expect(header).not.toContain('acr_values')
  })

  test('after the scopes, of which it lacks one', async () => {
    expect((await ask({}, { ...both, scopes: 'delete' })).reason).toBe('scope_missing')
  })
})

test('a request without a token gets no parameters of another authentication', async () => {
  const { api } = await createApi()
  const { response } = await api.authorize(new Request(url), both)
  expect(response?.headers.get('www-authenticate')).toBe('Bearer scope="read"')
})

test.each([
  ['several values in one text', { acrValues: 'a b' }],
  ['a value that ends the parameter', { acrValues: 'a", error="none' }],
  ['a value with a line break', { acrValues: 'a\r\nset-cookie: b' }],
  ['an empty value', { acrValues: [''] }],
  ['a negative age', { maxAge: -1 }],
  ['a part of a second', { maxAge: 1.5 }],
  ['a text as age', { maxAge: '300' as unknown as number }],
  ['a mistyped member', { acr: 'a' } as unknown as Requirement],
])('a requirement with %s is an error', async (_, requirement) => {
  const { api } = await createApi()
  await expect(api.authorize(new Request(url), requirement)).rejects.toThrow(TypeError)
  expect(() => api.protect(() => new Response(), requirement)).toThrow(TypeError)
})
