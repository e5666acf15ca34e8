/**
 * Attack: a user leaves an organization, and a client uses what it still has: it refreshes tokens, redeems a code that it has
 * kept, or exchanges a token, and its API believes the name of the organization in the new token.
 *
 * Decision 169; RFC 6749 section 5.2; RFC 8693 section 2.2.2.
 */
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { type TokenExchangeOptions, tokenExchange } from '@grantry/plugins/token-exchange'
import { createTestProvider } from '@grantry/testing'
import { expect, test } from 'vitest'
import { createBrowser } from '../authorization/browser.ts'
import { clients, hostSignIn, redirectUri, request, web } from '../authorization/parties.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessToken = 'urn:ietf:params:oauth:token-type:access_token'

const claimsOf = (jwt: unknown) => JSON.parse(atob(String(jwt).split('.')[1] ?? ''))

async function setUp(exchange: TokenExchangeOptions = { allow: () => true }) {
  const members = new Set(['acme', 'beta'])
  const organizations = { isMember: (_sub: string, name: string) => members.has(name) }
  const f = await createTestProvider({
    clients: clients.slice(0, 1).map((client) => ({
      ...client,
      requireConsent: false,
      grantTypes: ['authorization_code', 'refresh_token', grantType],
    })),
    plugins: [
      authorizationCode(),
      refreshToken(),
      tokenExchange(exchange),
      authorizationEndpoint({ interaction: hostSignIn, organizations }),
    ],
  })
  async function code(more: Readonly<Record<string, string>> = { acr_values: 'tenant:acme' }): Promise<string> {
    const query = new URLSearchParams({ ...request, scope: 'openid api1 offline_access', prompt: 'consent', ...more })
    const { url } = await createBrowser(f.provider).open(`${f.provider.issuer}/connect/authorize?${query}`)
    return url.searchParams.get('code') ?? ''
  }
  const redeem = (code: string) =>
    f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)
  const refresh = (token: unknown) =>
    f.post('token', { grant_type: 'refresh_token', refresh_token: String(token) }, web)
  const exchangeToken = (token: unknown, type = accessToken) =>
    f.post('token', { grant_type: grantType, subject_token: String(token), subject_token_type: type }, web)
  return { ...f, members, code, redeem, refresh, exchangeToken }
}

test('21.85 a refresh is refused after the end of the membership, and works again with it', async () => {
  const f = await setUp()
  const { body } = await f.redeem(await f.code())
  const { body: renewed } = await f.refresh(body.refresh_token)
  expect([claimsOf(renewed.access_token).organization, claimsOf(renewed.id_token).organization]).toEqual([
    'acme',
    'acme',
  ])
  f.members.delete('acme')
  const { status, body: refused } = await f.refresh(renewed.refresh_token)
  expect([status, refused.error]).toEqual([400, 'invalid_grant'])
  expect(refused).not.toHaveProperty('access_token')
  expect(JSON.stringify(f.events)).toContain('not_a_member')
  f.members.add('acme')
  expect((await f.refresh(renewed.refresh_token)).status).toBe(200)
})

test('21.85 a code is not redeemed after the end of the membership', async () => {
  const f = await setUp()
  const kept = await f.code()
  f.members.delete('acme')
  expect((await f.redeem(kept)).body.error).toBe('invalid_grant')
})

test('21.86 an exchanged token names the organization of the subject token, and only for members', async () => {
  const f = await setUp()
  const { body } = await f.redeem(await f.code())
  for (const [token, type] of [
    [body.access_token, accessToken],
    [body.refresh_token, 'urn:ietf:params:oauth:token-type:refresh_token'],
  ] as const) {
    expect(claimsOf((await f.exchangeToken(token, type)).body.access_token).organization, type).toBe('acme')
    f.members.delete('acme')
    expect((await f.exchangeToken(token, type)).body.error, type).toBe('invalid_request')
    f.members.add('acme')
  }
})

test('21.86 a policy of the token exchange cannot name an organization without the membership', async () => {
  const f = await setUp({ allow: () => ({ claims: { organization: 'other' } }) })
  const { body } = await f.redeem(await f.code())
  expect((await f.exchangeToken(body.access_token)).body).toMatchObject({ error: 'invalid_request' })
  f.members.add('other')
  expect(claimsOf((await f.exchangeToken(body.access_token)).body.access_token).organization).toBe('other')
})

test.each([undefined, 'acme', 1, {}, 'true'])('a refresh fails closed if the host returns %j', async (result) => {
  let trueAnswers = 2
  const isMember = () => {
    trueAnswers -= 1
    return trueAnswers >= 0 ? true : (result as never)
  }
  const f = await createTestProvider({
    clients: clients.slice(0, 1).map((client) => ({ ...client, requireConsent: false })),
    plugins: [
      authorizationCode(),
      refreshToken(),
      authorizationEndpoint({ interaction: hostSignIn, organizations: { isMember } }),
    ],
  })
  const query = new URLSearchParams({ ...request, scope: 'openid api1 offline_access', acr_values: 'tenant:acme' })
  const { url } = await createBrowser(f.provider).open(`${f.provider.issuer}/connect/authorize?${query}`)
  const code = url.searchParams.get('code') ?? ''
  const { body } = await f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)
  const refused = await f.post('token', { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }, web)
  expect(refused.body.error).toBe('invalid_grant')
})

test('tokens without an organization are refreshed without a question to the host', async () => {
  const f = await setUp()
  const { body } = await f.redeem(await f.code({}))
  f.members.clear()
  const { body: renewed } = await f.refresh(body.refresh_token)
  expect(claimsOf(renewed.access_token)).not.toHaveProperty('organization')
})
