/**
 * Attack: a thief of a session, another site or another user deletes an account. Or a user who is deleted stays signed in, by
 * a sign-in that is in progress at the same moment.
 *
 * OWASP ASVS 5.0 section 7.5; decision 170.
 */
import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { upstream, upstreamUsers } from '@grantry/plugins/upstream'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { deletionUri, setUpDeletion } from '../account/deletions.ts'
import { accountUri, setUpAccount } from '../account/parties.ts'
import { hiddenFields } from '../authorization/browser.ts'
import { withLatency } from '../support/latency.ts'
import { randomPause } from '../support/pause.ts'
import { createOpenIdDouble, realNow } from '../upstream/openid-double.ts'
import { acmeOf } from '../upstream/parties.ts'

describe('an account is not deleted', () => {
  test('20.42 without a recent authentication', async () => {
    const { signedIn, send, users, clock } = await setUpDeletion()
    const { browser } = await signedIn()
    const form = await browser.open(deletionUri)
    clock.advance(301)
    expect((await send(browser, form)).html).toContain('name="password"')
    expect((await browser.open(deletionUri)).url.pathname).toBe('/connect/authorize')
    expect(users.has('alice')).toBe(true)
  })

  test('by a link, or a form of another site, session, page or user', async () => {
    const { signedIn, users } = await setUpDeletion()
    const [victim, otherSession, stranger] = [await signedIn(), await signedIn(), await signedIn('bob')]
    const tokenOf = async ({ browser }: typeof victim, path: string) =>
      hiddenFields(await browser.open(`${accountUri}/${path}`)).form_token ?? ''
    const validToken = await tokenOf(victim, 'delete')
    await victim.browser.open(`${deletionUri}?${new URLSearchParams({ form_token: validToken })}`)
    const tokens = [
      '',
      'x',
      await tokenOf(victim, 'data'),
      await tokenOf(otherSession, 'delete'),
      await tokenOf(stranger, 'delete'),
    ]
    for (const form_token of tokens) {
      expect((await victim.browser.submit(deletionUri, { form_token })).status).toBe(400)
    }
    expect([...users.keys()]).toEqual(['alice', 'bob'])
  })

  test('of a user of the configuration, whom the store does not know, and who stays able to sign in', async () => {
    const authenticate = ({ username }: { readonly username: string }) => ({ sub: username })
    const f = await setUpDeletion({}, { users: { authenticate, claims: () => ({}) } })
    const { browser, page } = await f.signedIn('operator')
    expect(page.html).not.toContain('id="delete-account"')
    expect((await browser.open(deletionUri)).url.href).toBe(accountUri)
    const form_token = hiddenFields(await browser.open(`${accountUri}/data`)).form_token ?? ''
    await browser.submit(deletionUri, { form_token })
    expect((await f.signedIn('operator')).page.html).toContain('Signed in as operator<')
  })

  test('by another user who names it', async () => {
    const { signedIn, send, users } = await setUpDeletion()
    const { browser } = await signedIn('bob')
    await send(browser, await browser.open(deletionUri), {
      sub: 'alice',
      username: 'alice',
      email: 'alice@example.com',
    })
    expect([...users.keys()]).toEqual(['alice'])
  })
})

describe('a user who is deleted', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7])('20.75 has no session by a sign-in in progress (%i)', async (round) => {
    const f = await setUpDeletion(
      {
        async removeUser(sub) {
          await randomPause(10)
          f.users.delete(sub)
          await randomPause(10)
        },
      },
      { storage: withLatency(memoryDriver()) },
    )
    const { browser } = await f.signedIn()
    const form = await browser.open(deletionUri)
    const late = f.browser()
    const login = await late.open(accountUri)
    const signIn = async () => {
      await randomPause(round * 12)
      return f.enter(late, login)
    }
    await Promise.all([f.send(browser, form), signIn()])
    expect(f.users.has('alice')).toBe(false)
    expect(await f.provider.use(userSessions).list('alice')).toEqual([])
    const after = await late.open(accountUri)
    expect(after.html).not.toContain('id="sessions"')
  })

  test('gets no code, and keeps no token', async () => {
    const f = await setUpDeletion()
    const { browser } = await f.signedIn()
    const { body } = await f.authorize(browser)
    await f.send(browser, await browser.open(deletionUri))
    expect((await f.provider.inspect(String(body.access_token))).valid).toBe(false)
    expect((await f.authorize(browser)).body.access_token).toBeUndefined()
  })

  test('20.75 keeps no session and no token while the host fails to remove the account', async () => {
    const f = await setUpDeletion({
      removeUser() {
        throw new Error('down')
      },
    })
    const thief = await f.signedIn()
    const { body } = await f.authorize(thief.browser)
    const { browser } = await f.signedIn()
    await f.send(browser, await browser.open(deletionUri))
    expect(f.users.has('alice')).toBe(true)
    expect((await f.provider.inspect(String(body.refresh_token))).valid).toBe(false)
    expect((await f.provider.inspect(String(body.access_token))).valid).toBe(false)
    expect(await f.provider.use(userSessions).list('alice')).toEqual([])
  })

  test('gets the same response again from a host that refuses in the same minute', async () => {
    const f = await setUpDeletion({ removeUser: () => 'refused' })
    const { browser } = await f.signedIn()
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const done = await f.send(browser, await browser.open(deletionUri))
      expect(done.html).toContain('Your account cannot be deleted at the moment')
    }
    expect((await f.signedIn()).page.html).toContain('Signed in as alice<')
  })

  test('20.75 leaves no profile and no token of a provider', async () => {
    const double = await createOpenIdDouble({ claims: { name: 'Alice at Acme', auth_time: realNow() } })
    const encryptionSecrets = ['a secret of the test that is long enough']
    const linkedProviders = upstream({
      providers: [acmeOf(double, { keepTokens: true })],
      encryptionSecrets,
      fetch: double.fetch,
    })
    const storage = memoryDriver()
    const f = await setUpAccount({
      account: { linkedProviders, deletion: true, removeUser: () => undefined },
      signIn: { ways: [linkedProviders] },
      provider: { storage, runtime: { now: realNow } },
    })
    const browser = f.browser()
    const login = await browser.open(accountUri)
    const [, url = ''] = /href="([^"]*\/connect\/upstream\/acme[^"]*)"/u.exec(login.html) ?? []
    const away = await browser.open(url.replaceAll('&amp;', '&'))
    expect((await browser.open(double.authorize(away.url))).html).toContain('Alice at Acme')
    const [{ sub = '' } = {}] = f.events.flatMap((event) => (event.type === 'session_started' ? [event] : []))
    expect(await f.provider.use(upstreamUsers).find(sub)).toBeDefined()
    await f.send(browser, await browser.open(deletionUri))
    expect(await f.provider.use(upstreamUsers).find(sub)).toBeUndefined()
  })
})
