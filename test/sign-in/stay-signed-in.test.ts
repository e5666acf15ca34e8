import { type InteractionPort, remoteInteractions } from '@grantry/plugins/authorization-endpoint'
import type { SignInOptions } from '@grantry/plugins/sign-in'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { answer, type createBrowser, type Page } from '../authorization/browser.ts'
import { request, setUp, trustedClients } from '../authorization/parties.ts'
import { nameOf, setUpSignIn } from './parties.ts'

type Mode = 'off' | 'on' | 'checkbox'

const cookieName = '__Host-grantry-session'
const day = 86_400
const ticked = { stay_signed_in: 'yes' }
const usual = 'Path=/; HttpOnly; SameSite=Lax; Secure'
const kept = `${usual}; Max-Age=${90 * day}`

/** A provider that asks for no consent, and a browser with the page of the sign-in. */
async function setUpStay(mode: Mode | undefined, options: Partial<SignInOptions> = {}, storage = memoryDriver()) {
  const sessions = mode === undefined ? {} : { staySignedIn: { mode } }
  const f = await setUpSignIn(options, { clients: trustedClients, storage }, { sessions })
  const { browser, page, submit } = await f.start()
  const enter = (more: object = {}, of?: Page) =>
    submit('signin', { username: 'alice', password: 'alice-password', ...more }, of)
  const silently = async (of: ReturnType<typeof createBrowser> = browser) =>
    answer((await f.start({ prompt: 'none' }, of)).page)
  return { ...f, newBrowser: f.browser, browser, page, submit, enter, silently }
}

const signedOut = { error: 'login_required' }
const signedIn = { code: expect.any(String) }

describe('the checkbox', () => {
  test.each([undefined, 'off', 'on'] as const)('is not on the page in the mode %s', async (mode) => {
    const { page } = await setUpStay(mode)
    expect(page.html).not.toContain('staySignedIn')
  })

  test('is on the page, not ticked, and keeps its state after a wrong password', async () => {
    const { page, enter } = await setUpStay('checkbox')
    expect(page.html).toContain('"staySignedIn":false')
    const again = await enter({ password: 'wrong', ...ticked })
    expect(again.html).toContain('"staySignedIn":true')
    expect((await enter({ password: 'wrong' }, again)).html).toContain('"staySignedIn":false')
  })
})

