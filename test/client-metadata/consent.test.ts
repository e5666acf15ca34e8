import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { type ClientMetadataOptions, clientMetadata } from '@grantry/plugins/client-metadata'
import { proofKey } from '@grantry/plugins/proof-key'
import { signIn } from '@grantry/plugins/sign-in'
import { describe, expect, test } from 'vitest'
import { hiddenFields, type Page, unescapeHtml } from '../authorization/browser.ts'
import { clientId, createHosts, document, redirectUri, setUp } from './parties.ts'

const local = 'http://127.0.0.1:4711/callback'

/** Where the form of a page is sent. */
const actionOf = ({ html }: Page): string => unescapeHtml(/<form method="post" action="([^"]+)"/u.exec(html)?.[1] ?? '')

async function signedIn(policy: Partial<ClientMetadataOptions> = {}, changes: object = {}) {
  const hosts = createHosts({
    [clientId]: { body: { ...document, redirect_uris: [redirectUri, 'http://127.0.0.1/callback'], ...changes } },
  })
  const pages = createPages({})
  const f = await setUp(hosts, policy, {
    plugins: [
      authorizationCode(),
      proofKey(),
      authorizationEndpoint({ interaction: signIn({ pages }), pages }),
      clientMetadata({ scopes: ['mcp:tools'], fetch: hosts.fetch, ...policy }),
    ],
    users: { authenticate: ({ username }) => ({ sub: username }), isActive: () => true },
  })
  const browser = f.browser()
  const submit = (page: Page, form: Readonly<Record<string, string>>) =>
    browser.submit(actionOf(page), { ...hiddenFields(page), ...form })
  /** Requests a code. Returns what the browser shows; signs the user in where a page asks for it. */
  async function open(parameters: Readonly<Record<string, string>> = {}) {
    const first = await browser.open(f.urlOf({ scope: 'mcp:tools', ...parameters }))
    if (!first.html.includes('id="password"')) return first
    return submit(first, { username: 'alice', password: 'alice-password' })
  }
  return { ...f, open, allow: (page: Page) => submit(page, { decision: 'allow' }) }
}

describe('the consent page of a client that describes itself', () => {
  test('names the host of its document, and the one that the user returns to', async () => {
    const { open } = await signedIn()
    const { html } = await open()
    const host = '<strong dir="ltr">app.example.com</strong>'
    const [seen = '', folded = ''] = html.split(
      '<details><summary>This service has not checked the application.</summary>',
    )
    expect(seen).toContain(`<p>The application is published at ${host}.</p>`)
    expect(folded).toContain(`<p>Then you return to ${host}.</p>`)
  })

  test('warns if a program on the device gets the code', async () => {
    const { open } = await signedIn()
    const { html } = await open({ redirect_uri: local })
    const [seen] = html.split('<details>')
    expect(seen).toContain('A program on this device gets the access.')
    expect(html).not.toContain('you return to')
  })

  test('does not say that a host is unchecked that the operator allows', async () => {
    const { open } = await signedIn({ hosts: [{ host: 'app.example.com', policy: 'allow' }] })
    const { html } = await open()
    expect(html).toContain('The application is published at <strong dir="ltr">app.example.com</strong>.')
    expect(html).not.toContain('has not checked')
  })

  test('shows a host of other letters in its encoded form, and a name as text', async () => {
    const url = 'https://xn--pple-43d.example.com/client.json'
    const body = { ...document, client_id: url, client_name: '<b>Bank</b>\u202E' }
    const f = await signedIn()
    f.hosted.set(url, { body })
    const { html } = await f.open({ client_id: url })
    expect(html).toContain('The application is published at <strong dir="ltr">xn--pple-43d.example.com</strong>.')
    expect(html).toContain('&lt;b&gt;Bank&lt;/b&gt;')
    expect(html).not.toContain('\u202E')
  })
})

describe('a consent', () => {
  test.each([
    ['is not remembered for a host that the operator does not know', {}, redirectUri, true],
    ['is remembered for a host that the operator allows', { otherHosts: 'allow' as const }, redirectUri, false],
    ['is not remembered for a program on the device', { otherHosts: 'allow' as const }, local, true],
  ])('%s', async (_name, policy, redirect_uri, isAskedAgain) => {
    const { open, allow } = await signedIn(policy)
    await allow(await open({ redirect_uri }))
    const again = await open({ redirect_uri })
    expect(again.html.includes('id="allow"')).toBe(isAskedAgain)
  })
})
