import type { NewGrant, ProviderOptions } from '@grantry/core'
import { basic, createTestProvider, read, sha256Of, testClient } from '@grantry/core/testing'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { describe, expect, test } from 'vitest'
import { withoutSignatures } from '../support/same-tokens.ts'

// The APIs, scopes and client of the examples in RFC 8707 section 2.
const cal = 'https://cal.example.com/'
const contacts = 'https://contacts.example.com/'
const redirectUri = 'https://client.example.org/cb'
const [clientId, secret] = testClient
const issuer = 'https://authorization-server.example.com'

async function setUp(more: Partial<ProviderOptions> = {}) {
  const f = await createTestProvider({
    issuer,
    plugins: [authorizationCode(), clientCredentials(), password(), refreshToken(), resourceIndicators()],
    scopes: [{ name: 'calendar', audience: cal }, { name: 'contacts', audience: contacts }, { name: 'unbound' }],
    clients: [
      {
        clientId,
        secrets: [{ sha256: sha256Of(secret) }],
        grantTypes: ['authorization_code', 'client_credentials', 'password', 'refresh_token'],
        scopes: ['calendar', 'contacts', 'unbound', 'offline_access'],
        redirectUris: [redirectUri],
      },
    ],
    users: { isActive: () => true, authenticate: ({ username }) => ({ sub: username }) },
    ...more,
  })

  /** Posts a form as it is on the wire, where `resource` can repeat. */
  async function post(form: string) {
    const headers = { authorization: basic(testClient), 'content-type': 'application/x-www-form-urlencoded' }
    const request = new Request(`${issuer}/connect/token`, { method: 'POST', headers, body: form })
    const response = await read(await f.provider.handlers.token(request))
    const failure = f.events.flatMap((event) => (event.type === 'endpoint_failed' ? [event.reason] : [])).at(-1)
    return { ...response, failure }
  }

  const wire = (resources: readonly string[]): string =>
    resources.map((one) => `&resource=${encodeURIComponent(one)}`).join('')
  const authorize = (resource?: string, more: Partial<NewGrant> = {}) =>
    f.provider.authorize({
      kind: 'code',
      clientId,
      redirectUri,
      subject: { sub: '__b_c', amr: ['pwd'] },
      scopes: ['calendar', 'contacts', 'offline_access'],
      ...(resource !== undefined && { params: { resource } }),
      ...more,
    })
  return {
    ...f,
    authorize,
    post,
    clientToken: (scope: string, ...resources: string[]) =>
      post(`grant_type=client_credentials&scope=${encodeURIComponent(scope)}${wire(resources)}`),
    redeem: (code: string, ...resources: string[]) =>
      post(
        `grant_type=authorization_code&redirect_uri=https%3A%2F%2Fclient.example.org%2Fcb&code=${code}${wire(resources)}`,
      ),
    refresh: (token: string, ...resources: string[]) =>
      post(`grant_type=refresh_token&refresh_token=${token}${wire(resources)}`),
  }
}

const claimsOf = ({ access_token }: { readonly access_token: string }) =>
  JSON.parse(Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString())

describe('the examples of RFC 8707 section 2', () => {
  test('figures 2 to 6: a code for two APIs, a token for one, a refreshed token for the other', async () => {
    const f = await setUp()
    const code = await f.authorize(`${cal} ${contacts}`)

    const first = await f.post(
      `grant_type=authorization_code&redirect_uri=https%3A%2F%2Fclient.example.org%2Fcb&code=${code}&resource=https%3A%2F%2Fcal.example.com%2F`,
    )
    expect(first.status).toBe(200)
    expect(claimsOf(first.body)).toMatchObject({ iss: issuer, sub: '__b_c', aud: cal })
    expect(first.body.scope).toBe('calendar offline_access')

    const second = await f.post(
      `grant_type=refresh_token&refresh_token=${first.body.refresh_token}&resource=https%3A%2F%2Fcontacts.example.com%2F`,
    )
    expect(second.status).toBe(200)
    expect(claimsOf(second.body)).toMatchObject({ sub: '__b_c', aud: contacts })
    expect(second.body.scope).toBe('contacts offline_access')
  })

  test('figure 1: a URI with a path is compared as it is', async () => {
    const audience = 'https://api.example.com/app/'
    const f = await setUp({ scopes: [{ name: 'calendar', audience }, { name: 'contacts' }, { name: 'unbound' }] })
    expect(claimsOf((await f.clientToken('calendar', audience)).body).aud).toBe(audience)
    expect((await f.clientToken('calendar', 'https://api.example.com/app')).body.error).toBe('invalid_target')
  })
})

