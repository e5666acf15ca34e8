// Passkeys in the storage: users add them on the account page, and sign in with them.
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { accountUri, issuer, linksTo, setUpAccount } from './parties.ts'
import { addUri, challengeIn, optionsIn, setUpPasskeys } from './passkeys.ts'

describe('a passkey of the account', () => {
  test('20.45 is added, signs its user in, and is renamed and removed', async () => {
    const { signedIn, enrol, browser, send, events } = await setUpPasskeys()
    const device = createAuthenticator()
    const { browser: alice } = await signedIn()
    const added = await enrol(alice, device)
    expect([added.status, added.html.includes('The passkey is added')]).toEqual([200, true])
    expect(added.html).toContain('<bdi>Laptop</bdi>')

    const secondBrowser = browser()
    const login = await secondBrowser.open(accountUri)
    const credential = device.respond(challengeIn(login))
    const page = await secondBrowser.submit(`${issuer}/connect/signin`, { ...hiddenFields(login), credential })
    expect([page.url.href, page.html.includes('Signed in as alice<')]).toEqual([accountUri, true])

    const [rename = ''] = linksTo(page, 'passkeys/').filter((url) => url.endsWith('/rename'))
    const renamed = await send(secondBrowser, await secondBrowser.open(rename), { name: 'Key \u202e of\u0000 alice' })
    expect(renamed.html).toContain('<bdi>Key  of alice</bdi>')
    const [remove = ''] = linksTo(page, 'passkeys/').filter((url) => url.endsWith('/remove'))
    expect((await send(secondBrowser, await secondBrowser.open(remove))).html).toContain('The passkey is removed')

    const last = await browser().open(accountUri)
    const again = device.respond(challengeIn(last))
    const refused = await browser().submit(`${issuer}/connect/signin`, { ...hiddenFields(last), credential: again })
    expect(refused.html).not.toContain('Signed in as')
    const changes = events.filter(({ type }) => type === 'account_changed')
    expect(changes.map((event) => 'change' in event && event.change)).toEqual([
      'passkey_added',
      'passkey_renamed',
      'passkey_removed',
    ])
  })

  test('20.70 cannot be added where its domain would be an address', async () => {
    const passkeys = storedPasskeys({ rpId: '127.0.0.1' })
    const { signedIn } = await setUpAccount({ signIn: { passkeys }, account: { passkeys } })
    const { browser } = await signedIn()
    expect(linksTo(await browser.open(accountUri), 'passkeys/')).toEqual([])
    expect((await browser.open(addUri)).url.href).toBe(accountUri)
  })

  test('is asked for with verification of the user, discoverable, and without those that the user has', async () => {
    const { signedIn, enrol } = await setUpPasskeys()
    const { browser } = await signedIn()
    const first = optionsIn(await browser.open(addUri))
    expect(first).toMatchObject({ rp: { id: 'id.example.com' }, user: { name: 'alice' }, exclude: [] })
    expect(JSON.stringify(first)).not.toContain('sub of alice')
    const page = await browser.open(addUri)
    for (const text of ["userVerification: 'required'", "residentKey: 'required'", "attestation: 'none'"]) {
      expect(page.html).toContain(text)
    }
    await enrol(browser)
    expect(optionsIn(await browser.open(addUri)).exclude).toEqual(['cGFzc2tleQ'])
  })

  test('is listed with its last use', async () => {
    const { signedIn, enrol, browser, clock } = await setUpPasskeys()
    const device = createAuthenticator()
    const { browser: alice } = await signedIn()
    await enrol(alice, device)
    clock.advance(7200)
    const secondBrowser = browser()
    const login = await secondBrowser.open(accountUri)
    const credential = device.respond(challengeIn(login))
    const page = await secondBrowser.submit(`${issuer}/connect/signin`, { ...hiddenFields(login), credential })
    expect(page.html).toContain('Added 2 hours ago')
    expect(page.html).toContain('Last used this minute')
  })

  test('needs a recent authentication', async () => {
    const { signedIn, clock } = await setUpPasskeys()
    const { browser } = await signedIn()
    clock.advance(301)
    expect((await browser.open(addUri)).html).toContain('name="password"')
  })

  test('has no page without the option', async () => {
    const { signedIn } = await setUpAccount()
    const { browser, page } = await signedIn()
    expect(page.html).not.toContain('id="passkeys"')
    expect((await browser.open(addUri)).url.href).toBe(accountUri)
  })

  test('refuses a mistake in the options', () => {
    expect(() => storedPasskeys({ rpId: '' })).toThrow('storedPasskeys()')
  })
})
