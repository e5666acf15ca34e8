// The attacker wants the account of another user by an account at a provider: with a mail address that the provider has
// not verified, one that had another owner before, one for which the provider does not decide, or an account here that
// was registered with the address of the victim before.
import { foldedUsername } from '@grantry/core'
import { google, type Link } from '@grantry/plugins/upstream'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import type { NewAccount } from '../../plugins/shared/account-store.ts'
import { withLatency } from '../support/latency.ts'
import { accountAs, accountUrl, createAccounts, setUpUpstream, type UpstreamSetting } from '../upstream/parties.ts'

const victim: NewAccount = { username: 'victim', email: 'victim@acme.example', emailVerified: true }

async function signInBeside(
  account: NewAccount,
  claims: Readonly<Record<string, unknown>>,
  setting: UpstreamSetting = {},
) {
  const { accounts, add, all } = createAccounts()
  const known = add(account)
  const f = await setUpUpstream({ double: { claims }, options: { accounts }, ...setting })
  const { claims: gained } = await f.claimsAfter()
  return { gained, known, all }
}

const linkBy = { provider: { linkBy: ['acme.example'] } }
const verified = { email: 'victim@acme.example', email_verified: true }

describe('an account is not taken over', () => {
  test.each([
    ['that the provider has not verified', { email: 'victim@acme.example', email_verified: false }, linkBy],
    ['without a statement about it', { email: 'victim@acme.example' }, linkBy],
    ['if the operator trusts the provider for none', verified, {}],
    ['if the operator trusts the provider for another domain', verified, { provider: { linkBy: ['other.example'] } }],
    ['of a domain that only ends like it', { ...verified, email: 'victim@evil-acme.example' }, linkBy],
    ['with two signs', { ...verified, email: 'victim@acme.example@evil.example' }, linkBy],
  ])('18.13 by an address %s', async (_name, claims, setting) => {
    const { gained, known, all } = await signInBeside(victim, claims, setting)
    expect(gained?.sub).not.toBe(known.sub)
    // The address stays with its owner.
    const owners = [...all.values()].filter(({ email, emailVerified }) => emailVerified && email === victim.email)
    expect(owners).toMatchObject([{ sub: known.sub }])
  })

  test('by one that was registered here with the address of the victim, and never verified', async () => {
    const { gained, known } = await signInBeside({ ...victim, emailVerified: false }, verified, linkBy)
    expect(gained?.sub).not.toBe(known.sub)
  })

  test('by an address in another spelling, which the storage takes for the same', async () => {
    const { accounts, add } = createAccounts()
    const known = add(victim)
    const folding = { ...accounts, findByEmail: (mail: string) => accounts.findByEmail(foldedUsername(mail)) }
    const claims = { ...verified, email: 'v\u0131ct\u0131m@acme.example' }
    const f = await setUpUpstream({ ...linkBy, double: { claims }, options: { accounts: folding } })
    expect((await f.claimsAfter()).claims?.sub).not.toBe(known.sub)
  })

  test('by one that a user of another provider has made with the address of the victim', async () => {
    const { accounts, all } = createAccounts()
    const open = await setUpUpstream({ double: { claims: verified }, options: { accounts } })
    const { claims: attacker } = await open.claimsAfter()
    expect(all.get(String(attacker?.sub))).toMatchObject({ email: 'victim@acme.example', emailVerified: false })
    // The provider of the company, which decides for its domain.
    const f = await setUpUpstream({
      double: { issuer: 'https://company.example.com', claims: { ...verified, sub: 'the-victim' } },
      options: { accounts },
      ...linkBy,
    })
    expect((await f.claimsAfter()).claims?.sub).not.toBe(attacker?.sub)
  })

  // OpenID Connect Core section 5.7: only `iss` and `sub` stay with a user.
  describe.each([
    ['the provider is trusted for no domain', {}],
    ['the provider decides for the domain', linkBy],
  ])('by another account at the provider that got the address later, and %s', (_name, setting) => {
    test.each<[string, NewAccount | undefined]>([
      ['the provider has made', undefined],
      ['the address has linked', victim],
    ])('18.13 of a user whom %s', async (_first, account) => {
      const { accounts, add, all } = createAccounts()
      if (account !== undefined) add(account)
      const f = await setUpUpstream({ double: { claims: verified }, options: { accounts }, ...setting })
      const first = (await f.claimsAfter()).claims?.sub
      f.double.set({ claims: { ...verified, sub: 'the-next-owner' } })
      const next = (await f.claimsAfter()).claims?.sub
      expect(next).not.toBe(first)
      expect((await f.claimsAfter()).claims?.sub).toBe(next)
      expect([...all.values()].filter(({ emailVerified }) => emailVerified).length).toBeLessThan(2)
      // The first owner keeps the account.
      f.double.set({ claims: verified })
      expect((await f.claimsAfter()).claims?.sub).toBe(first)
    })
  })

  test('18.13 by an address that got another owner, after the first one has removed the link', async () => {
    const { accounts } = createAccounts()
    const f = await setUpUpstream({ double: { claims: verified }, options: { accounts }, ...linkBy })
    const { claims, browser } = await f.claimsAfter()
    const [link] = JSON.parse((await browser.open(`${accountUrl}?action=list`)).html) as readonly Link[]
    await browser.open(`${accountUrl}?action=unlink&id=${link?.id}`)
    f.double.set({ claims: { ...verified, sub: 'the-next-owner' } })
    expect((await f.claimsAfter()).claims?.sub).not.toBe(claims?.sub)
    f.double.set({ claims: verified })
    expect((await f.claimsAfter()).claims?.sub).toBe(claims?.sub)
  })

  test('18.13 by an address of a user who has linked another account at the provider', async () => {
    const { accounts, add, all } = createAccounts()
    add(victim)
    all.set('alice', { ...victim, sub: 'alice', claims: {} })
    all.delete('account-1-victim')
    const f = await setUpUpstream({ options: { accounts }, ...linkBy })
    expect(await (await accountAs(f, 'alice')).link()).toBe('linked')
    f.double.set({ claims: { ...verified, sub: 'the-next-owner' } })
    expect((await f.claimsAfter()).claims?.sub).not.toBe('alice')
  })

  // What the user has linked is the account of this user there, as long as the provider has this issuer.
  test.each([
    ['the user has ended that link', {}],
    ['the operator has renamed the provider', { name: 'acme-again', displayName: 'Acme' }],
  ])('18.13 nor later, when %s', async (_name, renamed) => {
    const { accounts, all } = createAccounts()
    all.set('alice', { ...victim, sub: 'alice', claims: {} })
    const storage = memoryDriver()
    const setting = { options: { accounts }, more: { storage } }
    const before = await setUpUpstream({ ...setting, ...linkBy })
    const alice = await accountAs(before, 'alice')
    expect(await alice.link()).toBe('linked')
    const [link] = await alice.list()
    if (!('name' in renamed)) await alice.unlink(link?.id ?? '')
    const f = await setUpUpstream({
      ...setting,
      double: { claims: { ...verified, sub: 'the-next-owner' } },
      provider: { ...linkBy.provider, ...renamed },
    })
    expect((await f.claimsAfter()).claims?.sub).not.toBe('alice')
  })

  test('18.13 by two accounts at the provider that have it at the same moment: it leads one of them', async () => {
    const { accounts, add } = createAccounts()
    const known = add(victim)
    const f = await setUpUpstream({
      double: { claims: verified },
      options: { accounts },
      ...linkBy,
      more: { storage: withLatency(memoryDriver()) },
    })
    const away = await Promise.all(Array.from({ length: 6 }, (_, index) => f.leave({ login_hint: `owner-${index}` })))
    await Promise.all(away.map((visit) => f.comeBack(visit)))
    const subs = f.events.flatMap((event) => (event.type === 'session_started' ? [event.sub] : []))
    expect(new Set(subs).size).toBe(6)
    expect(subs.filter((sub) => sub === known.sub)).toHaveLength(1)
  })

  // A former employee keeps a private account at Google with the address of the company.
  test.each([
    ['of a private account in another domain', {}, false],
    ['of an account of Google Workspace', { hd: 'acme.example' }, true],
  ])('18.13 at Google, an address %s links only if Google decides for it', async (_name, more, links) => {
    const { accounts, add } = createAccounts()
    const known = add(victim)
    const provider = google({ clientId: 'grantry', clientSecret: 'upstream-secret', linkBy: ['acme.example'] })
    const f = await setUpUpstream({
      double: {
        issuer: provider.issuer,
        metadata: { authorization_response_iss_parameter_supported: false },
        response: { iss: undefined },
        claims: { ...verified, ...more },
      },
      options: { accounts, providers: [provider] },
      label: 'Google',
    })
    expect((await f.claimsAfter()).claims?.sub === known.sub).toBe(links)
  })

  test('by a user name that looks like that of another', async () => {
    const { gained, all } = await signInBeside(victim, { preferred_username: 'victim', name: 'victim' })
    expect(all.get(String(gained?.sub))?.username).toMatch(/^acme-[\w-]{16}$/u)
  })

  test('by another provider with the same `sub`', async () => {
    const first = await setUpUpstream()
    const second = await setUpUpstream({ double: { issuer: 'https://other.example.com' } })
    expect((await first.claimsAfter()).claims?.sub).not.toBe((await second.claimsAfter()).claims?.sub)
  })
})
