import type { ScopeOptions } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { sha256Of, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import { setUp as setUpParties } from './resource-parties.ts'

const files = 'https://files.example.com/mcp'
const mail = 'https://mail.example.com/mcp'
const elsewhere = 'https://elsewhere.example.com/mcp'
/** Two APIs have a scope with the same name. */
const scopes: readonly ScopeOptions[] = [
  { name: 'calendar', audience: [files, mail] },
  { name: 'contacts', audience: mail },
  { name: 'unbound' },
]
const machine = {
  clientId: testClient[0],
  secrets: [{ sha256: sha256Of(testClient[1]) }],
  grantTypes: ['client_credentials'],
  scopes: ['calendar'],
}
const setUp = (more: object = {}) => setUpParties({ scopes, ...more })
const missing = [400, 'invalid_target', 'audience_missing']

describe('a scope of several APIs', () => {
  test.each([files, mail])('3.105 gets a token for %s only, if the request names it', async (resource) => {
    const { clientToken } = await setUp()
    const { body } = await clientToken('calendar', resource)
    expect([body.scope, claimsOf(body).aud]).toEqual(['calendar', resource])
  })

  test('3.105 gets no token if the request names none: one of the APIs could use it at another', async () => {
    const { clientToken } = await setUp()
    const { status, body, failure } = await clientToken('calendar contacts')
    expect([status, body.error, failure]).toEqual(missing)
  })

  test('3.105 gets a token without a resource beside another scope, if it is not granted', async () => {
    const { clientToken } = await setUp()
    expect(claimsOf((await clientToken('contacts')).body).aud).toBe(mail)
  })

  test('3.105 gets no token for an API that has no scope with this name', async () => {
    const { clientToken } = await setUp()
    expect((await clientToken('calendar', elsewhere)).body.error).toBe('invalid_target')
    expect((await clientToken('calendar', files, elsewhere)).body.error).toBe('invalid_target')
  })

  test('3.105 gets a token for both, if the request names both', async () => {
    const { clientToken } = await setUp()
    expect(claimsOf((await clientToken('calendar', files, mail)).body).aud).toEqual([files, mail])
  })

  test('3.105 keeps the API of the authorization through refreshes', async () => {
    const f = await setUp()
    const first = await f.redeem(await f.authorize(files, { scopes: ['calendar', 'offline_access'] }))
    expect(claimsOf(first.body).aud).toBe(files)
    const second = await f.refresh(String(first.body.refresh_token))
    expect(claimsOf(second.body).aud).toBe(files)
    expect((await f.refresh(String(second.body.refresh_token), mail)).body.error).toBe('invalid_target')
  })

  test('3.105 lets a client name the API only in the token request', async () => {
    const f = await setUp()
    const code = await f.authorize(undefined, { scopes: ['calendar', 'offline_access'] })
    expect(claimsOf((await f.redeem(code, mail)).body).aud).toBe(mail)
  })

  test('3.105 without the plugin, gets no token at all', async () => {
    const { clientToken } = await setUp({ plugins: [clientCredentials()], clients: [machine] })
    const { status, body, failure } = await clientToken('calendar', files)
    expect([status, body.error, failure]).toEqual(missing)
  })

  test.each([
    [[], 'scopes[0] ("calendar"): audience must be a string that is not empty, or an array of 1 to 100 such strings'],
    [[''], 'scopes[0] ("calendar"): audience must be a string that is not empty, or an array of 1 to 100 such strings'],
    [7, 'scopes[0] ("calendar"): audience must be a string that is not empty, or an array of 1 to 100 such strings'],
  ])('with the audience %j is refused at the start', async (audience, message) => {
    await expect(setUp({ scopes: [{ name: 'calendar', audience }] })).rejects.toThrow(message)
  })
})
