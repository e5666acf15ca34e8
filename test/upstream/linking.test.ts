import { describe, expect, test } from 'vitest'
import { forgetUser } from '../../packages/server/src/administration/forget-user.ts'
import { nameOf } from '../sign-in/parties.ts'
import { accountAs, createAccounts, setUpUpstream } from './parties.ts'

const alice = { username: 'alice', email: 'alice@acme.example', emailVerified: true, claims: {} } as const

describe('a link to an account at another provider', () => {
  test('signs the user in who has made it, is listed, and can be removed', async () => {
    const f = await setUpUpstream({ double: { claims: { name: 'Alice at Acme' } } })
    const account = await accountAs(f, 'alice')
    expect(await account.link()).toBe('linked')
    const [link] = await account.list()
    expect(link).toMatchObject({ provider: 'acme', name: 'Alice at Acme' })
    expect((await f.claimsAfter()).claims).toMatchObject({ sub: 'alice', idp: 'acme' })
    expect(await account.unlink(link?.id ?? '')).toBe(true)
    expect(await account.list()).toEqual([])
    expect((await f.claimsAfter()).claims?.sub).not.toBe('alice')
    const types = f.events.map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['upstream_linked', 'upstream_unlinked']))
  })

  test('is gone when an administrator has removed the user', async () => {
    const f = await setUpUpstream()
    const account = await accountAs(f, 'alice')
    expect(await account.link()).toBe('linked')
    await forgetUser('alice', f.provider)
    expect(await account.list()).toEqual([])
    expect((await f.claimsAfter()).claims?.sub).not.toBe('alice')
  })

  test('is made once, also if a user repeats it', async () => {
    const f = await setUpUpstream()
    const account = await accountAs(f, 'alice')
    expect(await account.link()).toBe('linked')
    expect(await account.link()).toBe('linked')
    expect(await account.list()).toHaveLength(1)
  })
})

describe('a user who signs in for the first time', () => {
  test('gets an account, and the same one the next time', async () => {
    const { accounts, all } = createAccounts()
    const f = await setUpUpstream({
      double: { claims: { email: 'new@acme.example', email_verified: true, name: 'New' } },
      options: { accounts },
      provider: { linkBy: ['acme.example'] },
    })
    const { claims } = await f.claimsAfter()
    expect((await f.claimsAfter()).claims?.sub).toBe(claims?.sub)
    expect([...all.values()]).toMatchObject([
      { sub: claims?.sub, email: 'new@acme.example', emailVerified: true, claims: { name: 'New' } },
    ])
  })

  test('18.13 is an existing user by a verified address, if the provider decides for its domain', async () => {
    const { accounts, add } = createAccounts()
    const known = add(alice)
    const f = await setUpUpstream({
      double: { claims: { email: 'Alice@acme.example', email_verified: true } },
      options: { accounts },
      provider: { linkBy: ['acme.example'] },
    })
    expect((await f.claimsAfter()).claims?.sub).toBe(known.sub)
    // Without the address, from now on: the link decides.
    f.double.set({ claims: {} })
    expect((await f.claimsAfter()).claims?.sub).toBe(known.sub)
  })

  test('gets one account in 10 concurrent sign-ins', async () => {
    const { accounts, all } = createAccounts()
    const f = await setUpUpstream({ options: { accounts } })
    const away = await Promise.all(Array.from({ length: 10 }, () => f.leave()))
    const pages = await Promise.all(away.map((response) => f.comeBack(response)))
    expect(pages.map(nameOf)).toEqual(Array.from({ length: 10 }, () => 'consent'))
    expect(all.size).toBe(1)
    expect(new Set(f.events.flatMap((event) => (event.type === 'session_started' ? [event.sub] : []))).size).toBe(1)
  })
})

describe('the domain of a mail address', () => {
  test('leads to the provider of the company without a page', async () => {
    const f = await setUpUpstream({ provider: { domains: ['acme.example'] } })
    expect((await f.leave({ login_hint: 'Bob@ACME.example' })).page.url.origin).toBe(f.double.issuer)
    expect(nameOf((await f.start({ login_hint: 'bob@acme.example.evil.example' })).page)).toBe('signIn')
    expect(nameOf((await f.start({ login_hint: 'acme.example' })).page)).toBe('signIn')
  })
})
