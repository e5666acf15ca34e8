// Linked accounts on the page of the account: a confirmation before the browser leaves, a mail after each change, and
// no user loses the last way to sign in.
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { upstream } from '@grantry/plugins/upstream'
import { describe, expect, test } from 'vitest'
import type { MailMessage } from '../../plugins/shared/mailer.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { createOpenIdDouble, type DoubleOptions, realNow } from '../upstream/openid-double.ts'
import { acmeOf, createAccounts } from '../upstream/parties.ts'
import { accountUri, type Browser, issuer, linksTo, setUpAccount } from './parties.ts'
import { optionsIn, addUri as passkeyUri } from './passkeys.ts'

const addUri = `${accountUri}/providers/add/acme`

/** The link with the form token, on the page that asks. */
const leaveIn = ({ html }: { readonly html: string }): string =>
  /id="confirm" href="([^"]*)"/u.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''

async function setUpLinked(
  claims: NonNullable<DoubleOptions['claims']> = { name: 'Alice at Acme' },
  passkeys?: ReturnType<typeof storedPasskeys>,
) {
  const double = await createOpenIdDouble({ claims })
  const linkedProviders = upstream({ providers: [acmeOf(double)], fetch: double.fetch })
  const mails: MailMessage[] = []
  const { accounts, all } = createAccounts()
  const alice = { sub: 'sub of alice', username: 'alice', email: 'alice@acme.example', emailVerified: true, claims: {} }
  all.set(alice.sub, alice)
  let skipped = 0
  const f = await setUpAccount({
    account: { passkeys, linkedProviders, accounts, mailer: { send: async (mail) => void mails.push(mail) } },
    signIn: { passkeys, ways: [linkedProviders] },
    provider: { runtime: { now: () => realNow() + skipped } },
  })
  /** Links the account at the provider to the user of a browser. */
  async function link(browser: Browser) {
    const away = await browser.open(leaveIn(await browser.open(addUri)))
    return browser.open(double.authorize(away.url))
  }
  /** A browser in which a user signs in at the provider. */
  async function atProvider() {
    const browser = f.browser()
    const login = await browser.open(accountUri)
    const [, url = ''] = /href="([^"]*\/connect\/upstream\/acme[^"]*)"/u.exec(login.html) ?? []
    const away = await browser.open(url.replaceAll('&amp;', '&'))
    return { browser, page: await browser.open(double.authorize(away.url)) }
  }
  const skip = (seconds: number) => {
    skipped += seconds
  }
  return {
    ...f,
    double,
    mails,
    link,
    atProvider,
    skip,
    changes: () => f.events.flatMap((event) => (event.type === 'account_changed' ? [event.change] : [])),
  }
}