describe('a session that outlives the browser', () => {
  test.each([
    ['checkbox', ticked],
    ['on', {}],
  ] as const)('11.40 has a cookie with a lifetime: %s, %o', async (mode, form) => {
    const { browser, enter, silently } = await setUpStay(mode)
    await enter(form)
    expect(browser.attributes.get(cookieName)).toBe(kept)
    browser.close()
    expect(await silently()).toMatchObject(signedIn)
  })

  test.each([
    [undefined, ticked],
    ['off', ticked],
    ['checkbox', {}],
    ['checkbox', { stay_signed_in: '' }],
  ] as const)('11.40 needs the setting and the choice of the user: not %s, %o', async (mode, form) => {
    const { browser, enter, silently, clock } = await setUpStay(mode)
    await enter(form)
    expect(browser.attributes.get(cookieName)).toBe(usual)
    const open = new Map(browser.jar)
    browser.close()
    expect(await silently()).toMatchObject(signedOut)
    for (const [name, value] of open) browser.jar.set(name, value)
    clock.advance(3599)
    expect(await silently()).toMatchObject(signedIn)
    clock.advance(3600)
    expect(await silently()).toMatchObject(signedOut)
  })

  test('11.40 ends after its idle lifetime and after its absolute one', async () => {
    const { enter, silently, clock } = await setUpStay('checkbox')
    await enter(ticked)
    for (const days of [29, 29, 29]) {
      clock.advance(days * day)
      expect(await silently()).toMatchObject(signedIn)
    }
    clock.advance(3 * day - 1)
    expect(await silently()).toMatchObject(signedIn)
    clock.advance(1)
    expect(await silently()).toMatchObject(signedOut)
    const withoutChoice = await setUpStay('on')
    await withoutChoice.enter()
    withoutChoice.clock.advance(30 * day)
    expect(await withoutChoice.silently()).toMatchObject(signedOut)
  })

  test('11.40 ends with the browser after another sign-in without the choice', async () => {
    const { browser, start, enter, silently, clock } = await setUpStay('checkbox')
    await enter(ticked)
    clock.advance(day)
    await (await start({ prompt: 'login' }, browser)).enter('alice')
    expect(browser.attributes.get(cookieName)).toBe(usual)
    expect(await silently()).toMatchObject(signedIn)
    browser.close()
    expect(await silently()).toMatchObject(signedOut)
  })

  test('11.40 has the usual lifetimes as soon as the setting is off', async () => {
    const storage = memoryDriver()
    const { browser, enter, silently, clock } = await setUpStay('checkbox', {}, storage)
    await enter(ticked)
    const later = await setUpStay('off', {}, storage)
    const same = later.newBrowser()
    for (const [name, value] of browser.jar) same.jar.set(name, value)
    expect(await later.silently(same)).toMatchObject(signedIn)
    for (const { advance } of [clock, later.clock]) advance(3700)
    expect(await later.silently(same)).toMatchObject(signedOut)
    expect(await silently()).toMatchObject(signedIn)
  })

  test('11.40 begins after a second factor, if the user has chosen it with the password', async () => {
    const factor = { amr: 'otp', isSetUp: () => true, verify: (_sub: string, code: string) => code === '1' }
    for (const [form, later, expected] of [
      [ticked, {}, kept],
      [{}, ticked, usual],
    ] as const) {
      const { browser, enter, submit, silently } = await setUpStay('checkbox', { secondFactors: [factor] })
      const page = await enter(form)
      expect(nameOf(page)).toBe('secondFactor')
      const again = await submit('secondfactor', { code: '2', ...later }, page)
      await submit('secondfactor', { code: '1', ...later }, again)
      expect(browser.attributes.get(cookieName)).toBe(expected)
      expect(await silently()).toMatchObject(signedIn)
    }
  })

  test('11.40 begins with a passkey', async () => {
    const { browser, submit } = await setUpStay('checkbox', { passkeys: { verify: async () => ({ sub: 'alice' }) } })
    await submit('signin', { credential: '{}', ...ticked })
    expect(browser.attributes.get(cookieName)).toBe(kept)
  })

  test('11.40 begins with the decision of a login application on another host', async () => {
    const elsewhere: InteractionPort = {
      interact: async ({ suspend }) => ({ location: `https://login.example.net/?id=${(await suspend()).id}` }),
    }
    const f = await setUp(elsewhere, { sessions: { staySignedIn: { mode: 'checkbox', absoluteLifetime: 100 } } })
    const remote = f.provider.use(remoteInteractions)
    for (const staySignedIn of [true, false, undefined]) {
      const browser = f.browser()
      const id = (await browser.open(f.urlOf(request))).url.searchParams.get('id') ?? ''
      const decision = { subject: { sub: 'alice', amr: ['pwd'] }, scopes: ['openid'], staySignedIn }
      await browser.open((await remote.complete(id, decision)) ?? '')
      expect(browser.attributes.get(cookieName)).toBe(staySignedIn === true ? `${usual}; Max-Age=100` : usual)
    }
  })
})

test.each([
  [{ mode: 'yes' }, 'off, on or checkbox'],
  [{ mode: 'on', idleLifetime: 9 }, 'must be 10 to 31536000 seconds'],
  [{ mode: 'on', lifetime: 9 }, 'lifetime'],
  [true, 'object'],
])('refuses staySignedIn: %o', async (staySignedIn, message) => {
  await expect(setUpSignIn({}, {}, { sessions: { staySignedIn: staySignedIn as never } })).rejects.toThrow(message)
})
