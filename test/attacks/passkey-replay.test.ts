/**
 * Attack: someone who has seen the response of a passkey, and can set the cookie of its browser, sends it again: after the
 * user has signed out, five times at the same moment, or to another process. The form and its challenge are valid for half
 * an hour, and passkeys of password managers have no counter.
 *
 * WebAuthn Level 3 section 13.4.3.
 */
import type { AtomicDriver } from '@grantry/core'
import { passkeys } from '@grantry/plugins/passkeys'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestClock, mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'
import { withLatency } from '../support/latency.ts'

type F = Awaited<ReturnType<typeof setUpSignIn>>

/** Two providers on one store, and the form with the response of a passkey, in the browser of its user. */
async function setUp(storage: AtomicDriver) {
  const device = createAuthenticator()
  // A counter of 0, as synchronized passkeys have it, would be accepted again and again.
  const find = () => ({ sub: 'alice', publicKey: device.publicKey, counter: 0 })
  const first = await setUpSignIn({ passkeys: passkeys({ find }) }, { storage })
  const second = await setUpSignIn({ passkeys: passkeys({ find }) }, { storage })
  const { browser, page } = await first.start()
  const credential = device.respond(/"challenge":"([\w-]{43})"/u.exec(page.html)?.[1] ?? '')
  const form = { ...hiddenFields(page), credential }
  /** Sends the form with the cookies that the browser had at the beginning. */
  const cookies = [...browser.jar]
  async function send({ provider }: F) {
    const thief = createBrowser(provider)
    for (const [name, value] of cookies) thief.jar.set(name, value)
    const next = await thief.submit(`${provider.issuer}/connect/signin`, form)
    return thief.jar.has('__Host-grantry-session') ? 'session' : nameOf(next)
  }
  return { first, second, send }
}

describe('a response that was accepted', () => {
  test('is refused 25 minutes later, by each process', async () => {
    // Here records expire by the clock of the test: the marker of a used challenge lives as long as the form.
    const storeClock = createTestClock()
    const { first, second, send } = await setUp(mapDriver(new Map(), storeClock.now))
    expect(await send(first)).toBe('session')
    for (const clock of [first.clock, second.clock, storeClock]) clock.advance(1500)
    expect(await Promise.all([send(first), send(second)])).toEqual(['signIn', 'signIn'])
  })

  test('begins one session if it is sent ten times at the same moment to two processes', async () => {
    const { first, second, send } = await setUp(withLatency(memoryDriver()))
    const results = await Promise.all(Array.from({ length: 10 }, (_, index) => send(index % 2 === 0 ? first : second)))
    expect(results.sort()).toEqual(['session', ...Array.from({ length: 9 }, () => 'signIn')])
  })
})

describe('a user who is revoked while the response is checked', () => {
  test('is not signed in, because the passkey can be that of a thief', async () => {
    const device = createAuthenticator()
    const revoking: { run?: () => Promise<void> } = {}
    const check = passkeys({
      find: () => ({ sub: 'alice', publicKey: device.publicKey, counter: 0 }),
      onUse: async () => revoking.run?.(),
    })
    const { start, provider } = await setUpSignIn({ passkeys: check })
    revoking.run = () => provider.revoke({ subject: 'alice' })
    const { browser, page } = await start()
    const credential = device.respond(/"challenge":"([\w-]{43})"/u.exec(page.html)?.[1] ?? '')
    const next = await browser.submit(`${provider.issuer}/connect/signin`, { ...hiddenFields(page), credential })
    expect(nameOf(next)).toBe('signIn')
  })
})

test('a key that was replaced while its response was checked signs no user in', async () => {
  const [stolen, next] = [createAuthenticator(), createAuthenticator()]
  const keys = [stolen.publicKey, next.publicKey]
  const check = passkeys({ find: () => ({ sub: 'alice', publicKey: keys.shift() ?? next.publicKey, counter: 0 }) })
  const { start, provider } = await setUpSignIn({ passkeys: check })
  const { browser, page } = await start()
  const credential = stolen.respond(/"challenge":"([\w-]{43})"/u.exec(page.html)?.[1] ?? '')
  const answer = await browser.submit(`${provider.issuer}/connect/signin`, { ...hiddenFields(page), credential })
  expect(nameOf(answer)).toBe('signIn')
})
