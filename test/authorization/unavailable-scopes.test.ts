import { deviceAuthorization, deviceGrantType } from '@grantry/plugins/device-authorization'
import { describe, expect, test } from 'vitest'
import { setUp as setUpPush } from '../pushed-authorization/parties.ts'
import { builtInPlugins, fixture, web as fixtureWeb, lastReason } from '../support/fixture.ts'
import { answer } from './browser.ts'
import { clients, request, setUp, web } from './parties.ts'

const without = clients.map((client) => ({ ...client, grantTypes: ['authorization_code'] }))
const isCode = { code: expect.any(String), state: request.state }
const strict = { unavailableScopes: 'refuse' } as const

/** The scopes that the client gets, or the error. */
async function granted(scope: string, more: object = {}) {
  const f = await setUp(undefined, {}, more)
  const { code, error } = answer(await f.browser().open(f.urlOf({ ...request, scope })))
  return code === undefined ? error : (await f.redeem(code)).body
}

describe('a scope that the client cannot get', () => {
  test.each([
    ['that does not exist', 'openid groups api1', {}, 'openid api1'],
    ['that the client may not request', 'openid email', {}, 'openid'],
    ['offline_access of a client that cannot use it', 'openid offline_access', { clients: without }, 'openid'],
  ])('11.31 is ignored: one %s', async (_name, scope, more, expected) => {
    const body = await granted(scope, more)
    expect(body).toMatchObject({ scope: expected, id_token: expect.any(String) })
    expect(body).not.toHaveProperty('refresh_token')
  })

  test.each([
    ['one that does not exist', 'openid groups', {}],
    ['one that the client may not request', 'openid email', {}],
    ['offline_access', 'openid offline_access', { clients: without }],
  ])('11.31 is refused with unavailableScopes: refuse: %s', async (_name, scope, more) => {
    expect(await granted(scope, { ...strict, ...more })).toBe('invalid_scope')
  })

  test.each([
    ['no other scope is left', 'groups email', {}],
    ['only offline_access of a client that cannot use it is left', 'offline_access', { clients: without }],
    ['it is openid', 'openid api1', { clients: clients.map((client) => ({ ...client, scopes: ['api1'] })) }],
    ['it is malformed', 'openid "', {}],
  ])('11.31 is refused if %s', async (_name, scope, more) => {
    expect(await granted(scope, more)).toBe('invalid_scope')
  })

  test('11.31 is ignored in a pushed request', async () => {
    const { push, browser, urlOf } = await setUpPush()
    const { status, body } = await push({ ...request, scope: 'openid groups' })
    expect(status).toBe(201)
    const url = urlOf({ client_id: web[0], request_uri: String(body.request_uri) })
    expect(answer(await browser().open(url))).toMatchObject(isCode)
    const refusing = await setUpPush({}, undefined, strict)
    expect((await refusing.push({ ...request, scope: 'openid groups' })).body.error).toBe('invalid_scope')
  })

  test.each([
    ['ignored', {}, 200, undefined],
    ['refused with unavailableScopes: refuse', strict, 400, 'scope_unknown'],
  ])('11.31 is %s at the device authorization', async (_name, more, status, reason) => {
    const device = { ...clients[0], clientId: 'tv', public: true, secrets: [], grantTypes: [deviceGrantType] }
    const plugins = [deviceAuthorization({ verificationUri: 'https://id.example.com/device' })]
    const f = await fixture({ plugins: [builtInPlugins, plugins], clients: [device], ...more })
    const response = await f.post('deviceAuthorization', { client_id: 'tv', scope: 'openid groups offline_access' })
    expect([response.status, lastReason(f)]).toEqual([status, reason])
  })

  test('11.31 is refused at the token endpoint', async () => {
    const f = await fixture()
    const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'openid groups' }
    expect((await f.post('token', form, fixtureWeb)).body.error).toBe('invalid_scope')
  })
})
