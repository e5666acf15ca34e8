/**
 * Attack: a user, or another site in the browser of the user, changes claims that give rights, or the claims of another
 * user, by the form of the profile: with fields that it does not have, with another form token, with a session that has
 * not authenticated for long, or at the moment at which an administrator takes a role away.
 *
 * OpenID Connect Core section 5.7 (claims that identify); decision 170.
 */
import { describe, expect, test } from 'vitest'
import { accountUri, setUpAccount } from '../account/parties.ts'
import { aliceAccount, memoryAccounts } from '../self-service/parties.ts'

const profileUri = `${accountUri}/profile`

async function setUpAttack() {
  const claims = { name: 'Alice', roles: ['user'] }
  const bob = { ...aliceAccount, sub: 'bob', username: 'bob', email: 'bob@example.com', claims }
  const memory = memoryAccounts([{ ...aliceAccount, claims }, bob])
  const f = await setUpAccount({
    account: { accounts: memory.store },
    provider: { users: { authenticate: memory.authenticate, claims: () => ({}) } },
  })
  return { ...f, ...memory }
}

describe('the form of the profile', () => {
  test('20.71 changes no claim that it does not have', async () => {
    const { signedIn, send, users } = await setUpAttack()
    const { browser } = await signedIn()
    await send(browser, await browser.open(profileUri), {
      name: 'Mallory',
      sub: 'bob',
      username: 'bob',
      email: 'mallory@example.com',
      email_verified: 'true',
      emailVerified: 'true',
      roles: 'admin',
      groups: 'admin',
      website: 'https://mallory.example',
      password: 'another password',
      someClaims: '{"roles":["admin"]}',
      __proto__: 'x',
      constructor: 'x',
    })
    expect(users.get('alice')).toEqual({ ...aliceAccount, claims: { name: 'Mallory', roles: ['user'] } })
    expect(users.get('bob')?.claims).toEqual({ name: 'Alice', roles: ['user'] })
  })

  test('changes nothing with a form token of another user, session or page, or without one', async () => {
    const { signedIn, users } = await setUpAttack()
    const [victim, otherSession, stranger] = [await signedIn(), await signedIn(), await signedIn('bob')]
    const tokenOf = async (of: typeof victim, path: string) =>
      /name="form_token" value="([^"]*)"/u.exec((await of.browser.open(`${accountUri}/${path}`)).html)?.[1] ?? ''
    const tokens = [
      '',
      'x',
      await tokenOf(otherSession, 'profile'),
      await tokenOf(stranger, 'profile'),
      await tokenOf(victim, 'sessions/end-others'),
    ]
    for (const form_token of tokens) {
      expect((await victim.browser.submit(profileUri, { form_token, name: 'Mallory' })).status).toBe(400)
    }
    const form_token = await tokenOf(victim, 'profile')
    await victim.browser.open(`${profileUri}?${new URLSearchParams({ form_token, name: 'Mallory' })}`)
    expect(users.get('alice')?.claims).toMatchObject({ name: 'Alice' })
  })

  test('changes nothing without a recent authentication', async () => {
    const { signedIn, send, users, clock } = await setUpAttack()
    const { browser } = await signedIn()
    const page = await browser.open(profileUri)
    clock.advance(301)
    expect((await send(browser, page, { name: 'Mallory' })).html).toContain('name="password"')
    expect((await browser.open(profileUri)).url.pathname).toBe('/connect/authorize')
    expect(users.get('alice')?.claims).toMatchObject({ name: 'Alice' })
  })
})
