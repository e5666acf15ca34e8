/**
 * Attack: the mail domain of a company belongs to its provider, where accounts end when people leave. A former member writes
 * the domain in another spelling, which the storage takes for the same one, and signs in with a local password; or asks
 * for a new password, a link to sign in, or an account by mail.
 *
 * UTS 46; RFC 5891 section 4.4; wire contract, 18.15.
 */
import { type AtomicDriver, foldedUsername } from '@grantry/core'
import { invitations } from '@grantry/plugins/self-service'
import { upstream } from '@grantry/plugins/upstream'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { TestProviderOptions } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients } from '../authorization/parties.ts'
import { linkIn, setUpAccounts, titleOf } from '../self-service/parties.ts'
import { createOpenIdDouble } from '../upstream/openid-double.ts'
import { acmeOf, setUpUpstream } from '../upstream/parties.ts'

const ofAcme = [
  'carol@acme.example',
  'CAROL@ACME.example',
  'carol@\uff41cme.example',
  'carol@\u24d0cme.example',
  'carol\uff20acme.example',
  'carol\ufe6bacme.example',
  'carol@acme\uff0eexample',
  'carol@acme\u3002example',
  'carol@acme.example.',
  'carol@ac\u00adme.example',
  'carol@ac\u200bme.example',
  'carol@acme.example\u200b',
  '\u202acarol@acme.example\u202c',
  '\u00a0carol@acme.example\u3000',
  'carol@acme.example\n',
  'carol\u200b@acme.example',
  'x@y@acme.example',
]

const ofBuecher = [
  'carol@b\u00fccher.example',
  'carol@bu\u0308cher.example',
  'carol@B\u00dcCHER.example',
  'carol@xn--bcher-kva.example',
  'carol@XN--BCHER-KVA.EXAMPLE.',
  'carol@\uff42\u00fccher.example',
]

const cases: readonly (readonly [domain: string, typed: readonly string[]])[] = [
  ['acme.example', ofAcme],
  ['ACME.example.', ofAcme.slice(0, 3)],
  ['b\u00fccher.example', ofBuecher],
  ['xn--bcher-kva.example', ofBuecher],
  // What UTS 46 maps to another domain than the functions for upper and lower case, which user services use.
  ['stra\u00dfe.example', ['carol@stra\u00dfe.example', 'carol@stra\u1e9ee.example', 'carol@STRASSE.example']],
  ['strasse.example', ['carol@stra\u00dfe.example', 'carol@stra\u1e9ee.example', 'carol@STRASSE.example']],
  ['\u03bc\u03b1\u03c2.example', ['carol@\u03bc\u03b1\u03c2.example', 'carol@\u039c\u0391\u03a3.example']],
]

describe.each(cases)('18.15 with the domain %j, each spelling of it leads to the provider', (domain, all) => {
  test('and no password is checked', async () => {
    const checked: string[] = []
    const authenticate = ({ username }: { readonly username: string }) => {
      checked.push(foldedUsername(username))
      return { sub: 'carol' }
    }
    const f = await setUpUpstream({ provider: { domains: [domain] }, more: { users: { authenticate } } })
    const passed: string[] = []
    for (const typed of all) {
      const { enter } = await f.start()
      if ((await enter(typed)).url.origin !== f.double.issuer) passed.push(typed)
    }
    expect([passed, checked]).toEqual([[], []])
  })

  test('as the hint of a request', async () => {
    const f = await setUpUpstream({ provider: { domains: [domain] } })
    const passed: string[] = []
    for (const typed of all) {
      const { page } = await f.start({ login_hint: typed.trim() })
      if (page.url.origin !== f.double.issuer) passed.push(typed)
    }
    expect(passed).toEqual([])
  })
})

test('another domain that looks like it does not lead there', async () => {
  const f = await setUpUpstream({ provider: { domains: ['acme.example'] } })
  for (const typed of [
    'carol@\u0430cme.example',
    'carol@acm\u00e9.example',
    'carol@acme.example.example',
    'acme.example',
  ]) {
    const { enter } = await f.start()
    expect((await enter(typed)).url.origin).not.toBe(f.double.issuer)
  }
})

