// Registration by client libraries, and the page on which users see what a client says about itself.
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { registration } from '@grantry/plugins/registration'
import { signIn } from '@grantry/plugins/sign-in'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { describe, expect, test } from 'vitest'
import { createBrowser, hiddenFields, unescapeHtml } from '../authorization/browser.ts'
import { issuer, metadata, redirectUri, setUp } from './parties.ts'

type Setup = Awaited<ReturnType<typeof setUp>>

const ownMetadata = { redirect_uris: [redirectUri], grant_types: ['client_credentials'], scope: 'api1' }

const fetchOf =
  ({ provider }: Setup) =>
  (url: string, options: RequestInit): Promise<Response> =>
    provider.fetch(new Request(url, options), { clientAddress: '192.0.2.1' })

describe('a client library registers a client with an initial access token, and uses it', () => {
  test('openid-client', async () => {
    const f = await setUp({ open: false, grantTypes: ['client_credentials'] })
    const { token } = await f.issueToken()
    const config = await openid.dynamicClientRegistration(new URL(issuer), ownMetadata, undefined, {
      initialAccessToken: token,
      [openid.customFetch]: fetchOf(f) as openid.CustomFetch,
    })
    expect(config.clientMetadata().client_id).toMatch(/^registered-/u)
    expect(await openid.clientCredentialsGrant(config, { scope: 'api1' })).toMatchObject({ scope: 'api1' })
  })

  test('oauth4webapi', async () => {
    const f = await setUp({ open: false, grantTypes: ['client_credentials'] })
    const { token } = await f.issueToken()
    const options = { [oauth.customFetch]: fetchOf(f), [oauth.allowInsecureRequests]: false } as object
    const url = new URL(issuer)
    const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options))
    const register = (initialAccessToken: string) =>
      oauth.dynamicClientRegistrationRequest(server, ownMetadata, { ...options, initialAccessToken })
    const client = await oauth.processDynamicClientRegistrationResponse(await register(token))
    const authentication = oauth.ClientSecretBasic(String(client.client_secret))
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authentication,
      { scope: 'api1' },
      options,
    )
    expect(await oauth.processClientCredentialsResponse(server, client, response)).toMatchObject({ scope: 'api1' })
    const refused = oauth.processDynamicClientRegistrationResponse(await register(token))
    await expect(refused).rejects.toMatchObject({ error: 'access_denied' })
  })
})

describe('the consent page of a registered client', () => {
  const pages = createPages({})

  /** Signs a user in, and returns the page that asks. */
  async function asked(options: { readonly consent?: 'allow' | 'ask' }, sent: object, parameters: object = {}) {
    const f = await setUp(options, {
      plugins: [
        authorizationCode(),
        proofKey(),
        authorizationEndpoint({ interaction: signIn({ pages }), pages }),
        registration({ scopes: ['api1'], open: true, ...options }),
      ],
      users: { authenticate: ({ username }) => ({ sub: username }), isActive: () => true },
    })
    const client = await f.registered(sent)
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'api1',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
      ...parameters,
    })
    const browser = createBrowser(f.provider)
    const first = await browser.open(`${issuer}/connect/authorize?${query}`)
    const action = unescapeHtml(/<form method="post" action="([^"]+)"/u.exec(first.html)?.[1] ?? '')
    const form = { ...hiddenFields(first), username: 'alice', password: 'alice-password' }
    const { html } = await browser.submit(action, form)
    return { html }
  }

  test('names the host that the user returns to, and says that the application is not checked', async () => {
    const { html } = await asked({}, { ...metadata, client_name: '<b>Your bank</b>' })
    expect(html).toContain('&lt;b&gt;Your bank&lt;/b&gt;')
    expect(html).toContain('you return to <strong dir="ltr">app.example.com</strong>')
    expect(html).toContain('has not checked the application')
  })

  test('warns if a program on the device gets the code', async () => {
    const local = 'http://127.0.0.1:4711/callback'
    const { html } = await asked({}, { redirect_uris: [local] }, { redirect_uri: local })
    expect(html).toContain('A program on this device gets the access')
  })
})
