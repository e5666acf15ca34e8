/**
 * Attack: a thief redeems the code of a client with the FAPI 2.0 profile. The provider does not check PKCE, because no
 * plugin does; the code is older than the profile of the client; or the login page has made it valid for an hour.
 *
 * FAPI 2.0 Security Profile, 5.3.2.1, 11 and 5.3.2.2, 5.
 */
import { type ClientOptions, hashSecret } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { deviceAuthorization } from '@grantry/plugins/device-authorization'
import { dpop } from '@grantry/plugins/dpop'
import { fapi2 } from '@grantry/plugins/fapi2'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider, storeGrant } from '@grantry/testing'
import { expect, test } from 'vitest'
import { hostSignIn } from '../authorization/parties.ts'
import { holder } from '../dpop/parties.ts'
import { client, grants, redirectUri, request, start } from '../fapi2/parties.ts'
import { proof as pkce } from '../support/fixture.ts'

const code = {
  kind: 'code',
  clientId: client.clientId,
  redirectUri,
  scopes: ['openid'],
  subject: { sub: 'alice', amr: ['pwd'] },
}
const params = { code_challenge: pkce.challenge, code_challenge_method: 'S256' }
const challenge = { ...code, params }

const withoutPkce = [
  clientCredentials(),
  authorizationCode(),
  refreshToken(),
  authorizationEndpoint({ interaction: hostSignIn, features: [pushedAuthorization()] }),
  clientAssertion(),
  dpop(),
]

test('a provider without a plugin for PKCE does not start with the profile', async () => {
  const { requirePkce, ...withoutDemand } = client
  for (const registered of [client, withoutDemand]) {
    const started = createTestProvider({ plugins: [...withoutPkce, fapi2()], clients: [registered] })
    await expect(started).rejects.toThrow('requirePkce')
  }
})

test('a challenge that no plugin checks is refused, with the plugin of the profile too', async () => {
  const plain = { grantTypes: ['authorization_code'], redirectUris: [redirectUri], scopes: ['openid'] }
  const clients = [{ ...plain, clientId: client.clientId, secrets: [hashSecret('secret')] }]
  const { provider } = await createTestProvider({ plugins: [...withoutPkce, fapi2()], clients })
  await expect(storeGrant(provider, challenge)).rejects.toMatchObject({
    details: { reason: 'challenge_unsupported' },
  })
})

test('a code without a challenge from before the client got the profile is refused', async () => {
  const { profile, requirePkce, ...earlier } = client
  let now: ClientOptions = earlier
  const f = await start([], {}, { clients: { find: () => now } })
  const credential = await storeGrant(f.provider, code)
  now = client
  const form = { grant_type: 'authorization_code', code: credential, redirect_uri: redirectUri }
  const { status, body } = await request(f, form, { proof: await (await holder()).prove() })
  expect([status, body.error]).toEqual([400, 'invalid_grant'])
})

test('a login page cannot make a code valid for more than 60 seconds', async () => {
  const { provider } = await start([client])
  await expect(storeGrant(provider, { ...challenge, lifetime: 61 })).rejects.toMatchObject({
    code: 'invalid_request',
    details: { reason: 'plugin:fapi2:code_lifetime' },
  })
  await expect(storeGrant(provider, { ...challenge, lifetime: 60 })).resolves.toBeDefined()
})

test('device codes need no PKCE, and may be valid for longer', async () => {
  const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
  const f = await createTestProvider({
    plugins: [
      grants,
      clientAssertion(),
      dpop(),
      fapi2(),
      deviceAuthorization({ verificationUri: 'https://id.example.com/device' }),
    ],
    clients: [{ ...client, grantTypes: [...client.grantTypes, deviceGrant] }],
  })
  const url = 'https://id.example.com/connect/deviceauthorization'
  const { status, body } = await request(f, { scope: 'api1' }, { url })
  expect([status, body.expires_in]).toEqual([200, 600])
})
