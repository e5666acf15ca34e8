/**
 * Attack: the page for devices signs users in as a client of the provider. A stranger requests a code for this client, with
 * a challenge of its own, by a link that alice follows. The code appears in the URL of the page, so a history or the log of
 * a proxy contains it, and no page has asked alice. A reader of it redeems it.
 *
 * RFC 9700 section 4.3; decision 104.
 */
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { deviceSignIn } from '@grantry/plugins/device-authorization'
import { proofKey } from '@grantry/plugins/proof-key'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { signIn } from '@grantry/plugins/sign-in'
import { expect, test } from 'vitest'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { challenge, verifier } from '../authorization/parties.ts'
import { setUp as setUpDevices } from '../device-authorization/parties.ts'

const page = 'https://id.example.com/connect/device'
const clientId = 'urn:grantry:device-page'
const request = {
  client_id: clientId,
  response_type: 'code',
  redirect_uri: page,
  scope: 'openid',
  claims: '{"userinfo":{"email":null}}',
  code_challenge: challenge,
  code_challenge_method: 'S256',
}

async function setUp() {
  const pages = createPages({ name: 'Example' })
  const features = [deviceSignIn({ pages }), pushedAuthorization()]
  const interaction = signIn({ pages })
  const f = await setUpDevices({
    plugins: [authorizationCode(), proofKey(), authorizationEndpoint({ interaction, pages, features })],
    clients: [],
    users: { authenticate: ({ username }) => ({ sub: username }), isActive: () => true, claims: () => ({}) },
  })
  const alice = createBrowser(f.provider)
  const login = await alice.open(page)
  await alice.submit(`${f.provider.issuer}/connect/signin`, {
    ...hiddenFields(login),
    username: 'alice',
    password: 'x',
  })
  const follow = (more: Readonly<Record<string, string>>) =>
    alice.open(`${f.provider.issuer}/connect/authorize?${new URLSearchParams({ ...request, ...more })}`)
  return { ...f, follow }
}

test.each([{}, { prompt: 'none' }])(
  'a code for the page cannot be redeemed with the verifier of a stranger: %j',
  async (more) => {
    const { follow, post } = await setUp()
    const code = (await follow(more)).url.searchParams.get('code') ?? ''
    expect(code).not.toBe('')
    const form = { grant_type: 'authorization_code', redirect_uri: page, code, code_verifier: verifier }
    const answers = [
      await post('token', { client_id: clientId, ...form }),
      await post('token', { client_id: clientId, client_secret: 'x', ...form }),
      await post('token', form, [clientId, 'undefined']),
    ]
    for (const { status, body } of answers) {
      expect([status, body.error]).toEqual([401, 'invalid_client'])
    }
  },
)

test('no caller can push a request as the page', async () => {
  const { provider } = await setUp()
  const body = new URLSearchParams(request)
  const response = await provider.fetch(new Request(`${provider.issuer}/connect/par`, { method: 'POST', body }))
  expect(response.status).toBe(401)
})
