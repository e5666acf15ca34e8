import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import { withoutSignatures } from '../support/same-tokens.ts'
import { cal, clientId, contacts, issuer, redirectUri, setUp } from './resource-parties.ts'

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

describe('RFC 8707 section 2.2: a token request', () => {
  test('narrows the scopes to what the APIs need, and returns them', async () => {
    const { clientToken } = await setUp()
    const { body } = await clientToken('calendar contacts', contacts)
    expect([body.scope, claimsOf(body).scope, claimsOf(body).aud]).toEqual(['contacts', 'contacts', contacts])
  })

  test.each([
    ['an unknown API', 'https://evil.example.com/'],
    ['an API that the requested scopes do not reach', contacts],
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
    const request = { kind: 'code', clientId, redirectUri, scopes: ['calendar'], params: { resource: 'nowhere' } }
    await expect(provider.openAuthorization(request)).rejects.toMatchObject({ code: 'invalid_target' })
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
