/**
 * Attack: a caller registers a client with the redirect URI of a host that users know, beside one of the attacker, or adds that
 * later. The user sees the known host, and consents. If consents are remembered, the next request sends a code to the host of
 * the attacker without a question.
 */
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { registration } from '@grantry/plugins/registration'
import { signIn } from '@grantry/plugins/sign-in'
import { describe, expect, test } from 'vitest'
import { createBrowser, hiddenFields, type Page, unescapeHtml } from '../authorization/browser.ts'
import { issuer, metadata, setUp } from '../registration/parties.ts'

const known = 'https://app.example.com/callback'
const attackers = 'https://attacker.example/callback'

const actionOf = ({ html }: Page): string => unescapeHtml(/<form method="post" action="([^"]+)"/u.exec(html)?.[1] ?? '')

/** A user who is signed in, and has allowed a client of the attacker to return to the known host. */
async function consented(redirectUris: readonly string[]) {
  const pages = createPages({})
  const f = await setUp(
    {},
    {
      plugins: [
        authorizationCode(),
        proofKey(),
        authorizationEndpoint({ interaction: signIn({ pages }), pages }),
        registration({ scopes: ['api1'], open: true, consent: 'allow' }),
      ],
      users: { authenticate: ({ username }) => ({ sub: username }), isActive: () => true },
    },
  )
  const client = await f.registered({ redirect_uris: redirectUris })
  const browser = createBrowser(f.provider)
  const open = (redirectUri: string) =>
    browser.open(
      `${issuer}/connect/authorize?${new URLSearchParams({
        client_id: client.client_id,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'api1',
        code_challenge: 'a'.repeat(43),
        code_challenge_method: 'S256',
      })}`,
    )
  const submit = (page: Page, form: Readonly<Record<string, string>>) =>
    browser.submit(actionOf(page), { ...hiddenFields(page), ...form })
  const asked = await submit(await open(known), { username: 'alice', password: 'alice-password' })
  expect(asked.html).toContain('you return to <strong dir="ltr">app.example.com</strong>')
  await submit(asked, { decision: 'allow' })
  return { ...f, client, open, allow: (page: Page) => submit(page, { decision: 'allow' }) }
}

describe('a remembered consent of a client that has registered itself', () => {
  test('is not for another host of its redirect URIs', async () => {
    const { open, allow } = await consented([known, attackers])
    expect((await open(known)).html).not.toContain('id="allow"')
    const page = await open(attackers)
    expect(page.html).toContain('you return to <strong dir="ltr">attacker.example</strong>')
    // A consent for the host of the attacker does not add to that for the known one.
    await allow(page)
    expect((await open(attackers)).html).not.toContain('id="allow"')
    expect((await open(known)).html).toContain('you return to <strong dir="ltr">app.example.com</strong>')
  })

  test('is not for a host that the client has added since', async () => {
    const f = await consented([known])
    const { client_id: id, registration_client_uri: url, registration_access_token: token } = f.client
    const body = { ...metadata, redirect_uris: [known, attackers], client_id: id }
    expect((await f.send(url, { method: 'PUT', token, body })).status).toBe(200)
    expect((await f.open(attackers)).html).toContain('you return to <strong dir="ltr">attacker.example</strong>')
  })
})
