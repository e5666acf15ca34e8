import type { Grant } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import { expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:badge'
const grant = (more: Partial<Grant>) => ({
  ...testGrant({ grantType, scope: 'optional', handle: ({ scopes }) => ({ scopes }) }),
  ...more,
})
const scopesFor = async (form: Record<string, string>, more: Partial<Grant>) => {
  const { post } = await createTestProvider({
    plugins: [grant(more)],
    scopes: [{ name: 'api1' }, { name: 'other' }, { name: 'off', enabled: false }],
  })
  const { body } = await post('token', { grant_type: grantType, ...form }, testClient)
  return body.scope ?? body.error
}

test('a request without a scope gets the default of the grant', async () => {
  expect(await scopesFor({}, { defaultScopes: () => ['api1', 'api1'] })).toBe('api1')
})

test('without those that the client may not request', async () => {
  expect(await scopesFor({}, { defaultScopes: () => ['api1', 'other', 'off', 'absent'] })).toBe('api1')
  expect(await scopesFor({}, { defaultScopes: ({ scopes }) => scopes.filter((name) => name === 'api1') })).toBe('api1')
})

test('a requested scope replaces the default, and must be allowed', async () => {
  const defaultScopes = () => ['api1']
  expect(await scopesFor({ scope: 'api1' }, { defaultScopes: () => [] })).toBe('api1')
  expect(await scopesFor({ scope: 'other' }, { defaultScopes })).toBe('invalid_scope')
})

test('without a default, the token has no scope', async () => {
  expect(await scopesFor({}, {})).toBe('')
})

test.each([
  ['a required scope', { scope: 'required', defaultScopes: () => [] }],
  ['a list instead of a function', { defaultScopes: ['api1'] as never }],
] as const)('a default with %s is an error at startup', async (_, more) => {
  await expect(createTestProvider({ plugins: [grant(more as Partial<Grant>)] })).rejects.toThrow(/defaultScopes/u)
})
