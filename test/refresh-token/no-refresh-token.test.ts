import type { ClientOptions } from '@grantry/core'
import { deviceAuthorization, deviceGrantType, deviceVerification } from '@grantry/plugins/device-authorization'
import { describe, expect, test } from 'vitest'
import { badge, grantType as badgeGrantType, holder } from '../custom-grant/badge-grant.ts'
import { builtInPlugins, clients, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

const scope = 'openid offline_access api1'
const signIn = { username: 'alice', password: 'alice-password' }

/** How the client `web` gets tokens of a user. */
const ways: Readonly<Record<string, (f: Fixture) => Promise<Record<string, string>>>> = {
  password: async () => ({ ...signIn, scope }),
  authorization_code: async (f) => ({ code: await f.code(), redirect_uri: redirectUri }),
  [deviceGrantType]: async (f) => {
    const { body } = await f.post('deviceAuthorization', { scope }, web)
    await f.provider.use(deviceVerification).approve(String(body.user_code), '192.0.2.1', { subject: holder })
    return { device_code: String(body.device_code) }
  },
  [badgeGrantType]: async () => ({ badge_id: '123456', scope }),
}
const grantTypes = Object.keys(ways)

const start = (more: Partial<ClientOptions>, refresh = builtInPlugins) =>
  fixture({
    plugins: [
      refresh,
      deviceAuthorization({ verificationUri: 'https://id.example.com/device' }),
      badge(({ scopes }) => ({ subject: holder, scopes })),
    ],
    clients: [{ ...clients[0], ...more } as ClientOptions],
  })

async function tokens(f: Fixture, grantType: string) {
  const form = { grant_type: grantType, ...(await ways[grantType]?.(f)) }
  return f.post('token', form, web)
}

describe.each(grantTypes)('the grant type %s', (grantType) => {
  test('3.104 issues a refresh token to a client that can use it', async () => {
    const { status, body } = await tokens(await start({ grantTypes: [...grantTypes, 'refresh_token'] }), grantType)
    expect([status, typeof body.refresh_token]).toEqual([200, 'string'])
  })

  test('3.104 issues none to a client without the grant type refresh_token', async () => {
    const { status, body } = await tokens(await start({ grantTypes }), grantType)
    expect([status, typeof body.access_token, body.refresh_token]).toEqual([200, 'string', undefined])
  })

  test('3.104 issues none if no plugin redeems it', async () => {
    const others = builtInPlugins.filter((plugin) => !('grantType' in plugin && plugin.grantType === 'refresh_token'))
    const { status, body } = await tokens(await start({ grantTypes }, others as typeof builtInPlugins), grantType)
    expect([status, body.refresh_token]).toEqual([200, undefined])
  })
})
