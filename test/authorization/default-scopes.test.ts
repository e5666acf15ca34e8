import type { ScopeOptions } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { describe, expect, test } from 'vitest'
import { setUp as setUpPush } from '../pushed-authorization/parties.ts'
import { claimsOf } from '../support/claims-of.ts'
import { answer } from './browser.ts'
import { trustedClients as clients, hostSignIn, request, setUp } from './parties.ts'

const files = 'https://files.example.com/mcp'
const mail = 'https://mail.example.com/mcp'
const scopes: readonly ScopeOptions[] = [
  { name: 'files:read', audience: files, default: true },
  { name: 'files:write', audience: files },
  { name: 'mail:read', audience: mail, default: true },
  { name: 'hidden', audience: files, default: true },
  { name: 'off', audience: files, default: true, enabled: false },
]
const clientsWithScopes = clients.map((client) => ({
  ...client,
  scopes: ['openid', 'offline_access', 'off', ...scopes.flatMap(({ name }) => (name === 'hidden' ? [] : [name]))],
}))
const { scope: _, ...unscoped } = request

const plugins = [
  authorizationCode(),
  proofKey(),
  refreshToken(),
  resourceIndicators(),
  authorizationEndpoint({ interaction: hostSignIn }),
]

/** The scopes and the audience of the token, or the error. */
async function granted(more: Readonly<Record<string, string>> = {}, options: object = {}) {
  const f = await setUp(undefined, {}, { scopes, clients: clientsWithScopes, plugins, ...options })
  const { code, error } = answer(await f.browser().open(f.urlOf({ ...unscoped, ...more })))
  if (code === undefined) return error
  const { body } = await f.redeem(code)
  return [body.scope, claimsOf(body as never).aud]
}

describe('an authorization request without a scope', () => {
  test('11.34 gets the default scopes that the client may have', async () => {
    expect(await granted()).toEqual(['files:read mail:read', [files, mail]])
    expect(await granted({ scope: ' ' })).toEqual(['files:read mail:read', [files, mail]])
  })

  test('11.34 gets those of the resource that it names', async () => {
    expect(await granted({ resource: files })).toEqual(['files:read', files])
    expect(await granted({ resource: mail })).toEqual(['mail:read', mail])
  })

  test('11.34 is refused if the resource has none', async () => {
    const others = scopes.map((scope) => ({ ...scope, default: scope.name === 'mail:read' }))
    expect(await granted({ resource: files }, { scopes: others })).toBe('invalid_target')
  })

  test.each([
    ['there are none', { scopes: scopes.map((scope) => ({ ...scope, default: false })) }],
    ['the client may have none', { clients: clientsWithScopes.map((client) => ({ ...client, scopes: ['openid'] })) }],
  ])('11.11 is refused if %s', async (_name, options) => {
    expect(await granted({}, options)).toBe('invalid_scope')
  })

  test('11.34 does not get offline_access by default if the client cannot use it', async () => {
    const isDefault = [...scopes, { name: 'offline_access', default: true }]
    const cannot = clientsWithScopes.map((client) => ({ ...client, grantTypes: ['authorization_code'] }))
    const strict = { scopes: isDefault, clients: cannot, unavailableScopes: 'refuse' as const }
    expect(await granted({}, strict)).toEqual(['files:read mail:read', [files, mail]])
  })

  test('11.34 can be pushed', async () => {
    const { push } = await setUpPush({}, hostSignIn, { scopes, clients: clientsWithScopes })
    expect((await push(unscoped)).status).toBe(201)
  })
})

test('11.34 a request with a scope gets no other one', async () => {
  expect(await granted({ scope: 'files:write' })).toEqual(['files:write', files])
})
