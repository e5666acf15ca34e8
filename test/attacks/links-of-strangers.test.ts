/**
 * Attack: a stranger publishes a metadata document, or registers a client, with the name "Your bank: confirm your password" and
 * the page of a phisher, and sends users a link to this service that is refused. The page of the refusal has one button, which
 * leads to the phisher. It must say where.
 *
 * RFC 9700 section 4.11; draft-ietf-oauth-client-id-metadata-document section 6.
 */
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { clientMetadata } from '@grantry/plugins/client-metadata'
import { endSession } from '@grantry/plugins/end-session'
import { proofKey } from '@grantry/plugins/proof-key'
import { registration } from '@grantry/plugins/registration'
import { signIn } from '@grantry/plugins/sign-in'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clientId, createHosts, document } from '../client-metadata/parties.ts'
import { issuer, metadata } from '../registration/parties.ts'

const name = 'Your bank: confirm your password'
const described = { client_name: name, client_uri: 'https://evil.example/phish' }

async function setUp() {
  const pages = createPages({ locales: ['en'] })
  const { fetch } = createHosts({ [clientId]: { body: { ...document, ...described } } })
  const f = await createTestProvider({
    issuer,
    users: { authenticate: () => undefined },
    scopes: [{ name: 'api1' }],
    clients: [
      {
        clientId: 'own',
        clientName: 'Our application',
        clientUri: 'https://own.example.com/',
        public: true,
        grantTypes: ['authorization_code'],
        redirectUris: ['https://own.example.com/cb'],
      },
    ],
    plugins: [
      authorizationCode(),
      proofKey(),
      authorizationEndpoint({ interaction: signIn({ pages }), pages, features: [endSession({ pages })] }),
      clientMetadata({ scopes: ['openid'], fetch }),
      registration({ scopes: ['openid'], open: true }),
    ],
  })
  const registered = async (): Promise<string> => {
    const body = JSON.stringify({ ...metadata, ...described })
    const headers = { 'content-type': 'application/json' }
    const request = new Request(`${issuer}/connect/register`, { method: 'POST', headers, body })
    return String((await (await f.provider.fetch(request, { clientAddress: '192.0.2.1' })).json()).client_id)
  }
  const link = async (path: string, client_id: string, more: Readonly<Record<string, string>> = {}) => {
    const url = `${issuer}/connect/${path}?${new URLSearchParams({ client_id, ...more })}`
    const html = await (await f.provider.fetch(new Request(url), { clientAddress: '192.0.2.1' })).text()
    const [, href, text] = /<a id="return" href="([^"]*)"[^>]*>([^<]*)</u.exec(html) ?? []
    return { href, text, html }
  }
  return { link, registered }
}

const pages: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['authorize', { redirect_uri: 'https://elsewhere.example/' }],
  ['signin', {}],
  ['endsession', {}],
]

describe.each(pages)('the link to an application on the page %s', (path, parameters) => {
  test('names the host of a client that has described itself', async () => {
    const { link, registered } = await setUp()
    for (const client of [clientId, await registered()]) {
      const { href, text, html } = await link(path, client, parameters)
      expect([href, text]).toEqual([described.client_uri, 'Return to evil.example'])
      expect(html).not.toContain(name)
    }
  })

  test('has the name that the operator has given', async () => {
    const { link } = await setUp()
    const { href, text } = await link(path, 'own', parameters)
    expect([href, text]).toEqual(['https://own.example.com/', 'Return to Our application'])
  })
})
