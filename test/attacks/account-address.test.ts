/**
 * Attack: a user, a thief of a session, or another site in the browser of a user changes a mail address without a proof: with
 * the code of another session, browser or user, with a guessed or replayed code, or with the address of another user. Or a
 * user learns from pages, status and mails which addresses have an account, or floods a mailbox.
 *
 * OWASP ASVS 5.0 sections 6.4 and 7.5; decision 170.
 */
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { addressUri, codeIn, codeUri, setUpAddress } from '../account/addresses.ts'
import { accountUri } from '../account/parties.ts'
import { hiddenFields, type Page } from '../authorization/browser.ts'
import { withLatency } from '../support/latency.ts'

const unchanged = { email: 'alice@example.com', emailVerified: true }

/** The page without what differs for each request, and for each address. */
const textOf = ({ html }: Page, address: string): string =>
  html
    .replaceAll(/value="[^"]*"/gu, '')
    .replaceAll(/nonce-[\w-]+/gu, '')
    .replaceAll(address, 'ADDRESS')

async function asked(address = 'new@example.com') {
  const f = await setUpAddress()
  const { browser } = await f.signedIn()
  const page = await f.ask(browser, address)
  const code = codeIn((await f.mailsTo(address))[0])
  return { ...f, asker: browser, page, code }
}

describe('an address is not changed', () => {
  test('by a code of another session of the user, of another user, or in another browser', async () => {
    const { users, asker, page, code, signedIn, browser, ask } = await asked()
    const otherSession = await signedIn()
    const stranger = await signedIn('bob')
    await ask(otherSession.browser, 'other@example.com')
    await ask(stranger.browser, 'stranger@example.com')
    for (const of of [otherSession.browser, stranger.browser]) {
      const form = await of.open(codeUri)
      await of.submit(codeUri, { ...hiddenFields(form), code })
      await of.submit(codeUri, { ...hiddenFields(page), code })
    }
    const none = browser()
    expect((await none.submit(codeUri, { ...hiddenFields(page), code })).html).toContain(
      'Your browser has sent no cookie',
    )
    expect([users.get('alice'), users.get('bob')?.email]).toMatchObject([unchanged, 'bob@example.com'])
    await asker.submit(codeUri, { ...hiddenFields(page), code })
    expect(users.get('alice')?.email).toBe('new@example.com')
  })

  test('by a form of another site, or a link', async () => {
    const { users, asker, page, code, mails } = await asked()
    const before = mails.length
    for (const form_token of [
      '',
      'x',
      hiddenFields(await asker.open(`${accountUri}/sessions/end-others`)).form_token,
    ]) {
      const fields = form_token === undefined ? {} : { form_token }
      expect((await asker.submit(codeUri, { ...fields, code })).status).toBe(400)
      expect((await asker.submit(addressUri, { ...fields, address: 'x@example.com' })).status).toBe(400)
    }
    await asker.open(`${codeUri}?${new URLSearchParams({ ...hiddenFields(page), code })}`)
    await asker.open(
      `${addressUri}?${new URLSearchParams({ ...hiddenFields(await asker.open(addressUri)), address: 'x@y.example' })}`,
    )
    expect([mails.length, users.get('alice')]).toMatchObject([before, unchanged])
  })

  test('20.42 without a recent authentication, to ask or to prove', async () => {
    const { users, asker, page, code, clock, mails } = await asked()
    const form = await asker.open(addressUri)
    clock.advance(301)
    const before = mails.length
    expect((await asker.submit(addressUri, { ...hiddenFields(form), address: 'x@example.com' })).html).toContain(
      'name="password"',
    )
    expect((await asker.submit(codeUri, { ...hiddenFields(page), code })).html).toContain('name="password"')
    expect([mails.length, users.get('alice')]).toMatchObject([before, unchanged])
  })

  test('by fields that the form does not have', async () => {
    const { users, asker, page, code, ask, mailsTo } = await asked()
    const more = {
      email: 'x@example.com',
      email_verified: 'true',
      sub: 'bob',
      address: 'x@example.com',
      roles: 'admin',
    }
    await asker.submit(codeUri, { ...hiddenFields(page), ...more, code: 'xxxxxx' })
    expect(users.get('alice')).toMatchObject(unchanged)
    await asker.submit(codeUri, { ...hiddenFields(page), ...more, code })
    expect(users.get('alice')).toMatchObject({ email: 'new@example.com', claims: {} })
    expect(users.get('bob')?.email).toBe('bob@example.com')
    await ask(asker, 'later@example.com')
    expect(await mailsTo('x@example.com')).toEqual([])
  })

  test('by a code after five wrong ones, also of ten at the same moment', async () => {
    const { users, asker, page, code } = await asked()
    const wrong = Array.from({ length: 9 }, (_, index) =>
      String((Number(code) + 1 + index) % 1_000_000).padStart(6, '0'),
    )
    await Promise.all(wrong.map((guess) => asker.submit(codeUri, { ...hiddenFields(page), code: guess })))
    expect((await asker.submit(codeUri, { ...hiddenFields(page), code })).html).toContain('id="problem"')
    expect(users.get('alice')).toMatchObject(unchanged)
  })

  test('after the user was revoked', async () => {
    const { users, asker, page, code, provider } = await asked()
    await provider.revoke({ subject: 'alice' })
    await asker.submit(codeUri, { ...hiddenFields(page), code })
    expect(users.get('alice')).toMatchObject(unchanged)
  })
})

