// The domain of a mail address in the form leads to the provider of that domain, without a password and without a script.
import { createPages } from '@grantry/pages'
import { describe, expect, test } from 'vitest'
import { clients } from '../authorization/parties.ts'
import { nameOf } from '../sign-in/parties.ts'
import { createOpenIdDouble } from './openid-double.ts'
import { acmeOf, setUpUpstream, type UpstreamSetting } from './parties.ts'

const withDomain = (more: UpstreamSetting = {}) =>
  setUpUpstream({ ...more, provider: { domains: ['acme.example'], ...more.provider } })

const organization = { decision: 'organization' }

describe('a mail address in the form', () => {
  test('18.15 leads to the provider of its domain, and the user signs in there', async () => {
    const f = await withDomain()
    const { browser, submit } = await f.start()
    const away = await submit('signin', { username: ' Bob@ACME.example ', ...organization })
    expect(away.url.origin).toBe(f.double.issuer)
    expect(away.url.href).not.toContain('ob%40')
    expect(nameOf(await browser.open(f.double.authorize(away.url)))).toBe('consent')
  })

  test('18.15 leads there also with a password, which is not checked', async () => {
    let checked = 0
    const authenticate = () => {
      checked += 1
      return undefined
    }
    const f = await withDomain({ more: { users: { authenticate } } })
    const { enter } = await f.start()
    expect((await enter('bob@acme.example')).url.origin).toBe(f.double.issuer)
    expect(checked).toBe(0)
  })

  test('18.15 tells nothing about its user: only the domain counts', async () => {
    const f = await withDomain()
    for (const username of ['alice@acme.example', 'unknown@acme.example', '@acme.example']) {
      const { submit } = await f.start()
      expect((await submit('signin', { username, ...organization })).url.origin).toBe(f.double.issuer)
    }
    for (const username of ['alice@other.example', 'alice', 'acme.example', 'alice@acme.example.other.example', '']) {
      const { submit } = await f.start()
      const page = await submit('signin', { username, ...organization })
      expect([nameOf(page), page.html.includes('"problem":"unknown_organization"')]).toEqual(['signIn', true])
    }
  })

  test('of a domain without a provider is a user name', async () => {
    const f = await withDomain()
    const { enter } = await f.start()
    expect((await enter('alice@other.example')).html).toContain('"problem":"wrong_credentials"')
    const { enter: again } = await f.start()
    expect(nameOf(await again('alice'))).toBe('consent')
  })

  test('does not lead to a provider that the client may not use', async () => {
    const restricted = clients.map((client) => ({ ...client, identityProviders: ['another'] }))
    const f = await withDomain({ more: { clients: restricted } })
    const { page, submit } = await f.start()
    expect(page.html).not.toContain('asksForOrganization')
    const refused = await submit('signin', { username: 'bob@acme.example', ...organization })
    // The provider of the domain counts, not a password here.
    expect([nameOf(refused), refused.url.origin === f.double.issuer]).toEqual(['error', false])
  })
})

describe('the page', () => {
  const button = /<button(?: class="primary")? id="organization" name="decision" value="organization" formnovalidate>/u

  test('has a button for it beside the password', async () => {
    const { page } = await (await withDomain({ signIn: { pages: createPages() } })).start()
    expect(page.html).toMatch(button)
    expect(page.html).toContain('type="password"')
    expect(page.html).not.toContain('type="email"')
  })

  test('has a field of its own without passwords', async () => {
    const double = await createOpenIdDouble()
    const providers = [acmeOf(double, { domains: ['acme.example'] }), acmeOf(double, { name: 'other' })]
    const { page } = await (
      await withDomain({ signIn: { pages: createPages(), passwords: false }, options: { providers } })
    ).start()
    expect(page.html).toMatch(button)
    expect(page.html).toContain('<label for="username">Email address</label>')
    expect(page.html).not.toContain('type="password"')
  })

  test('is as before without domains', async () => {
    const { page } = await (await setUpUpstream({ signIn: { pages: createPages() } })).start()
    expect(page.html).not.toMatch(button)
  })
})