describe('RFC 8707 section 2: the value of resource', () => {
  const malformed: readonly [string, string, string][] = [
    ['a name', 'calendar', 'malformed'],
    ['a relative reference', '/calendar', 'malformed'],
    ['a network-path reference', '//cal.example.com/', 'malformed'],
    ['a URI with a fragment', `${cal}#top`, 'malformed'],
    ['a URI with an empty fragment', `${cal}#`, 'malformed'],
    ['a URI with a line break', `${cal}\n`, 'malformed'],
    ['a URI with a quotation mark', `${cal}"`, 'malformed'],
    ['a URI with a letter outside ASCII', 'https://cal.example.com/ſ', 'malformed'],
    ['a URI with a malformed escape', `${cal}%2`, 'malformed'],
    ['two spaces', `${cal}  ${cal}`, 'malformed'],
    ['a URI of 2,001 characters', cal.padEnd(2001, 'x'), 'too_long'],
    ['21 resources', Array.from({ length: 21 }, (_, index) => `${cal}${index}`).join(' '), 'too_many'],
    ['a thousand resources', Array.from({ length: 1000 }, () => 'a:').join(' '), 'too_many'],
  ]

  test.each(malformed)('rejects %s with invalid_target, at the token request', async (_, resource, reason) => {
    const { status, body, failure } = await (await setUp()).clientToken('calendar', resource)
    expect([status, failure]).toEqual([400, `plugin:resource-indicators:${reason}`])
    expect(body).toEqual({ error: 'invalid_target', error_description: 'The requested resource is not valid' })
  })

  test.each(malformed)('rejects %s with invalid_target, at the authorization', async (_, resource, reason) => {
    const { authorize } = await setUp()
    await expect(authorize(resource)).rejects.toMatchObject({
      code: 'invalid_target',
      details: { reason: `plugin:resource-indicators:${reason}` },
    })
  })

  test.each([
    ['a URN', 'urn:example:calendar'],
    ['a URI with a query', 'https://cal.example.com/?tenant=1'],
    ['a URI with an escape', 'https://cal.example.com/%20'],
    ['a URI with an IPv6 address', 'https://[2001:db8::1]:8443/'],
    ['a URI of 2,000 characters', cal.padEnd(2000, 'x')],
  ])('accepts %s', async (_, audience) => {
    const f = await setUp({ scopes: [{ name: 'calendar', audience }, { name: 'contacts' }, { name: 'unbound' }] })
    const { status, body } = await f.clientToken('calendar', audience)
    expect([status, claimsOf(body).aud]).toEqual([200, audience])
  })

  test('can repeat; the same value twice counts once', async () => {
    const { clientToken } = await setUp()
    const { body } = await clientToken('calendar contacts', cal, contacts, cal)
    expect(claimsOf(body).aud).toEqual([cal, contacts])
  })

  test('an empty one counts as omitted', async () => {
    const { clientToken } = await setUp()
    expect(claimsOf((await clientToken('calendar contacts', '')).body).aud).toEqual([cal, contacts])
  })

  test('a malformed resource is rejected although another one is valid', async () => {
    const { clientToken } = await setUp()
    expect((await clientToken('calendar', cal, `${cal}#x`)).body.error).toBe('invalid_target')
  })
})

