/**
 * Attack: a thief has a browser in which the victim is signed in at another provider, which signs the victim in here without
 * a question, and does not state when the victim authenticated. The thief shows the tokens where a recent authentication
 * is demanded: at an API, or at the issuing of an identity assertion for another server. The mark must survive refreshes
 * and device approvals.
 *
 * RFC 9470 section 4; decision 159.
 */
import { collectParts, decodeJwt } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { deviceGrantType, deviceSignIn } from '@grantry/plugins/device-authorization'
import { tokenExchange } from '@grantry/plugins/token-exchange'
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { clients } from '../authorization/parties.ts'
import { chatServer, identityProvider, idp, typeOf } from '../id-jag/jag-parties.ts'
import { bearing, createApi, keyNamed, sign, start } from '../resource-server/issuer.ts'
import { realNow } from '../upstream/openid-double.ts'
import { setUpUpstream } from '../upstream/parties.ts'

const unproved = { auth_time_unproved: true }
const claimsOf = (token: unknown) => decodeJwt(String(token))?.claims ?? {}

describe('tokens of a silent sign-in at another provider', () => {
  test('18.8 state that their auth_time proves nothing, also after a refresh', async () => {
    const f = await setUpUpstream()
    const { body } = await f.claimsAfter({ scope: 'openid api1 offline_access', prompt: 'consent' })
    expect([claimsOf(body.access_token), claimsOf(body.id_token)]).toMatchObject([unproved, unproved])
    const form = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }
    const { body: next } = await f.post('token', form, ['web', 'web-secret'])
    expect([claimsOf(next.access_token), claimsOf(next.id_token)]).toMatchObject([unproved, unproved])
  })

  test.each([
    ['the provider states the time', { double: { claims: { auth_time: realNow() } } }],
    ['the operator assumes it', { provider: { freshness: 'assumed' } }],
  ] as const)('18.8 state nothing if %s', async (_, setting) => {
    const f = await setUpUpstream(setting)
    const { body } = await f.claimsAfter()
    expect([claimsOf(body.access_token), claimsOf(body.id_token)]).not.toMatchObject([unproved, unproved])
    expect(JSON.stringify([claimsOf(body.access_token), claimsOf(body.id_token)])).not.toContain('unproved')
  })
})

test('18.8 an API that demands a recent authentication refuses such a token', async () => {
  const issuerKey = await keyNamed('one')
  const { api } = await createApi()
  const ask = async (claims: object) =>
    (await api.authorize(bearing(await sign(issuerKey, { auth_time: start, ...claims })), { maxAge: 300 })).reason
  expect([await ask({}), await ask(unproved)]).toEqual([undefined, 'authentication_too_old'])
})

describe('an identity assertion', () => {
  test('18.8 is not issued for a server that demands a recent authentication', async () => {
    const f = await identityProvider({}, {}, { maxAge: 300 })
    const { id_token: proved } = await f.signIn()
    expect((await f.request(proved)).status).toBe(200)
    const { id_token: token, refresh_token: refresh } = await f.signIn({ claims: unproved, identityClaims: unproved })
    const refused = await f.request(token)
    expect([refused.body.error, refused.failure]).toEqual([
      'insufficient_user_authentication',
      'plugin:id-jag:authentication_too_old',
    ])
    const byRefresh = await f.request(refresh, { subject_token_type: typeOf('refresh_token') })
    expect(byRefresh.body.error).toBe('insufficient_user_authentication')
  })

  test('18.8 passes the mark on, and the other server states it in its tokens', async () => {
    const f = await identityProvider()
    const { id_token: token } = await f.signIn({ claims: unproved, identityClaims: unproved })
    expect(claimsOf((await f.request(token)).body.access_token)).toMatchObject(unproved)
    const chat = await chatServer()
    expect(idp).toBe(chat.claims().iss)
    const { body } = await chat.redeem(await chat.signed(unproved))
    expect(claimsOf(body.access_token)).toMatchObject(unproved)
  })
})

test('18.8 an exchanged token keeps the mark, whatever the policy adds', async () => {
  const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
  const exchange = tokenExchange({ allow: () => ({ claims: { auth_time_unproved: false } }) })
  const f = await setUpUpstream({
    more: {
      clients: clients
        .slice(0, 1)
        .map((client) => ({ ...client, grantTypes: [...(client.grantTypes ?? []), grantType] })),
    },
    endpoint: () => ({ features: [{ parts: () => collectParts(exchange).map(({ part }) => part) }] }),
  })
  const { body } = await f.claimsAfter()
  for (const type of ['access_token', 'id_token'] as const) {
    const form = { grant_type: grantType, subject_token: String(body[type]), subject_token_type: typeOf(type) }
    const exchanged = await f.post('token', { ...form, scope: 'api1' }, ['web', 'web-secret'])
    if (type === 'access_token') expect(exchanged.status).toBe(200)
    if (exchanged.status === 200) expect(claimsOf(exchanged.body.access_token)).toMatchObject(unproved)
  }
})

test('18.8 a device that such a session has approved gets marked tokens', async () => {
  const tv = { clientId: 'tv', public: true, grantTypes: [deviceGrantType], scopes: ['openid', 'api1'] }
  const f = await setUpUpstream({
    more: { clients: [...clients, tv] },
    endpoint: () => ({ features: [deviceSignIn({ pages: createPages() })] }),
  })
  const { browser } = await f.claimsAfter()
  const { body } = await f.post('deviceAuthorization', { client_id: 'tv', scope: 'openid api1' })
  const url = 'https://id.example.com/connect/device'
  const page = await browser.open(`${url}?user_code=${body.user_code}`)
  await browser.submit(url, { ...hiddenFields(page), decision: 'approve', scope_choice: 'all' })
  const form = { grant_type: deviceGrantType, device_code: String(body.device_code), client_id: 'tv' }
  const { body: tokens } = await f.post('token', form)
  expect([claimsOf(tokens.access_token), claimsOf(tokens.id_token)]).toMatchObject([unproved, unproved])
})
