import type { ExchangeRequest } from '@grantry/plugins/token-exchange'
import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import { app, backend, originalKey, refused, service, setUp, typeOf } from './exchange-parties.ts'

describe('the scopes', () => {
  test('are those of the subject token by default, without offline_access', async () => {
    const f = await setUp()
    expect((await f.exchange((await f.logIn()).access_token)).body.scope).toBe('openid front api')
  })

  test('can be fewer', async () => {
    const f = await setUp()
    const { body } = await f.exchange((await f.logIn()).access_token, { scope: 'api' })
    expect([body.scope, claimsOf(body).aud]).toEqual(['api', backend])
  })

  test('are at most those of the subject token, unless the policy allows others', async () => {
    const f = await setUp()
    const { access_token } = await f.logIn({ scopes: ['front'] })
    const { status, body, failure } = await f.exchange(access_token, { scope: 'front api' })
    expect([status, body.error, failure]).toEqual([400, 'invalid_scope', 'plugin:token-exchange:scope_not_allowed'])
    const g = await setUp({ allow: () => ({ scopes: ['api'] }) })
    const token = (await g.logIn({ scopes: ['front'] })).access_token
    expect((await g.exchange(token, { scope: 'api' })).body.scope).toBe('api')
    expect((await g.exchange(token)).body.scope).toBe('api')
    expect((await g.exchange(token, { scope: 'front' })).body.error).toBe('invalid_scope')
  })

  test('are at most those of the client', async () => {
    const f = await setUp({ allow: () => ({ scopes: ['api', 'orders'] }) })
    const { access_token } = await f.logIn()
    expect((await f.exchange(access_token, {}, app)).body.scope).toBe('api')
    expect((await f.exchange(access_token, { scope: 'orders' }, app)).body.error).toBe('invalid_scope')
  })

  test('must be named for a token without scopes', async () => {
    const f = await setUp({ allow: () => ({ scopes: ['api'] }) })
    const jwt = await originalKey.sign(f.originalClaims({ sub: 'bdc' }))
    const { body, failure } = await f.exchange(jwt, { subject_token_type: typeOf('jwt') })
    expect([body.error, failure]).toEqual(['invalid_scope', 'plugin:token-exchange:scope_missing'])
    expect((await f.exchange(jwt, { subject_token_type: typeOf('jwt'), scope: 'api' })).status).toBe(200)
  })
})

describe('the policy', () => {
  test('refuses every exchange by default', async () => {
    const f = await setUp({ allow: undefined })
    const { status, body, failure } = await f.exchange((await f.logIn()).access_token)
    expect([status, body, failure]).toEqual([400, refused, 'plugin:token-exchange:not_allowed'])
  })

  test('gets each target in its registered form, so that another form does not pass it by', async () => {
    const seen: string[] = []
    const f = await setUp({
      allow({ targets }) {
        seen.push(...targets)
        return true
      },
    })
    const { access_token: token } = await f.logIn()
    for (const name of ['resource', 'audience']) {
      const { body } = await f.exchange(token, { [name]: backend.replace('https://backend', 'HTTPS://Backend') })
      expect(claimsOf(body).aud).toBe(backend)
    }
    expect(seen).toEqual([backend, backend])
  })

  test('gets the client, both tokens, the scopes and the targets', async () => {
    const requests: ExchangeRequest[] = []
    const f = await setUp({ allow: (request) => void requests.push(request) })
    const { access_token } = await f.logIn()
    await f.exchange(access_token, {
      scope: 'api',
      resource: backend,
      actor_token: await f.clientToken(service),
      actor_token_type: typeOf('access_token'),
    })
    expect(requests).toMatchObject([
      {
        client: { clientId: service[0] },
        subject: {
          type: 'access_token',
          clientId: app[0],
          sub: 'bdc@example.com',
          scopes: ['openid', 'offline_access', 'front', 'api'],
        },
        actor: { type: 'access_token', clientId: service[0], claims: { client_id: service[0] } },
        scopes: ['api'],
        targets: [backend],
      },
    ])
  })
})
