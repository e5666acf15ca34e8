// A form that is sent after the sign-in has aged: what the user has entered, and what a device has created, is kept until
// the user has signed in again.
import { createAccountPages } from '@grantry/pages/account'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { describe, expect, test } from 'vitest'
import { hiddenFields, type Page } from '../authorization/browser.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { codeAt, codesIn, secretIn, setUpFactors, setUpUri } from './factors.ts'
import { accountUri, issuer, linksTo, setUpAccount } from './parties.ts'
import { addUri, challengeIn, optionsIn, setUpPasskeys } from './passkeys.ts'

const asksForPassword = ({ html }: Pick<Page, 'html'>): boolean => html.includes('name="password"')
const listed = (page: Page) => linksTo(page, 'passkeys/').filter((url) => url.endsWith('/remove'))

describe('a form after the sign-in has aged', () => {
  test('adds the passkey that the device has created', async () => {
    const { signedIn, send, enter, clock, browser: newBrowser } = await setUpPasskeys()
    const { browser } = await signedIn()
    const device = createAuthenticator()
    const page = await browser.open(addUri)
    clock.advance(301)
    const asked = await send(browser, page, { credential: device.register(optionsIn(page).challenge), name: 'Laptop' })
    expect(asksForPassword(asked)).toBe(true)
    const kept = await enter(browser, asked)
    expect(kept.html).toContain('Confirm it only if that was you.')
    expect(listed(await browser.open(accountUri))).toEqual([])
    const done = await send(browser, kept)
    expect([done.html.includes('The passkey is added'), done.html.includes('<bdi>Laptop</bdi>')]).toEqual([true, true])
    const secondBrowser = newBrowser()
    const login = await secondBrowser.open(accountUri)
    const credential = device.respond(challengeIn(login))
    const again = await secondBrowser.submit(`${issuer}/connect/signin`, { ...hiddenFields(login), credential })
    expect(again.html).toContain('Signed in as alice<')
  })

  test('keeps its passkey on the device, also if the user tries to sign in again with it', async () => {
    const { signedIn, send, enter, clock } = await setUpPasskeys()
    const { browser } = await signedIn()
    const device = createAuthenticator()
    const page = await browser.open(addUri)
    const { challenge, user } = optionsIn(page)
    clock.advance(301)
    const asked = await send(browser, page, { credential: device.register(challenge) })
    const response = JSON.parse(device.respond(challengeIn(asked)))
    const credential = JSON.stringify({ ...response, response: { ...response.response, userHandle: user.id } })
    const refused = await browser.submit(`${issuer}/connect/signin`, { ...hiddenFields(asked), credential })
    expect([refused.html.includes('id="problem"'), refused.html.includes('data-unknown')]).toEqual([true, false])
    // Another tab, in which the sign-in is old.
    expect((await browser.open(accountUri)).html).not.toContain('data-signals')
    const done = await send(browser, await enter(browser, refused))
    expect([done.html.includes('The passkey is added'), done.html.includes('data-signals')]).toEqual([true, true])
  })

  test('sets up the app whose code is still right, and keeps its secret after a wrong one', async () => {
    const { signedIn, send, enter, clock, now } = await setUpFactors()
    const { browser } = await signedIn()
    const page = await browser.open(setUpUri)
    clock.advance(301)
    const confirmed = async (sent: Page) => send(browser, await enter(browser, sent))
    const late = await confirmed(await send(browser, page, { code: codeAt(secretIn(page), now() - 300) }))
    expect(late.html).toContain('The code is wrong')
    expect(secretIn(late)).toBe(secretIn(page))
    clock.advance(301)
    const done = await confirmed(await send(browser, late, { code: codeAt(secretIn(page), now()) }))
    expect(codesIn(done)).toHaveLength(10)
  })

  test.each([
    ['at the end of its page', 1799, 5, 5],
    ['with a slow sign-in', 301, 599, 5],
    ['with a slow confirmation', 1799, 599, 299],
  ])('adds a passkey and an app %s', async (_, age, signInTakes, confirmationTakes) => {
    const [passkeys, factors] = [await setUpPasskeys(), await setUpFactors()]
    const { browser } = await passkeys.signedIn()
    const { browser: factorsBrowser } = await factors.signedIn()
    const [page, setUp] = [await browser.open(addUri), await factorsBrowser.open(setUpUri)]
    const confirmed = async (f: typeof passkeys | typeof factors, of: typeof browser, sent: Page, fields: object) => {
      f.clock.advance(age)
      const asked = await f.send(of, sent, { ...fields })
      f.clock.advance(signInTakes)
      const kept = await f.enter(of, asked)
      f.clock.advance(confirmationTakes)
      return f.send(of, kept)
    }
    const credential = createAuthenticator().register(optionsIn(page).challenge)
    expect((await confirmed(passkeys, browser, page, { credential })).html).toContain('The passkey is added')
    const wrong = await confirmed(factors, factorsBrowser, setUp, { code: '000000' })
    expect([wrong.html.includes('The code is wrong'), secretIn(wrong)]).toEqual([true, secretIn(setUp)])
    const right = { code: codeAt(secretIn(setUp), factors.now()) }
    expect(codesIn(await factors.send(factorsBrowser, wrong, right))).toHaveLength(10)
  })

  test('is kept until it is sent: no page in between has the device remove its passkey', async () => {
    const { signedIn, send, enter, clock, enrol } = await setUpPasskeys()
    const { browser } = await signedIn()
    await enrol(browser, createAuthenticator('b3RoZXI'))
    const page = await browser.open(addUri)
    clock.advance(301)
    const fields = { credential: createAuthenticator().register(optionsIn(page).challenge) }
    const kept = await enter(browser, await send(browser, page, fields))
    const hasSignals = async () => (await browser.open(accountUri)).html.includes('data-signals')
    expect(await hasSignals()).toBe(false)
    expect((await browser.open(addUri)).html).toContain('Confirm it only if that was you.')
    const done = await send(browser, kept)
    expect([done.html.includes('The passkey is added'), done.html.includes('data-signals')]).toEqual([true, true])
    expect((await browser.open(addUri)).html).toContain('id="enrol"')
    expect((await send(browser, kept)).html).toContain('id="problem"')
    expect(listed(await browser.open(accountUri))).toHaveLength(2)
    expect(await hasSignals()).toBe(true)
  })

  test('keeps its passkey on the device for as long as its confirmation is permitted, and not longer', async () => {
    const { signedIn, send, enter, clock } = await setUpPasskeys()
    const { browser } = await signedIn()
    const page = await browser.open(addUri)
    clock.advance(301)
    const asked = await send(browser, page, { credential: createAuthenticator().register(optionsIn(page).challenge) })
    clock.advance(599)
    await enter(browser, asked)
    const hasSignals = async () => (await browser.open(accountUri)).html.includes('data-signals')
    clock.advance(250)
    expect(await hasSignals()).toBe(false)
    clock.advance(300)
    await enter(browser, await browser.open(`${accountUri}/delete`))
    expect(await hasSignals()).toBe(false)
    clock.advance(52)
    expect(await hasSignals()).toBe(true)
  })

  test('that its user does not confirm makes way for another one', async () => {
    const { signedIn, send, enter, clock } = await setUpPasskeys()
    const { browser } = await signedIn()
    const page = await browser.open(addUri)
    clock.advance(301)
    const ofStranger = createAuthenticator().register(optionsIn(page).challenge)
    const kept = await enter(browser, await send(browser, page, { credential: ofStranger, name: 'Stranger' }))
    const [another = ''] = linksTo(kept, 'passkeys/add')
    const enrolment = await browser.open(another)
    expect(enrolment.html).toContain('id="enrol"')
    const credential = createAuthenticator('b3RoZXI').register(optionsIn(enrolment).challenge)
    const done = await send(browser, enrolment, { credential, name: 'Own' })
    expect([done.html.includes('<bdi>Own</bdi>'), done.html.includes('<bdi>Stranger</bdi>')]).toEqual([true, false])
  })

  test.each([
    ['after ten minutes', 601, 'alice'],
    ['for another user', 1, 'bob'],
  ])('is not kept %s', async (_, seconds, user) => {
    const { signedIn, send, enter, clock } = await setUpPasskeys()
    const { browser } = await signedIn()
    const page = await browser.open(addUri)
    clock.advance(301)
    const asked = await send(browser, page, { credential: createAuthenticator().register(optionsIn(page).challenge) })
    clock.advance(seconds)
    const shown = await enter(browser, asked, user)
    expect(shown.html).toContain('id="enrol"')
    expect(listed(await browser.open(accountUri))).toEqual([])
  })

  test('is not kept without the token of its page, or for another page', async () => {
    const { signedIn, send, enter, clock, enrol } = await setUpPasskeys()
    const { browser } = await signedIn()
    const [rename = ''] = linksTo(await enrol(browser), 'passkeys/').filter((url) => url.endsWith('/rename'))
    const page = await browser.open(rename)
    const fieldsOfOtherPage = hiddenFields(await browser.open(addUri))
    clock.advance(301)
    expect(asksForPassword(await browser.submit(rename, { name: 'Evil' }))).toBe(true)
    const refused = await enter(browser, await browser.submit(rename, { ...fieldsOfOtherPage, name: 'Evil' }))
    expect(refused.html).toContain('value="Laptop"')
    // Of an earlier sign-in.
    expect((await send(browser, page, { name: 'Desktop' })).html).toContain('<bdi>Laptop</bdi>')
  })

  test('is kept again if its confirmation is too late', async () => {
    const { signedIn, send, enter, clock } = await setUpPasskeys()
    const { browser } = await signedIn()
    const page = await browser.open(addUri)
    clock.advance(301)
    const credential = createAuthenticator().register(optionsIn(page).challenge)
    const kept = await enter(browser, await send(browser, page, { credential }))
    clock.advance(301)
    const again = await enter(browser, await send(browser, kept))
    expect(again.html).toContain('Confirm it only if that was you.')
    expect((await send(browser, again)).html).toContain('The passkey is added')
    expect((await send(browser, again)).html).toContain('id="problem"')
  })

  test('of a passkey is not confirmed at the page of another change, or in another session', async () => {
    const { signedIn, send, enter, clock, enrol } = await setUpPasskeys()
    const { browser } = await signedIn()
    const page = await browser.open(addUri)
    clock.advance(301)
    const credential = createAuthenticator().register(optionsIn(page).challenge)
    const { kept = '' } = hiddenFields(await enter(browser, await send(browser, page, { credential })))
    expect(kept).not.toBe('')
    for (const name of ['alice', 'bob']) {
      const { browser: otherBrowser } = await signedIn(name)
      const refused = await send(otherBrowser, await otherBrowser.open(addUri), { kept })
      expect([refused.status, listed(refused)]).toEqual([400, []])
    }
    const added = await enrol(browser, createAuthenticator('b3RoZXI'))
    const [rename = ''] = linksTo(added, 'passkeys/').filter((url) => url.endsWith('/rename'))
    expect((await send(browser, await browser.open(rename), { kept })).status).toBe(400)
  })

  test('does nothing more if its user only looked at it: a removal is asked for again', async () => {
    const { signedIn, send, enter, clock, enrol } = await setUpPasskeys()
    const { browser } = await signedIn()
    const [remove = ''] = linksTo(await enrol(browser), 'passkeys/').filter((url) => url.endsWith('/remove'))
    const page = await browser.open(remove)
    clock.advance(301)
    const shown = await enter(browser, await send(browser, page))
    expect([shown.url.href, shown.html.includes('id="confirm"')]).toEqual([remove, true])
  })
})

test('a page whose form is about to expire is loaded again before the device acts', async () => {
  const passkeys = storedPasskeys()
  const { signedIn } = await setUpAccount({
    signIn: { passkeys },
    account: { passkeys, maxAge: 86_400, pages: createAccountPages() },
  })
  const page = await (await signedIn()).browser.open(addUri)
  expect(optionsIn(page).lifetime).toBe(1500)
  expect(page.html).toContain('if (Date.now() > end) return location.reload()')
})
