import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clientId, createHosts, document, type Hosted, redirectUri, resource, setUp } from './parties.ts'

const day = 86_400

describe('a client of the configuration whose id is an https URL', () => {
  const configured = {
    clientId,
    secrets: [{ sha256: sha256Of('its-secret') }],
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['mcp:tools', 'offline_access'],
    redirectUris: [redirectUri],
  }

  test.each([
    ['without a document', { body: '', status: 404 }],
    ['with the document of another client', { body: { ...document, client_id: `${clientId}2` } }],
    ['with a document of its own', { body: document }],
    ['with a document that ends it', { body: '', status: 410 }],
  ])('%s is that of the configuration, and no request is sent', async (_name, hosted) => {
    const f = await setUp(createHosts({ [clientId]: hosted }), {}, { clients: [configured] })
    const { code } = await f.authorize()
    expect((await f.redeem(code)).status).toBe(401)
    expect((await f.redeem(code, { client_secret: 'its-secret' })).status).toBe(200)
    expect(f.requested).toEqual([])
  })
})

/** A provider with a token of the client. */
async function signedIn() {
  const secrets = [{ sha256: sha256Of('api-secret') }]
  const f = await setUp(
    createHosts(),
    {},
    { scopes: [{ name: 'mcp:tools', audience: resource, default: true, secrets }] },
  )
  const newToken = async () =>
    (await f.redeem((await f.authorize({ scope: 'openid mcp:tools' })).code)).body.access_token
  const introspect = (token: string) => f.post('introspection', { token }, ['mcp%3Atools', 'api-secret'])
  const userinfo = (token: string) => f.get('userinfo', {}, { authorization: `Bearer ${token}` })
  return { ...f, newToken, introspect, userinfo }
}

describe('a token of a client whose document', () => {
  test.each<[string, Hosted]>([
    ['is gone', { body: '', status: 410 }],
    ['describes no client any more', { body: { ...document, redirect_uris: [] } }],
  ])('%s is not active', async (_name, hosted) => {
    const f = await signedIn()
    const token = await f.newToken()
    expect((await f.introspect(token)).body).toMatchObject({ active: true })
    f.hosted.set(clientId, hosted)
    f.clock.advance(301)
    expect((await f.authorize()).status).toBe(400)
    const { status, body } = await f.introspect(token)
    expect([status, body]).toEqual([200, { active: false }])
    const claims = await f.userinfo(token)
    expect([claims.status, claims.body.error]).toEqual([401, 'invalid_token'])
  })

  test('cannot be fetched, and has no copy left, is neither active nor invalid', async () => {
    const f = await signedIn()
    await f.newToken()
    f.hosted.set(clientId, { body: '', status: 403 })
    f.clock.advance(day - 10)
    const token = await f.newToken()
    expect((await f.introspect(token)).body).toMatchObject({ active: true })
    f.clock.advance(30)
    expect((await f.introspect(token)).status).toBe(503)
    expect((await f.userinfo(token)).status).toBe(503)
  })
})
