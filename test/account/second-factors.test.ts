// One-time passwords and recovery codes in the storage: users set them up on the account page.
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { secondFactors } from '@grantry/plugins/sign-in'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { kitOf } from '../support/kit-of.ts'
import { codeAt, codesIn, codesUri, encryptionSecrets, secretIn, setUpFactors, setUpUri } from './factors.ts'
import { accountUri, issuer, setUpAccount } from './parties.ts'

describe('an authenticator app', () => {
  test('20.46 counts after its first code, and is asked for at the next sign-in', async () => {
    const { signedIn, setUpApp, browser, enter, now, clock } = await setUpFactors()
    const { browser: alice, page } = await signedIn()
    expect(page.html).toContain('Not set up')
    const { secret, done } = await setUpApp(alice)
    expect(done.html).toContain('New recovery codes were created')
    expect(codesIn(done)).toHaveLength(10)
    expect((await alice.open(accountUri)).html).toContain('Recovery codes left: 10.')

    clock.advance(30)
    const secondBrowser = browser()
    const asked = await enter(secondBrowser, await secondBrowser.open(accountUri))
    expect(asked.html).toContain('Confirm that it is you')
    const fields = { ...hiddenFields(asked), code: codeAt(secret, now()) }
    expect((await secondBrowser.submit(`${issuer}/connect/secondfactor`, fields)).html).toContain('Signed in as alice<')
  })

  test('does not count before its first code', async () => {
    const { signedIn, browser, enter } = await setUpFactors()
    const { browser: alice } = await signedIn()
    await alice.open(setUpUri)
    const secondBrowser = browser()
    expect((await enter(secondBrowser, await secondBrowser.open(accountUri))).html).toContain('Signed in as alice<')
  })

  test('keeps the secret of the page after a wrong code', async () => {
    const { signedIn, send, now } = await setUpFactors()
    const { browser } = await signedIn()
    const page = await browser.open(setUpUri)
    const again = await send(browser, page, { code: '000000' })
    expect(again.html).toContain('The code is wrong')
    expect(secretIn(again)).toBe(secretIn(page))
    const done = await send(browser, again, { code: codeAt(secretIn(page), now()) })
    expect(codesIn(done)).toHaveLength(10)
  })

  test('ends the other sessions of the user, which have begun with the password alone', async () => {
    const { signedIn, setUpApp } = await setUpFactors()
    const phone = await signedIn()
    const { browser } = await signedIn()
    await setUpApp(browser)
    expect((await phone.browser.open(accountUri)).html).toContain('name="password"')
    expect((await browser.open(accountUri)).html).toContain('id="sessions"')
  })

  test('is removed with the recovery codes, and then not asked for', async () => {
    const { signedIn, setUpApp, send, browser, enter, events } = await setUpFactors()
    const { browser: alice } = await signedIn()
    await setUpApp(alice)
    const removed = await send(alice, await alice.open(`${accountUri}/otp/remove`))
    expect(removed.html).toContain('The authenticator app is removed')
    expect(removed.html).not.toContain('Recovery codes left: 10.')
    const secondBrowser = browser()
    expect((await enter(secondBrowser, await secondBrowser.open(accountUri))).html).toContain('Signed in as alice<')
    const changes = events.filter(({ type }) => type === 'account_changed')
    expect(changes.map((event) => 'change' in event && event.change)).toEqual(['app_added', 'app_removed'])
  })

  test('is removed by an administrator', async () => {
    const { signedIn, setUpApp, provider, browser, enter } = await setUpFactors()
    await setUpApp((await signedIn()).browser)
    await provider.use(secondFactors).reset('sub of alice')
    const secondBrowser = browser()
    expect((await enter(secondBrowser, await secondBrowser.open(accountUri))).html).toContain('Signed in as alice<')
  })

  test('shows a QR code and the key', async () => {
    const { signedIn } = await setUpFactors()
    const { browser } = await signedIn()
    const page = await browser.open(setUpUri)
    expect(page.html).toMatch(/<svg id="qr"/u)
    expect(secretIn(page)).toMatch(/^[A-Z2-7]{32}$/u)
  })
})

describe('recovery codes', () => {
  test('sign in once each, and new ones replace them', async () => {
    const { signedIn, setUpApp, send, browser, enter } = await setUpFactors()
    const { browser: alice } = await signedIn()
    const first = codesIn((await setUpApp(alice)).done)
    const replaced = codesIn(await send(alice, await alice.open(codesUri)))
    expect(replaced).toHaveLength(10)
    const attempt = async (code = '') => {
      const nextBrowser = browser()
      const asked = await enter(nextBrowser, await nextBrowser.open(accountUri))
      const page = await nextBrowser.submit(`${issuer}/connect/secondfactor`, { ...hiddenFields(asked), code })
      return page.html.includes('Signed in as alice<')
    }
    expect(await attempt(first[0])).toBe(false)
    expect(await attempt(replaced[0])).toBe(true)
    expect(await attempt(replaced[0])).toBe(false)
  })

  test('that were used are not counted by a reset', async () => {
    const { signedIn, setUpApp, browser, enter, provider } = await setUpFactors()
    const [code = ''] = codesIn((await setUpApp((await signedIn()).browser)).done)
    const another = browser()
    const asked = await enter(another, await another.open(accountUri))
    await another.submit(`${issuer}/connect/secondfactor`, { ...hiddenFields(asked), code })
    expect(await provider.use(secondFactors).reset('sub of alice')).toEqual({ apps: 1, recoveryCodes: 9 })
  })

  test('have no page without an app', async () => {
    const { signedIn } = await setUpFactors()
    const { browser } = await signedIn()
    expect((await browser.open(codesUri)).url.href).toBe(accountUri)
  })
})

describe('the secrets in the storage', () => {
  test('are encrypted, by the first secret of the operator, and opened by each', async () => {
    const items = new Map<string, string>()
    const { signedIn, setUpApp, stored, provider, now, clock } = await setUpFactors({ storage: mapDriver(items) })
    const { secret } = await setUpApp((await signedIn()).browser)
    expect([...items.values()].join()).not.toContain(secret)
    expect(stored.factors).toHaveLength(2)
    clock.advance(30)
    const verify = (secrets: readonly string[]) => {
      const [app] = storedSecondFactors({ encryptionSecrets: secrets }).factors
      return app?.verify('sub of alice', codeAt(secret, now()), kitOf(provider, 'authorization-endpoint'))
    }
    expect(await verify(['y'.repeat(32)])).toBe(false)
    expect(await verify(['y'.repeat(32), ...encryptionSecrets])).toBe(true)
  })

  test('refuses a mistake in the options', () => {
    expect(() => storedSecondFactors({ encryptionSecrets: ['short'] })).toThrow('storedSecondFactors()')
    expect(() => storedSecondFactors({ encryptionSecrets: [] })).toThrow('storedSecondFactors()')
    expect(storedSecondFactors({ encryptionSecrets }).factors).toHaveLength(2)
  })

  test('has no page without the option', async () => {
    const { signedIn } = await setUpAccount()
    const { browser, page } = await signedIn()
    expect(page.html).not.toContain('id="factors"')
    expect((await browser.open(setUpUri)).url.href).toBe(accountUri)
  })
})