test('20.72 of ten replays of a code at the same moment, one changes the address', async () => {
  const f = await setUpAddress({}, { provider: { storage: withLatency(memoryDriver()) } })
  const { browser } = await f.signedIn()
  const page = await f.ask(browser, 'new@example.com')
  const code = codeIn((await f.mailsTo('new@example.com'))[0])
  const replays = Array.from({ length: 4 }, () => browser.submit(codeUri, { ...hiddenFields(page), code }))
  const pages = await Promise.all(replays)
  const done = pages.filter(({ html }) => html.includes('Your email address was changed'))
  const changes = f.events.filter((event) => event.type === 'account_changed')
  expect([done.length, changes.length, f.users.get('alice')?.email]).toEqual([1, 1, 'new@example.com'])
})

describe('the address of another user', () => {
  test('20.73 gets the same response, and its owner the mail', async () => {
    const f = await setUpAddress()
    const { browser } = await f.signedIn()
    const free = await f.ask(browser, 'free@example.com')
    const taken = await f.ask(browser, 'BOB@example.com')
    expect([taken.status, textOf(taken, 'BOB@example.com')]).toEqual([200, textOf(free, 'free@example.com')])
    const mails = await f.mailsTo('bob@example.com')
    expect(mails.map(({ text }) => text)).toEqual([expect.stringContaining('belongs to your account')])
    expect([mails[0] && codeIn(mails[0]), mails[0]?.text.includes('alice')]).toEqual(['', false])
    expect(f.mails).toHaveLength(2)
    const events = f.events.filter(({ type }) => type === 'mail_requested')
    expect(events).toMatchObject([{ sub: 'alice' }, { sub: 'alice' }])
    // There is no code that is right, and a wrong one has the same page.
    const wrong = await browser.submit(codeUri, { ...hiddenFields(taken), code: '00000000' })
    expect(wrong.html).toContain('This code is not correct')
  })

  test('cannot be had by a code when it was proved by another user in between', async () => {
    const f = await setUpAddress()
    const [alice, bob] = [await f.signedIn(), await f.signedIn('bob')]
    const pages = [await f.ask(alice.browser, 'x@example.com'), await f.ask(bob.browser, 'X@example.com')]
    const codes = [await f.mailsTo('x@example.com'), await f.mailsTo('X@example.com')].map(([mail]) => codeIn(mail))
    await bob.browser.submit(codeUri, { ...hiddenFields(pages[1] as Page), code: codes[1] ?? '' })
    const late = await alice.browser.submit(codeUri, { ...hiddenFields(pages[0] as Page), code: codes[0] ?? '' })
    expect(late.html).toContain('This address belongs to another account')
    expect([f.users.get('alice')?.email, f.users.get('bob')?.email]).toEqual(['alice@example.com', 'X@example.com'])
  })

  test('belongs to no user before the proof: no account at a provider finds it', async () => {
    const { store } = await asked()
    expect(await store.findByEmail('new@example.com')).toBeUndefined()
  })
})

describe('mails', () => {
  test('are limited for an address, and for a user', async () => {
    const f = await setUpAddress()
    const { browser } = await f.signedIn()
    for (let index = 0; index < 3; index += 1) await f.ask(browser, `a+${index}@example.com`)
    const limited = await f.ask(browser, 'a@example.com')
    expect([limited.status, limited.headers.get('retry-after') !== null]).toEqual([429, true])
    for (let index = 0; index < 6; index += 1) await f.ask(browser, `b${index}@example.com`)
    expect((await f.ask(browser, 'c@example.com')).status).toBe(429)
    await f.provider.runTasks()
    expect(f.mails).toHaveLength(9)
    f.clock.advance(3600)
    const again = await f.signedIn()
    expect((await f.ask(again.browser, 'c@example.com')).status).toBe(200)
  })
})
