/**
 * Attack: what belongs to one user, session or provider is used for another one at the end of a sign-in at a provider: the
 * account that an attacker has registered here with the address of the victim, a place in a list whose link has a new owner,
 * a link that a thief has begun in a session that has ended, a response that another callback has received.
 *
 * OpenID Connect Core section 5.7; RFC 9700 section 4.4; decisions 160 and 161.
 */
import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { describe, expect, test } from 'vitest'
import { nameOf } from '../sign-in/parties.ts'
import { kitOf, offerKit } from '../support/kit-of.ts'
import { accountAs, acmeOf, createAccounts, setUpUpstream } from '../upstream/parties.ts'

const plugin = 'authorization-endpoint'

test('an account without a proved address is not linked by it, also if the store of the host finds it', async () => {
  const { accounts, add } = createAccounts()
  const email = 'victim@acme.example'
  const attacker = add({ username: 'attacker', email, emailVerified: false })
  const f = await setUpUpstream({
    double: { claims: { email, email_verified: true } },
    provider: { linkBy: ['acme.example'] },
    options: { accounts: { ...accounts, findByEmail: async () => attacker } },
  })
  const { claims } = await f.claimsAfter()
  expect(claims?.sub).toBeDefined()
  expect(claims?.sub).not.toBe(attacker.sub)
})

test('a place in the list of a user does not show the link of its next owner', async () => {
  const f = await setUpUpstream({ endpoint: () => ({ features: [{ parts: () => [offerKit(plugin)] }] }) })
  const [alice, bob] = [await accountAs(f, 'alice'), await accountAs(f, 'bob')]
  await alice.link()
  const [link] = await alice.list()
  // The process that removes the link dies before it frees the place.
  await kitOf(f.provider, plugin).records.delete(`upstream link:${link?.id}`)
  expect(await bob.link()).toBe('linked')
  expect(await alice.list()).toEqual([])
  expect(await bob.list()).toMatchObject([{ id: link?.id }])
})

test('a link that a thief has begun is not made in the next session of the user', async () => {
  const f = await setUpUpstream()
  const thief = await accountAs(f, 'alice')
  const { url } = await thief.leave()
  await f.provider.use(userSessions).endAll('alice')
  const alice = await accountAs(f, 'alice')
  expect(nameOf(await alice.browser.open(f.double.authorize(url)))).toBe('error')
  expect(await alice.list()).toEqual([])
})

// An attacker who runs one of the providers could have the response of another one delivered to its own callback.
describe('a response that came as a form', () => {
  test.each([
    ['counts at the callback that has received it', 'acme', 'consent'],
    ['does not count at the callback of another provider', 'other', 'error'],
  ])('%s', async (_name, receiver, page) => {
    const acme = acmeOf(
      { issuer: 'https://login.acme.example.com', clientId: 'grantry' },
      { responseMode: 'form_post' },
    )
    const otherProvider = { ...acme, name: 'other', displayName: 'Other', issuer: 'https://other.example.com' }
    const f = await setUpUpstream({ options: { providers: [acme, otherProvider] } })
    const { browser, request } = await f.leave()
    const response = new URL(f.double.authorize(request))
    const callback = (name: string) => `${response.origin}${response.pathname.replace('/acme/', `/${name}/`)}`
    const sent = await f.provider.fetch(
      new Request(callback(receiver), { method: 'POST', body: new URLSearchParams(response.search) }),
      { clientAddress: '192.0.2.1' },
    )
    const form = new URL(sent.headers.get('location') ?? '').searchParams.get('form') ?? ''
    expect(form).not.toBe('')
    expect(nameOf(await browser.open(`${callback('acme')}?${new URLSearchParams({ form })}`))).toBe(page)
  })
})