async function withProvider(provider: Partial<TestProviderOptions> = {}) {
  const double = await createOpenIdDouble()
  const acme = acmeOf(double, { domains: ['acme.example'] })
  const ways = [upstream({ providers: [acme, acmeOf(double, { name: 'other' })], fetch: double.fetch })]
  const f = await setUpAccounts({ mail: 'both', signUp: 'open' }, { ways, provider })
  f.memory.users.set('carol', {
    sub: 'carol',
    username: 'carol@acme.example',
    email: 'carol@acme.example',
    emailVerified: true,
    password: 'carol-password',
    claims: {},
  })
  return { ...f, issuer: double.issuer }
}

describe.each(['forgot', 'by-mail', 'create'])('the page %s', (link) => {
  test('19.60 leads to the provider of a domain, and sends no mail', async () => {
    const f = await withProvider()
    const addresses = [
      'carol@acme.example',
      'carol@\uff41cme.example',
      'no-one@acme.example',
      'carol@ACME\u3002example',
    ]
    for (const address of addresses) {
      const { ask } = await f.start()
      expect((await ask(link, address)).url.origin).toBe(f.issuer)
    }
    expect(await f.arrived()).toEqual([])
    expect(f.memory.calls).toEqual([])
  })

  test('sends mails to other domains', async () => {
    const f = await withProvider()
    const { ask } = await f.start()
    await ask(link, 'alice@example.com')
    expect(await f.arrived()).toHaveLength(1)
  })
})

// The session of one client counts for all others.
describe('18.15 with a client that may not use the provider of the domain', () => {
  const partner = { ...clients[0], clientId: 'partner', identityProviders: ['other'] }
  const withPartner = () => withProvider({ clients: [...clients, partner] })

  test('the password of the former member begins no session', async () => {
    const f = await withPartner()
    const { page, submit } = await f.start({ client_id: 'partner' })
    expect(page.html).not.toContain('name="decision" value="organization"')
    const refused = await submit(page, { username: 'carol@acme.example', password: 'carol-password' })
    expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('<h1>')])
    const reasons = f.events.flatMap((event) => (event.type === 'endpoint_failed' ? [event.reason] : []))
    expect(reasons).toEqual(['plugin:authorization-endpoint:provider_not_allowed'])
    expect(f.events.filter(({ type }) => type === 'session_started')).toEqual([])
  })

  test.each(['forgot', 'by-mail', 'create'])('19.60 the page %s sends no mail', async (link) => {
    const f = await withPartner()
    const { ask } = await f.start({ client_id: 'partner' })
    await ask(link, 'carol@acme.example')
    expect([await f.arrived(), f.memory.calls]).toEqual([[], []])
  })

  test('other users sign in', async () => {
    const f = await withPartner()
    const { page, submit } = await f.start({ client_id: 'partner' })
    await submit(page, { username: 'alice', password: 'alice-password' })
    expect(f.events.filter(({ type }) => type === 'session_started')).toHaveLength(1)
  })
})

// The user would sign in with the name and the password of the invitation, also when the account at the provider has ended.
describe('18.15 an invitation', () => {
  const invite = (storage: AtomicDriver, domains: readonly string[]) => async (email: string) => {
    const double = await createOpenIdDouble()
    const ways = [upstream({ providers: [acmeOf(double, { domains: [...domains] })], fetch: double.fetch })]
    const f = await setUpAccounts({ signUp: 'invitation', names: 'username' }, { ways, provider: { storage } })
    return { ...f, outcome: await f.provider.use(invitations).invite({ email }) }
  }

  test('creates no account in the domain of a provider', async () => {
    const at = invite(memoryDriver(), ['acme.example'])
    for (const email of ['carol@acme.example', 'carol@\uff41cme.example', 'carol@ACME.example.'])
      expect((await at(email)).outcome).toBe('address_of_provider')
    expect((await at('carol@other.example')).outcome).toMatchObject({ email: 'carol@other.example' })
  })

  test('that was sent before the provider got the domain has ended', async () => {
    const storage = memoryDriver()
    const link = linkIn(await (await invite(storage, [])('carol@acme.example')).lastMail())
    const f = await invite(storage, ['acme.example'])('dora@other.example')
    expect(titleOf(await f.browser().open(link))).toBe('This invitation no longer works')
  })
})