describe('RFC 8707 section 2.2: a token request', () => {
  test('narrows the scopes to what the APIs need, and returns them', async () => {
    const { clientToken } = await setUp()
    const { body } = await clientToken('calendar contacts', contacts)
    expect([body.scope, claimsOf(body).scope, claimsOf(body).aud]).toEqual(['contacts', 'contacts', contacts])
  })

  test.each([
    ['an unknown API', 'https://evil.example.com/'],
    ['an API that the requested scopes do not reach', contacts],
    ['another spelling of a known API', 'HTTPS://CAL.EXAMPLE.COM/'],
  ])('for %s is rejected', async (_, resource) => {
    const { clientToken } = await setUp()
    const { status, body } = await clientToken('calendar', resource)
    expect([status, body.error]).toEqual([400, 'invalid_target'])
  })

  test('for one API of several is rejected if another one is not allowed', async () => {
    const { clientToken } = await setUp()
    expect((await clientToken('calendar', cal, contacts)).body.error).toBe('invalid_target')
  })

  test('without a resource gets what the scopes allow', async () => {
    const { clientToken } = await setUp()
    expect(claimsOf((await clientToken('calendar contacts')).body).aud).toEqual([cal, contacts])
  })

  test('can name the audience of scopes that belong to no API', async () => {
    const { clientToken } = await setUp()
    const { body } = await clientToken('unbound calendar', `${issuer}/resources`)
    expect([body.scope, claimsOf(body).aud]).toEqual(['unbound', `${issuer}/resources`])
  })

  test('with a password binds the refresh token too', async () => {
    const { post, refresh } = await setUp()
    const login = 'grant_type=password&username=alice&password=secret&scope=calendar%20contacts%20offline_access'
    const { body } = await post(`${login}&resource=${encodeURIComponent(cal)}`)
    expect(claimsOf(body).aud).toBe(cal)
    const next = await refresh(body.refresh_token)
    expect(claimsOf(next.body).aud).toBe(cal)
    expect((await refresh(next.body.refresh_token, contacts)).body.error).toBe('invalid_target')
  })
})

describe('RFC 8707 section 2.1: an authorization request', () => {
  test('limits the code and every refresh', async () => {
    const f = await setUp()
    const first = await f.redeem(await f.authorize(cal))
    expect([first.body.scope, claimsOf(first.body).aud]).toEqual(['calendar offline_access', cal])
    const second = await f.refresh(first.body.refresh_token)
    expect(claimsOf(second.body).aud).toBe(cal)
    const widened = await f.refresh(second.body.refresh_token, contacts)
    expect([widened.status, widened.body.error]).toEqual([400, 'invalid_target'])
    // The refused request has not spent the token.
    expect((await f.refresh(second.body.refresh_token, cal)).status).toBe(200)
  })

  test('for an API that the scopes do not reach is rejected', async () => {
    const { authorize } = await setUp()
    await expect(authorize(contacts, { scopes: ['calendar'] })).rejects.toMatchObject({ code: 'invalid_target' })
  })

  test('without a resource limits nothing: each refresh can choose', async () => {
    const f = await setUp()
    const first = await f.redeem(await f.authorize(), cal)
    const second = await f.refresh(first.body.refresh_token, contacts)
    expect([claimsOf(first.body).aud, claimsOf(second.body).aud]).toEqual([cal, contacts])
    expect(claimsOf((await f.refresh(second.body.refresh_token)).body).aud).toEqual([cal, contacts])
  })

  test('is validated before the user logs in', async () => {
    const { provider } = await setUp()
    const request = { clientId, redirectUri, scopes: ['calendar'], params: { resource: 'nowhere' } }
    await expect(provider.checkAuthorizationRequest(request)).rejects.toMatchObject({ code: 'invalid_target' })
  })
})

describe('a refresh that is repeated inside the retry window', () => {
  async function refreshed() {
    const f = await setUp()
    const first = await f.redeem(await f.authorize())
    const token = String(first.body.refresh_token)
    const rotated = await f.refresh(token, cal)
    expect(rotated.status).toBe(200)
    return { ...f, token, rotated }
  }

  test('with the same resource gets the same tokens', async () => {
    const { refresh, token, rotated } = await refreshed()
    const { status, body } = await refresh(token, cal)
    expect(status).toBe(200)
    expect(withoutSignatures(body)).toEqual(withoutSignatures(rotated.body))
    expect((await refresh(body.refresh_token, contacts)).status).toBe(200)
  })

  test.each([
    ['another resource', [contacts]],
    ['one more resource', [cal, contacts]],
    ['no resource', []],
  ])('with %s is another request: rejected, and the family is revoked', async (_, resources) => {
    const { refresh, token, rotated, events } = await refreshed()
    const { status, body, failure } = await refresh(token, ...resources)
    expect([status, body.error, failure]).toEqual([400, 'invalid_grant', 'refresh_reused'])
    expect(events).toContainEqual(expect.objectContaining({ type: 'family_revoked', reason: 'refresh_reused' }))
    expect((await refresh(rotated.body.refresh_token)).status).toBe(400)
  })
})

test('without the plugin, resource is ignored like any unknown parameter', async () => {
  const { clientToken } = await setUp({
    plugins: [clientCredentials(), authorizationCode(), password(), refreshToken()],
  })
  expect(claimsOf((await clientToken('calendar contacts', cal)).body).aud).toEqual([cal, contacts])
})