describe('a linked account', () => {
  test('20.48 is added after a question, listed, and signs the same user in', async () => {
    const { signedIn, link, atProvider, mails, changes } = await setUpLinked()
    const { browser, page } = await signedIn()
    expect(page.html).toContain('You have linked no accounts.')
    expect(linksTo(page, 'providers/')).toEqual([addUri])
    const done = await link(browser)
    expect(done.html).toContain('The account is linked.')
    expect(done.html).toContain('Alice at Acme')
    expect(changes()).toEqual(['provider_linked'])
    expect(mails).toMatchObject([{ to: 'alice@acme.example', text: expect.stringContaining('The account is linked.') }])
    expect((await atProvider()).page.html).toContain('Alice at Acme')
  })

  test('20.48 is not added by a link of another site', async () => {
    const { signedIn, browser: newBrowser, double, enter } = await setUpLinked()
    const { browser } = await signedIn()
    expect((await browser.open(addUri)).url.origin).toBe(issuer)
    expect((await browser.open(`${addUri}?form_token=x`)).status).toBe(400)
    const bobsBrowser = newBrowser()
    await enter(bobsBrowser, await bobsBrowser.open(accountUri), 'bob')
    const stolen = leaveIn(await browser.open(addUri))
    const refused = await bobsBrowser.open(stolen)
    expect([refused.status, refused.url.origin === double.issuer]).toEqual([400, false])
  })

  test('20.48 needs a recent authentication', async () => {
    const { signedIn, skip } = await setUpLinked()
    const { browser } = await signedIn()
    const url = leaveIn(await browser.open(addUri))
    skip(301)
    expect((await browser.open(url)).html).toContain('name="password"')
  })

  test('20.49 is removed by a user who has signed in another way', async () => {
    const { signedIn, link, send, mails, changes, atProvider } = await setUpLinked()
    const { browser } = await signedIn()
    const [remove = ''] = linksTo(await link(browser), 'providers/').filter((url) => url.endsWith('/remove'))
    const done = await send(browser, await browser.open(remove))
    expect(done.html).toContain('The account is no longer linked.')
    expect(changes()).toEqual(['provider_linked', 'provider_unlinked'])
    expect(mails).toHaveLength(2)
    expect((await send(browser, { ...done, url: new URL(remove) })).html).not.toContain('Alice at Acme')
    expect(linksTo((await atProvider()).page, 'providers/')).toEqual([addUri])
  })

  test('20.49 is kept if it is the last way to sign in that is known', async () => {
    const claims = { name: 'Alice at Acme', auth_time: realNow() }
    const { signedIn, link, send, atProvider, changes } = await setUpLinked(claims)
    await link((await signedIn()).browser)
    const { browser, page } = await atProvider()
    const [remove = ''] = linksTo(page, 'providers/').filter((url) => url.endsWith('/remove'))
    const refused = await send(browser, await browser.open(remove))
    expect(refused.html).toContain('Your account needs another way to sign in.')
    expect(linksTo(refused, 'providers/')).toContain(remove)
    expect(changes()).toEqual(['provider_linked'])
  })

  test('20.93 that is removed ends the sessions that have begun with it, and no other', async () => {
    const { signedIn, link, send, atProvider } = await setUpLinked()
    const { browser } = await signedIn()
    await link(browser)
    const [elsewhere, kept] = [await atProvider(), await signedIn()]
    expect(elsewhere.page.html).toContain('id="sessions"')
    const [remove = ''] = linksTo(await browser.open(accountUri), 'providers/').filter((url) => url.endsWith('/remove'))
    expect((await send(browser, await browser.open(remove))).html).toContain('The account is no longer linked.')
    expect((await elsewhere.browser.open(accountUri)).html).toContain('name="password"')
    expect((await kept.browser.open(accountUri)).html).toContain('id="sessions"')
  })

  test('20.93 that is removed ends this session, too, if it has begun with it', async () => {
    const passkeys = storedPasskeys()
    const claims = { name: 'Alice at Acme', auth_time: realNow() }
    const { signedIn, link, send, atProvider, changes } = await setUpLinked(claims, passkeys)
    const alice = await signedIn()
    await link(alice.browser)
    const add = await alice.browser.open(passkeyUri)
    await send(alice.browser, add, { credential: createAuthenticator().register(optionsIn(add).challenge) })
    const { browser, page } = await atProvider()
    const [remove = ''] = linksTo(page, 'providers/').filter((url) => url.endsWith('/remove'))
    expect((await send(browser, await browser.open(remove))).html).toContain('name="password"')
    expect(changes()).toContain('provider_unlinked')
    expect((await alice.browser.open(accountUri)).html).toContain('id="sessions"')
  })

  test('of another user does not exist', async () => {
    const { signedIn, link } = await setUpLinked()
    const [remove = ''] = linksTo(await link((await signedIn()).browser), 'providers/').filter((url) =>
      url.endsWith('/remove'),
    )
    const { browser } = await signedIn('bob')
    expect((await browser.open(remove)).url.href).toBe(accountUri)
  })
})

test('a page without providers has no such section', async () => {
  const { signedIn } = await setUpAccount()
  const { browser, page } = await signedIn()
  expect(page.html).not.toContain('id="providers"')
  expect((await browser.open(addUri)).url.href).toBe(accountUri)
})
