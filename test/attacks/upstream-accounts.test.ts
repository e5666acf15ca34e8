// The attacker wants the account of another user by an account at a provider: with a mail address that the provider has
// not verified, one that had another owner before, one for which the provider does not decide, or an account here that
// was registered with the address of the victim before.
import { foldedUsername } from '@grantry/administration'
import { google } from '@grantry/plugins/upstream'
import { describe, expect, test } from 'vitest'
import type { NewAccount } from '../../plugins/shared/account-store.ts'
import { createAccounts, setUpUpstream, type UpstreamSetting } from '../upstream/parties.ts'

const victim: NewAccount = { username: 'victim', email: 'victim@acme.example', emailVerified: true }

async function signInBeside(
  account: NewAccount,
  claims: Readonly<Record<string, unknown>>,
  setting: UpstreamSetting = {},
) {
  const { accounts, add, all } = createAccounts()
  const known = add(account)
  const f = await setUpUpstream({ double: { claims }, options: { accounts }, ...setting })
  const { claims: own } = await f.claimsAfter()
  return { own, known, all }
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
    const { own, known, all } = await signInBeside(victim, claims, setting)
    expect(own?.sub).not.toBe(known.sub)
    // The address stays with its owner.
    const owners = [...all.values()].filter(({ email, emailVerified }) => emailVerified && email === victim.email)
    expect(owners).toMatchObject([{ sub: known.sub }])
  })

  test('by one that was registered here with the address of the victim, and never verified', async () => {
    const { own, known } = await signInBeside({ ...victim, emailVerified: false }, verified, linkBy)
    expect(own?.sub).not.toBe(known.sub)
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

  test('by another account at the provider that got the address later: it is another `sub`', async () => {
    const { accounts } = createAccounts()
    const f = await setUpUpstream({ double: { claims: verified }, options: { accounts } })
    const first = (await f.claimsAfter()).claims?.sub
    f.double.set({ claims: { ...verified, sub: 'the-next-owner' } })
    expect((await f.claimsAfter()).claims?.sub).not.toBe(first)
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
    const { own, all } = await signInBeside(victim, { preferred_username: 'victim', name: 'victim' })
    expect(all.get(String(own?.sub))?.username).toMatch(/^acme-[\w-]{16}$/u)
  })

  test('by another provider with the same `sub`', async () => {
    const first = await setUpUpstream()
    const second = await setUpUpstream({ double: { issuer: 'https://other.example.com' } })
    expect((await first.claimsAfter()).claims?.sub).not.toBe((await second.claimsAfter()).claims?.sub)
  })
})
