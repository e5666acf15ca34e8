/**
 * Attack: what belongs to one user, mail, request or purpose is presented for another one: the sealed secret of an app or
 * the sealed code of a mail, moved in the storage; the mailed address of another user under the own session; the form of
 * one purpose at the page of another; the link of one request in another tab; a passkey under a foreign id.
 *
 * OWASP ASVS 5.0 sections 6.4 and 11.4; decisions 162 and 165.
 */
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { createMailed, isMailedCode } from '../../plugins/shared/mailed-code.ts'
import { codeIn as addressCodeIn, codeUri, setUpAddress } from '../account/addresses.ts'
import { codeAt, encryptionSecrets, setUpFactors } from '../account/factors.ts'
import { accountUri, linksTo } from '../account/parties.ts'
import { addUri, optionsIn, setUpPasskeys } from '../account/passkeys.ts'
import { hiddenFields } from '../authorization/browser.ts'
import { linkIn, setUpAccounts, titleOf } from '../self-service/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { kitOf, offerKit } from '../support/kit-of.ts'

const plugin = 'authorization-endpoint'
const address = 'alice@example.com'

test('the sealed secret of an app counts for no other user', async () => {
  const { signedIn, setUpApp, provider, now, clock } = await setUpFactors()
  const { secret } = await setUpApp((await signedIn()).browser)
  const kit = kitOf(provider, plugin)
  const sealed = await kit.records.get('authenticator app of sub of alice', v.object({ sealed: v.string() }))
  expect(sealed).toBeDefined()
  await kit.records.put('authenticator app of bob', sealed ?? { sealed: '' }, kit.now() + 1000)
  clock.advance(30)
  const [app] = storedSecondFactors({ encryptionSecrets }).factors
  expect(await app?.verify('bob', codeAt(secret, now()), kit)).toBe(false)
  expect(await app?.verify('sub of alice', codeAt(secret, now()), kit)).toBe(true)
})

test('the sealed code of a mail counts for no other mail', async () => {
  const { provider } = await setUpFactors()
  const kit = kitOf(provider, plugin)
  const mail = () => createMailed({ counts: true, expiresAt: kit.now() + 900 }, kit)
  const [mailed, otherMailed] = [await mail(), await mail()]
  expect(await isMailedCode({ ...otherMailed.stored, code: mailed.stored.code }, mailed.code, kit)).toBe(false)
  expect(await isMailedCode({ ...otherMailed.stored, id: mailed.stored.id }, otherMailed.code, kit)).toBe(false)
  expect(await isMailedCode({ ...otherMailed.stored, counts: false }, otherMailed.code, kit)).toBe(false)
  expect(await isMailedCode(otherMailed.stored, otherMailed.code, kit)).toBe(true)
})

test('the mailed address of another user counts for no session', async () => {
  const f = await setUpAddress({}, { endpoint: { features: [{ parts: () => [offerKit(plugin)] }] } })
  const kit = kitOf(f.provider, plugin)
  const [alice, bob] = [await f.signedIn('alice'), await f.signedIn('bob')]
  const sidOf = (sub: string) =>
    f.events.flatMap((event) => (event.type === 'session_started' && event.sub === sub ? [event.sid] : []))[0] ?? ''
  await f.ask(alice.browser, 'new@example.com')
  const page = await f.ask(bob.browser, 'other@example.com')
  const code = addressCodeIn((await f.mailsTo('new@example.com'))[0])
  const keyOf = (sub: string) => `mailed address:${kit.sha256(sidOf(sub))}`
  const ticket = await kit.records.get(keyOf('alice'), v.record(v.string(), v.any()))
  await kit.records.put(keyOf('bob'), { ...ticket, before: 'bob@example.com' }, kit.now() + 900)
  await bob.browser.submit(codeUri, { ...hiddenFields(page), code })
  expect(f.users.get('bob')?.email).toBe('bob@example.com')
  expect((await bob.browser.open(codeUri)).url.href).toBe(accountUri)
})

test('the form for one purpose of a mail counts for no other purpose', async () => {
  const f = await setUpAccounts({ signUp: 'open', mail: 'both' })
  const { follow, browser } = await f.start()
  const [recovery, creation] = [await follow('forgot'), await follow('create')]
  const { form_token = '' } = hiddenFields(recovery)
  const refused = await browser.submit(creation.url.href, { ...hiddenFields(creation), form_token, address })
  expect([titleOf(refused), refused.html.includes('This page has expired')]).toEqual(['Create an account', true])
  expect(await f.arrived()).toEqual([])
})

test('the link of one request counts for no other request of the browser', async () => {
  const f = await setUpAccounts()
  const first = await f.start()
  await first.ask('forgot', address)
  const link = new URL(linkIn(await f.lastMail()))
  const second = await f.start({}, first.browser)
  const id = hiddenFields(second.page).interaction ?? ''
  expect([id === '', id === link.searchParams.get('interaction')]).toEqual([false, false])
  const moved = new URL(link)
  moved.searchParams.set('interaction', id)
  expect(titleOf(await first.browser.open(moved.href))).toBe('This link does not work here')
  expect(titleOf(await first.browser.open(link.href))).toBe('Choose a new password')
})

test('a passkey is not added under another id than its own', async () => {
  const { signedIn, send } = await setUpPasskeys()
  const { browser } = await signedIn()
  const page = await browser.open(addUri)
  const response = JSON.parse(createAuthenticator().register(optionsIn(page).challenge))
  const credential = JSON.stringify({ ...response, id: 'b3RoZXI', rawId: 'b3RoZXI' })
  expect((await send(browser, page, { credential })).html).toContain('id="problem"')
  expect(linksTo(await browser.open(accountUri), 'passkeys/')).toEqual([addUri])
})
