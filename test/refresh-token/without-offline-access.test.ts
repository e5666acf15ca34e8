// Libraries for MCP do not ask for `offline_access`. The operator of a client can let it have a refresh token without that:
// the provider asks the user on its behalf.
import type { ClientOptions } from '@grantry/core'
import { deviceAuthorization, deviceGrantType, deviceVerification } from '@grantry/plugins/device-authorization'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, fixture, lastReason, redirectUri, web } from '../support/fixture.ts'
import { clientWith } from './refresh-settings.ts'

type Unasked = NonNullable<NonNullable<ClientOptions['refreshToken']>['unasked']>

/** A provider whose client can be changed while it runs. */
async function started(unasked: Unasked | undefined, more: Partial<ClientOptions> = {}) {
  const client: ClientOptions = {
    ...clientWith({ unasked }),
    grantTypes: ['authorization_code', 'password', 'refresh_token', deviceGrantType],
    scopes: ['openid', 'profile', 'api1', 'api2'],
    redirectUris: [redirectUri],
    ...more,
  }
  let current = client
  const f = await fixture({
    plugins: [...builtInPlugins, deviceAuthorization({ verificationUri: 'https://id.example.com/device' })],
    clients: { find: (id) => (id === client.clientId ? current : undefined) },
  })
  /** What a page shows, and the tokens of what the user has left of it. */
  async function authorize(scope: string, left = (scopes: readonly string[]) => scopes) {
    const proposal = await f.provider.openAuthorization({ kind: 'code', clientId: client.clientId, redirectUri, scope })
    const shown = proposal.scopes
    const code = await f.provider.authorize(proposal, { subject: { sub: '1', amr: ['pwd'] }, scopes: left(shown) })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    return { shown, code, form, ...(await f.post('token', form, web)).body }
  }
  return {
    f,
    authorize,
    refresh: (refresh_token: string) => f.post('token', { grant_type: 'refresh_token', refresh_token }, web),
    change(changed: Partial<ClientOptions>) {
      current = { ...client, ...changed }
    },
  }
}

describe.each<[Unasked | undefined, boolean, boolean]>([
  [undefined, false, false],
  ['never', false, false],
  ['without_openid', true, false],
  ['always', true, true],
])('a client with the setting %s', (unasked, withoutOpenid, withOpenid) => {
  test(`3.108 gets a refresh token for scopes of an API: ${withoutOpenid}`, async () => {
    const { authorize, refresh } = await started(unasked)
    const { shown, scope, refresh_token: token } = await authorize('api1')
    // What the user sees is what the client gets.
    expect(shown).toEqual(withoutOpenid ? ['api1', 'offline_access'] : ['api1'])
    expect([scope, token !== undefined]).toEqual([shown.join(' '), withoutOpenid])
    if (token === undefined) return
    const next = await refresh(token)
    expect([next.status, next.body.scope]).toEqual([200, 'api1 offline_access'])
    expect((await refresh(next.body.refresh_token)).status).toBe(200)
  })

  test(`3.108 gets one together with openid: ${withOpenid}`, async () => {
    const { authorize } = await started(unasked)
    expect((await authorize('openid api1')).refresh_token !== undefined).toBe(withOpenid)
  })

  test(`3.108 so do devices: ${withoutOpenid}`, async () => {
    const { f } = await started(unasked)
    const { body } = await f.post('deviceAuthorization', { scope: 'api1' }, web)
    await f.provider
      .use(deviceVerification)
      .approve(String(body.user_code), '192.0.2.1', { subject: { sub: '1', amr: ['pwd'] } })
    const tokens = (await f.post('token', { grant_type: deviceGrantType, device_code: body.device_code }, web)).body
    expect(tokens.refresh_token !== undefined).toBe(withoutOpenid)
  })

  test('3.108 gets none without the grant type refresh_token', async () => {
    const { authorize } = await started(unasked, { grantTypes: ['authorization_code'] })
    expect(await authorize('api1')).toMatchObject({ shown: ['api1'], scope: 'api1' })
    expect((await authorize('api1')).refresh_token).toBeUndefined()
  })

  test('3.108 gets one for offline_access, if it may have that', async () => {
    const { authorize } = await started(unasked, { scopes: ['openid', 'offline_access', 'api1'] })
    expect((await authorize('openid offline_access api1')).refresh_token).toEqual(expect.any(String))
  })

  test('3.108 gets none with a password, for which it has to ask', async () => {
    const { f } = await started(unasked)
    const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }
    expect((await f.post('token', form, web)).body.refresh_token).toBeUndefined()
  })
})

test('3.108 a user who leaves offline_access out gives no refresh token', async () => {
  const { authorize } = await started('always')
  const tokens = await authorize('api1', (shown) => shown.filter((name) => name !== 'offline_access'))
  expect([tokens.shown.includes('offline_access'), tokens.scope, tokens.refresh_token]).toEqual([
    true,
    'api1',
    undefined,
  ])
})

test('3.108 a host that decides itself about the scopes decides about this one, too', async () => {
  const { f } = await started('always')
  const request = { kind: 'code', clientId: web[0], redirectUri, scopes: ['api1'] }
  expect((await f.provider.openAuthorization(request)).scopes).toEqual(['api1'])
})

test('3.45 a client whose setting is taken back loses these refresh tokens', async () => {
  const { f, authorize, refresh, change } = await started('without_openid')
  const { refresh_token: token } = await authorize('api1')
  change({ refreshToken: {} })
  const { status, body } = await refresh(token)
  expect([status, body.error, lastReason(f)]).toEqual([400, 'invalid_grant', 'scope_lost'])
})

test('3.108 a replay of the code revokes the refresh token, as long as it lives', async () => {
  const { f, authorize, refresh } = await started('without_openid')
  const { refresh_token: token, form } = await authorize('api1')
  f.clock.advance(2 * 86_400)
  expect((await f.post('token', form, web)).status).toBe(400)
  expect((await refresh(token)).body.error).toBe('invalid_grant')
})

test('3.108 the setting is checked at start', async () => {
  await expect(fixture({ clients: [clientWith({ unasked: 'sometimes' as Unasked })] })).rejects.toThrow(
    /refreshToken\.unasked must be "never", "without_openid" or "always"/u,
  )
})
